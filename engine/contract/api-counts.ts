/** Counts of requests to documented APIs, as threads hand them over; no value of any request. */

import type { EndpointCount } from '../../base/endpoint-tree.ts';

/** Endpoints of one site that became known, or were asked again. */
export interface EndpointDelta {
  readonly siteId: string;
  readonly endpoints: readonly EndpointCount[];
  /** Requests that were looked at and whose endpoint found no place. */
  readonly omitted: number;
}

/** Counts of one site under one contract in one interval of 10 seconds. */
export interface ApiCountDelta {
  readonly siteId: string;
  readonly contractId: string;
  /** '' where nothing was validated. */
  readonly bindingId: string;
  /** Start of the interval, milliseconds since the Unix epoch. */
  readonly startMs: number;
  /** By `apiCountKey`. */
  readonly entries: ReadonlyMap<string, number>;
  readonly violations: readonly ApiViolationCount[];
}

/** Violations of one kind. */
export interface ApiViolationCount {
  /** 32 hex digits, or `otherFingerprint`. */
  readonly fingerprint: string;
  /** JSON list of operation key, location, keyword and pointer into the document. */
  readonly text: string;
  readonly count: number;
}

/** Families of counts of APIs, on their way to control. */
export const apiCounts = 'api_counts';
export const apiViolations = 'api_violations';
export const apiEndpoints = 'api_endpoints';
/** Key among the endpoints for requests that found no place; no endpoint is called so. */
export const omittedEndpoints = 'omitted';

/** Stands for all kinds past those that are counted by themselves. */
export const otherFingerprint = 'other';

/** Names a count: the operation's key comes last, for it may hold anything. */
export function apiCountKey(operation: string, constraint: string, result: string): string {
  return `${constraint} ${result} ${operation}`;
}

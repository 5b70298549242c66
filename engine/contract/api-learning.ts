/**
 * Which endpoints of a site learn the structure of request bodies, and what they learned: names,
 * types and presence of fields. Never a value. Plain data.
 */

import type { ApiSegment } from './api-path.ts';

/** Version of what these objects mean; an engine refuses others. */
export const apiLearningFormat = 1;

/** The endpoints of one site that learn. */
export interface ApiLearning {
  readonly format: typeof apiLearningFormat;
  readonly siteId: string;
  readonly endpoints: readonly LearningEndpoint[];
  /** Other known endpoints that one of the templates takes, too: their requests teach nothing. */
  readonly others: readonly EndpointPlace[];
}

/** Where an endpoint lies. */
export interface EndpointPlace {
  /** Upper case. */
  readonly method: string;
  /** Lower-case host name. */
  readonly host: string;
  readonly path: readonly ApiSegment[];
}

/** An endpoint that learns. */
export interface LearningEndpoint extends EndpointPlace {
  readonly assetId: string;
  /** Rises when what was learned is forgotten: what comes late of an earlier one is left out. */
  readonly generation: number;
  /** Traffic showed it, no document declares it: its parameters take what looks variable only. */
  readonly observed: boolean;
}

/** What one endpoint learned since the last delta. */
export interface LearningDelta {
  readonly siteId: string;
  readonly assetId: string;
  readonly generation: number;
  /** By `requests`, `samples`, `gap <reason>`, `dropped <what>` and `type <type> <path>`. */
  readonly entries: ReadonlyMap<string, number>;
}

/** Types of JSON values. */
export const fieldTypes = [
  'object',
  'array',
  'string',
  'integer',
  'number',
  'boolean',
  'null',
] as const;
/** One of them. */
export type FieldType = (typeof fieldTypes)[number];

/** Why a request taught nothing: one reason a request. */
export type LearningGap =
  /** The origin did not answer with 2xx, or never answered. */
  | 'not_successful'
  /** Rules would have blocked it, or its inspection failed. */
  | 'flagged'
  | 'no_body'
  /** The body is no JSON by its type. */
  | 'other_media'
  /** The body is encoded, for example compressed. */
  | 'encoded'
  /** Nothing inspects the body, so that it is not held. */
  | 'not_held'
  | 'too_long'
  /** No JSON with one reading, by its content. */
  | 'malformed'
  /** Deeper or with more values than are looked at. */
  | 'too_complex'
  /** As many bodies as may be were looked at in this interval. */
  | 'not_sampled'
  /** Readings of its path mean different endpoints. */
  | 'ambiguous_path';

/** What was left out of bodies that were looked at. */
export type LearningDrop =
  /** Fields for which there was no place. */
  | 'fields'
  /** Items of long lists. */
  | 'items'
  /** Fields whose name looks like data: their types are kept without the name. */
  | 'names'
  /** Fields that lie too deep. */
  | 'depth';

/** Family of what was learned, on its way to control. */
export const apiLearningFamily = 'api_learning';

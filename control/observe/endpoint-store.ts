/**
 * The endpoints that nodes learned from traffic, by site, in bounded number. What varies in a path
 * is one parameter; no query, body or header is here. Traffic alone never changes a catalog.
 */

import type { CounterDelta } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { EndpointTree } from '../../base/endpoint-tree.ts';
import type { KvReader, KvWriter } from '../store/kv.ts';
import { separator } from './step-keys.ts';

/** An endpoint that traffic showed. */
export interface SeenEndpoint {
  readonly method: string;
  readonly host: string;
  /** With `{value}` or `{any}` for segments that vary. */
  readonly path: string;
  /** Requests that nodes looked at: under load they look at some only. */
  readonly requests: number;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
}

/** All that is known of a site. */
export interface SiteEndpoints {
  readonly endpoints: readonly SeenEndpoint[];
  /** Requests whose endpoint found no place. */
  readonly omitted: number;
}

const family = 'api_endpoints';
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Whether a node counted endpoints. */
export function changesEndpoints({ entries }: CounterDelta): boolean {
  return entries.some((entry) => entry.family === family);
}

/** Adds the endpoints among what a node counted. What is misshapen counts as omitted. */
export function addEndpoints(
  writer: KvWriter,
  tenantId: string,
  atMs: number,
  delta: CounterDelta,
): void {
  const entries = delta.entries.filter((entry) => entry.family === family);
  if (entries.length === 0) return;
  const known = readEndpoints(writer, tenantId, delta.siteId);
  const tree = new EndpointTree();
  const times = new Map<string, { firstSeenMs: number; lastSeenMs: number }>();
  for (const { method, host, path, requests, firstSeenMs, lastSeenMs } of known.endpoints) {
    tree.add(method, host, path, requests);
    times.set(keyOf({ method, host, path }), { firstSeenMs, lastSeenMs });
  }
  const fresh = new Set<string>();
  for (const { key, count } of entries) {
    // What nodes left out has a key that is no endpoint, so that the tree leaves it out, too.
    const [method = '', host = '', ...rest] = key.split(' ');
    const path = rest.join(' ');
    tree.add(method, host, path, Number(count));
    fresh.add(keyOf({ method, host, path }));
  }
  const endpoints = tree.list().map(({ count, ...place }): SeenEndpoint => {
    const time = times.get(keyOf(place));
    // A parameter that took the place of names was seen with them.
    const seen = time === undefined || fresh.has(keyOf(place));
    return {
      ...place,
      requests: count,
      firstSeenMs: time?.firstSeenMs ?? atMs,
      lastSeenMs: seen ? atMs : time.lastSeenMs,
    };
  });
  const row: SiteEndpoints = { endpoints, omitted: known.omitted + tree.omitted };
  writer.put(rowKey(tenantId, delta.siteId), encoder.encode(JSON.stringify(row)));
}

/** The endpoints of a site. */
export function readEndpoints(reader: KvReader, tenantId: string, siteId: string): SiteEndpoints {
  const bytes = reader.get(rowKey(tenantId, siteId));
  if (bytes === undefined) return { endpoints: [], omitted: 0 };
  return JSON.parse(decoder.decode(bytes)) as SiteEndpoints;
}

function keyOf({ method, host, path }: Pick<SeenEndpoint, 'method' | 'host' | 'path'>): string {
  return `${method} ${host} ${path}`;
}

function rowKey(tenantId: string, siteId: string): string {
  return ['ep', tenantId, siteId].join(separator);
}

/**
 * The endpoints of a site as one list: those that traffic showed, and those that a catalog has.
 * Hiding changes this list only, never what happens to requests.
 */

import { createHash } from 'node:crypto';
import type { ApiAssetRecord } from '../../domain/documents/api-records.ts';
import { apiAssets } from '../../store/api-collections.ts';
import type { CounterStore } from '../../observe/counter-store.ts';
import type { ReadStore } from '../../store/store.ts';

/** One endpoint. */
export interface Endpoint {
  /** Absent where nothing but traffic is known of it. */
  readonly record?: ApiAssetRecord;
  readonly assetId: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  /** Requests that nodes looked at; 0 where traffic never showed it. */
  readonly requests: number;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
}

/** All endpoints of a site, hidden ones too, by path, method and host. */
export function endpointsOf(
  { store, counters }: { readonly store: ReadStore; readonly counters: CounterStore },
  tenantId: string,
  siteId: string,
): Endpoint[] {
  const found = new Map<string, Endpoint>();
  for (const seen of counters.endpoints(tenantId, siteId).endpoints) {
    found.set(shapeOf(seen), { ...seen, assetId: assetIdOf(siteId, shapeOf(seen)) });
  }
  const records = store
    .find(apiAssets, 'site', siteId)
    .filter((record) => record.tenantId === tenantId);
  countIntoTemplates(found, records);
  for (const record of records) {
    const shape = shapeOf(record);
    const seen = found.get(shape) ?? { requests: 0, firstSeenMs: 0, lastSeenMs: 0 };
    const { id, method, host, path } = record;
    found.set(shape, { ...seen, assetId: id, method, host, path, record });
  }
  return [...found.values()].sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
}

/**
 * Traffic below a template of the catalog is that of the template, unless its path has a record of
 * its own; of several templates the one with the most text counts.
 */
function countIntoTemplates(
  found: Map<string, Endpoint>,
  records: readonly ApiAssetRecord[],
): void {
  const own = new Set(records.map(shapeOf));
  const templates = new Map<string, Template[]>();
  for (const record of records) {
    if (!record.cataloged || !record.path.includes('{')) continue;
    const key = templateKey(record);
    templates.set(key, [...(templates.get(key) ?? []), templateOf(record)]);
  }
  if (templates.size === 0) return;
  for (const [shape, seen] of [...found]) {
    if (own.has(shape)) continue;
    const fitting = (templates.get(templateKey(seen)) ?? []).filter(({ pattern }) =>
      pattern.test(seen.path),
    );
    const [best] = fitting.sort((one, other) => other.text - one.text);
    if (best === undefined) continue;
    found.delete(shape);
    found.set(best.shape, together(found.get(best.shape), seen));
  }
}

interface Template {
  readonly shape: string;
  readonly pattern: RegExp;
  /** Characters that are no parameter. */
  readonly text: number;
}

function templateOf(record: ApiAssetRecord): Template {
  const texts = record.path.split(/\{[^}]*\}/);
  const escaped = texts.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return {
    shape: shapeOf(record),
    pattern: new RegExp(`^${escaped.join('[^/]+')}$`),
    text: texts.join('').length,
  };
}

function templateKey({ method, host, path }: Pick<Endpoint, 'method' | 'host' | 'path'>): string {
  return `${method} ${host} ${path.split('/').length}`;
}

function together(known: Endpoint | undefined, seen: Endpoint): Endpoint {
  if (known === undefined) return seen;
  return {
    ...known,
    requests: known.requests + seen.requests,
    firstSeenMs: Math.min(known.firstSeenMs, seen.firstSeenMs),
    lastSeenMs: Math.max(known.lastSeenMs, seen.lastSeenMs),
  };
}

/** True where the default list leaves an endpoint out; traffic brings a retired one back. */
export function isHidden({ record, lastSeenMs }: Endpoint): boolean {
  if (record === undefined) return false;
  if (record.hidden) return true;
  return record.retiredAt !== undefined && lastSeenMs <= Date.parse(record.retiredAt);
}

/** An endpoint as telemetry shows it; the revision is a text. */
export function showEndpoint(endpoint: Endpoint) {
  const { record, assetId, method, host, path, requests, firstSeenMs, lastSeenMs } = endpoint;
  return {
    asset_id: assetId,
    method,
    host,
    path,
    requests,
    first_seen: firstSeenMs === 0 ? '' : new Date(firstSeenMs).toISOString(),
    last_seen: lastSeenMs === 0 ? '' : new Date(lastSeenMs).toISOString(),
    cataloged: record?.cataloged ?? false,
    hidden: isHidden(endpoint),
    revision: String(record?.revision ?? 0),
  };
}

/** Names of parameters do not tell endpoints apart. */
function shapeOf({ method, host, path }: Pick<Endpoint, 'method' | 'host' | 'path'>): string {
  return `${method} ${host} ${path.replace(/\{[^}]*\}/g, '{}')}`;
}

/** The same endpoint has the same name on every control. */
function assetIdOf(siteId: string, shape: string): string {
  const hash = createHash('sha256').update(`${siteId} ${shape}`).digest('hex');
  return `asset-${hash.slice(0, 32)}`;
}

function orderOf({ path, method, host }: Endpoint): string {
  return `${path} ${method} ${host}`;
}

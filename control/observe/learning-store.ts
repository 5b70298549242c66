/**
 * What nodes learned of the structure of request bodies, added up for each endpoint in bounded
 * number. Takes only what an endpoint that may learn sent, of its present generation.
 */

import type { CounterDelta } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { LearnedEvidence } from '../domain/documents/api-learning.ts';
import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { prefixRange, type KvReader, type KvWriter } from '../store/kv.ts';
import { separator } from './step-keys.ts';

/** Whose learning is taken; null where nobody learns there. */
export interface LearningPlace {
  readonly tenantId: string;
  readonly siteId: string;
  readonly generation: number;
}

/** Finds it by the asset. */
export type GenerationOf = (assetId: string) => LearningPlace | null;

const family = 'api_learning';
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const entryPattern = /^(\S{1,200}) (\d{1,9}) (.{1,512})$/s;
const namePattern = /^(gap|dropped) ([a-z_]{1,32})$/;
const typeNames = 'object|array|string|integer|number|boolean|null';
const typePattern = new RegExp(
  `^type (${typeNames}) ((?:/[A-Za-z0-9_$@.-]{1,48}|\\[\\]|\\{\\}){0,16})$`,
);
/** Reasons, and kinds of what was left out, in one row. */
const namesMax = 32;

interface Row {
  generation: number;
  firstMs: number;
  lastMs: number;
  requests: number;
  samples: number;
  gaps: Record<string, number>;
  dropped: Record<string, number>;
  fields: Record<string, Record<string, number>>;
}

/** Adds what endpoints learned among what a node counted. What is misshapen is left out. */
export function addLearning(
  writer: KvWriter,
  generationOf: GenerationOf,
  tenantId: string,
  atMs: number,
  { siteId, entries }: CounterDelta,
): void {
  const rows = new Map<string, Row>();
  for (const { family: name, key, count } of entries) {
    if (name !== family) continue;
    const [, assetId = '', generation = '', what = ''] = entryPattern.exec(key) ?? [];
    const place = assetId === '' ? null : generationOf(assetId);
    if (place?.tenantId !== tenantId || place.siteId !== siteId) continue;
    if (place.generation !== Number(generation)) continue;
    let row = rows.get(assetId);
    if (row === undefined) rows.set(assetId, (row = rowOf(writer, assetId, place.generation)));
    addEntry(row, what, Number(count));
    row.firstMs = row.firstMs === 0 ? atMs : Math.min(row.firstMs, atMs);
    row.lastMs = Math.max(row.lastMs, atMs);
  }
  for (const [assetId, row] of rows) {
    writer.put(rowKey(assetId), encoder.encode(JSON.stringify(row)));
  }
}

/** What an endpoint learned in a generation. */
export function readLearning(
  reader: KvReader,
  assetId: string,
  generation: number,
): LearnedEvidence {
  const { generation: _, ...evidence } = rowOf(reader, assetId, generation);
  return evidence;
}

/** Removes what belongs to no endpoint, or to an earlier generation. */
export function forgetLearning(writer: KvWriter, generationOf: GenerationOf): void {
  const range = prefixRange(`ln${separator}`);
  for (const { key, value } of [...writer.range(range)]) {
    const place = generationOf(key.slice(range.start.length));
    if (place?.generation !== parse(value).generation) writer.remove(key);
  }
}

function addEntry(row: Row, what: string, count: number): void {
  if (what === 'requests' || what === 'samples') {
    row[what] += count;
    return;
  }
  const named = namePattern.exec(what);
  if (named !== null) return raise(named[1] === 'gap' ? row.gaps : row.dropped, named[2]!, count);
  const [, type, path] = typePattern.exec(what) ?? [];
  if (type === undefined || path === undefined) return;
  let types = Object.hasOwn(row.fields, path) ? row.fields[path]! : undefined;
  if (types === undefined) {
    if (Object.keys(row.fields).length >= apiDocumentLimits.learnedFieldsMax) {
      return raise(row.dropped, 'kept_fields', count);
    }
    row.fields[path] = types = {};
  }
  types[type] = (types[type] ?? 0) + count;
}

function raise(into: Record<string, number>, name: string, count: number): void {
  const known = Object.hasOwn(into, name);
  if (known || Object.keys(into).length < namesMax) into[name] = (into[name] ?? 0) + count;
}

/** Of another generation nothing is left. */
function rowOf(reader: KvReader, assetId: string, generation: number): Row {
  const bytes = reader.get(rowKey(assetId));
  const row = bytes === undefined ? null : parse(bytes);
  if (row?.generation === generation) return row;
  return { generation, firstMs: 0, lastMs: 0, requests: 0, samples: 0, ...emptyCounts() };
}

function emptyCounts() {
  return { gaps: {}, dropped: {}, fields: {} };
}

function parse(bytes: Uint8Array): Row {
  return JSON.parse(decoder.decode(bytes)) as Row;
}

function rowKey(assetId: string): string {
  return `ln${separator}${assetId}`;
}

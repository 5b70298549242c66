/**
 * Owns security events on disk: in the order of time, found by request id, bounded in number and
 * in bytes. Takes
 * each batch once, however often it comes.
 */

import { fromBinary } from '@bufbuild/protobuf';
import { SecurityFactBatchSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { SecurityEventJson } from '../../proto/gen/waf/v1/log_pb.ts';
import { controlLimits } from '../../engine/base/limits.ts';
import { securityFactVersion } from '../../engine/base/protocol-versions.ts';
import { crc32c } from '../../engine/base/crc32c.ts';
import { prefixRange, type Kv, type KvWriter } from '../store/kv.ts';
import { toSecurityEvent } from './security-event.ts';
import { packEvent, unpackEvent } from './stored-event.ts';

/** A batch as it came from a node. */
export interface IncomingBatch {
  readonly agentId: string;
  readonly tenantId: string;
  /** Names one run of the node, hex. */
  readonly bootId: string;
  readonly batchSeq: bigint;
  readonly crc32c: number;
  readonly payload: Uint8Array;
}

/** What became of a batch. */
export type IngestResult = 'stored' | 'repeated' | 'crc' | 'schema';

/** Security events that are kept. */
export interface EventStore {
  /** Keeps the events of a batch. Rejects when the disk does not take them. */
  ingest(batch: IncomingBatch, schemaVersion: number): Promise<IngestResult>;
  get(id: string): SecurityEventJson | undefined;
  /** Events with a request id, newest first. */
  byRequestId(requestId: string): SecurityEventJson[];
  /** Events before `beforeId` ('' for all), newest first, in a span of milliseconds. */
  newestFirst(beforeId: string, startMs: number, endMs: number): Iterable<SecurityEventJson>;
  /** Calls `listener` with every event that is kept from now on; returns the undo. */
  subscribe(listener: (event: SecurityEventJson) => void): () => void;
  /** Events that are kept. */
  count(): number;
  close(): Promise<void>;
}

const separator = '\u0000';
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const idDigits = 14;
const numberDigits = 12;

/** Opens the events in `kv`. */
export function openEventStore(kv: Kv): EventStore {
  const read = (key: string): SecurityEventJson | undefined => {
    const bytes = kv.get(key);
    return bytes === undefined ? undefined : unpackEvent(bytes);
  };
  const listeners = new Set<(event: SecurityEventJson) => void>();
  return {
    ingest: async (batch, schemaVersion) => {
      const kept: SecurityEventJson[] = [];
      if (schemaVersion !== securityFactVersion) return 'schema';
      const result = await ingest(kv, batch, kept);
      for (const event of kept) for (const listener of listeners) listener(event);
      return result;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get: (id) => read(eventKey(id)),
    byRequestId: (requestId) => {
      const prefix = requestKey(requestId, '');
      return [...kv.range({ ...prefixRange(prefix), reverse: true, limit: 100 })].flatMap(
        ({ key }) => read(eventKey(key.slice(prefix.length))) ?? [],
      );
    },
    newestFirst: (beforeId, startMs, endMs) => newestFirst(kv, beforeId, startMs, endMs),
    count: () => readNumber(kv.get(metaKey('count'))),
    close: () => kv.close(),
  };
}

async function ingest(
  kv: Kv,
  batch: IncomingBatch,
  kept: SecurityEventJson[],
): Promise<IngestResult> {
  if (crc32c(batch.payload) !== batch.crc32c) return 'crc';
  const { facts } = (() => {
    try {
      return fromBinary(SecurityFactBatchSchema, batch.payload);
    } catch {
      return { facts: null };
    }
  })();
  if (facts === null) return 'schema';
  const seqKey = metaKey(`seq${separator}${batch.agentId}${separator}${batch.bootId}`);
  return kv.write((writer) => {
    if (BigInt(readNumber(writer.get(seqKey))) >= batch.batchSeq) return 'repeated';
    writer.put(seqKey, encoder.encode(String(batch.batchSeq)));
    let number = readNumber(writer.get(metaKey('number')));
    let bytes = 0;
    for (const fact of facts) {
      number++;
      const id = makeId(Number(fact.receivedAtMs), number);
      const { agentId, tenantId } = batch;
      const event = toSecurityEvent(fact, { id, tenantId, agentId });
      kept.push(event);
      const packed = packEvent(event);
      bytes += packed.length;
      writer.put(eventKey(id), packed);
      writer.put(requestKey(fact.requestId.slice(0, 256), id), new Uint8Array([1]));
    }
    writer.put(metaKey('number'), encoder.encode(String(number)));
    keepBounds(writer, facts.length, bytes);
    return 'stored';
  });
}

/** Bytes that came before they were counted are not known; they leave uncounted. */
function keepBounds(writer: KvWriter, added: number, addedBytes: number): void {
  let count = readNumber(writer.get(metaKey('count'))) + added;
  let bytes = readNumber(writer.get(metaKey('bytes'))) + addedBytes;
  const { eventsMax, eventBytesMax, eventsForgottenMax } = controlLimits;
  const surplus = count - eventsMax;
  if (surplus > 0 || bytes > eventBytesMax) {
    const limit = Math.max(surplus, added, eventsForgottenMax);
    for (const { key, value } of [...writer.range({ ...prefixRange(eventKey('')), limit })]) {
      if (count <= eventsMax && bytes <= eventBytesMax) break;
      const { id = '', requestId = '' } = unpackEvent(value);
      writer.remove(key);
      writer.remove(requestKey(requestId.slice(0, 256), id));
      count--;
      bytes = Math.max(0, bytes - value.length);
    }
  }
  writer.put(metaKey('count'), encoder.encode(String(count)));
  writer.put(metaKey('bytes'), encoder.encode(String(bytes)));
}

function* newestFirst(
  kv: Kv,
  beforeId: string,
  startMs: number,
  endMs: number,
): Generator<SecurityEventJson> {
  const start = eventKey(makeId(startMs, 0));
  const byTime = eventKey(makeId(endMs, 0));
  const end = beforeId === '' || eventKey(beforeId) > byTime ? byTime : eventKey(beforeId);
  if (end <= start) return;
  for (const { value } of kv.range({ start, end, reverse: true })) yield unpackEvent(value);
}

/** Sorts by time, then by arrival. */
function makeId(atMs: number, number: number): string {
  const clamped = Math.min(Math.max(0, Math.floor(atMs)), 10 ** idDigits - 1);
  return `${String(clamped).padStart(idDigits, '0')}-${String(number).padStart(numberDigits, '0')}`;
}

function readNumber(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : Number(decoder.decode(bytes));
}

function eventKey(id: string): string {
  return `e${separator}${id}`;
}

function requestKey(requestId: string, id: string): string {
  return `r${separator}${requestId}${separator}${id}`;
}

function metaKey(name: string): string {
  return `m${separator}${name}`;
}

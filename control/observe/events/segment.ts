/**
 * Segments: some thousand events in the order of time, written once, with a column for each index
 * field. Knows how one lies in the store; which there are, the list knows.
 */

import { observationLimits } from '../../limits/observation-limits.ts';
import { prefixRange, type KvReader, type KvWriter } from '../../store/kv.ts';
import { Column, ColumnBuilder, type FinishedColumn } from './column.ts';
import { buildDigest, chunkMayHold, chunkOf, type Probe } from './digest.ts';
import { packBlock, unpackBlock, type Entry } from './entry.ts';
import { packIds, readIds, type EventIds } from './event-ids.ts';
import { addInfo, removeInfo, type SegmentInfo } from './segment-list.ts';
import type { EventKind, EventLane, EventTerms, StoredEvent } from './event-kind.ts';

const separator = '\u0000';
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Values to write for a segment. */
export interface SegmentDraft {
  readonly info: SegmentInfo;
  readonly parts: readonly (readonly [name: string, bytes: Uint8Array])[];
  /** The chunks of its digest, in their order. */
  readonly digest: readonly Uint8Array[];
}

const blockEvents = observationLimits.eventBlockEvents;
/** Events whose values go into a column before the caller may pause: some 0.1 ms. */
const addedTogether = 256;
/** Where more values than this are wanted, one of them is most likely there. */
const probesMax = 16;
/** Parts of the hashes whose chunks lie together; a segment has some fifty chunks. */
const chunkShelves = 32;
const shelfNames = Array.from({ length: chunkShelves }, (_, shelf) => {
  return String(shelf).padStart(2, '0');
});
const none: readonly string[] = [];

/**
 * Builds a segment of entries in the order of their ids, with a pause wherever the caller of the
 * generator makes one. Entries that cannot be read are left out. Cost: about 15 us an event.
 */
export function* buildSegment<E extends StoredEvent>(
  kind: EventKind<E>,
  sorted: readonly Entry[],
  termsOf: (entry: Entry) => EventTerms | null,
): Generator<null, SegmentDraft | null> {
  const readable: Entry[] = [];
  const indexed: EventTerms[] = [];
  for (const entry of sorted) {
    const terms = termsOf(entry);
    if (terms === null) continue;
    readable.push(entry);
    indexed.push(terms);
    if (readable.length % blockEvents === 0) yield null;
  }
  if (readable.length === 0) return null;
  const parts: (readonly [string, Uint8Array])[] = [];
  for (let at = 0; at < readable.length; at += blockEvents) {
    const block = packBlock(readable.slice(at, at + blockEvents));
    parts.push([`b${separator}${at / blockEvents}`, block]);
    yield null;
  }
  const hashed: { readonly field: string; readonly hashes: readonly number[] }[] = [];
  for (const field of kind.fields) {
    const { bytes, terms, hashes } = yield* buildColumn(indexed, field);
    hashed.push({ field, hashes });
    parts.push([`c${separator}${field}`, bytes]);
    if (kind.ranked.includes(field)) {
      parts.push([`d${separator}${field}`, encoder.encode(JSON.stringify(terms))]);
    }
    yield null;
  }
  const digest = buildDigest(hashed);
  yield null;
  const agents = [...new Set(readable.map(({ agentId }) => agentId))];
  const tenants = [...new Set(readable.map(({ tenantId }) => tenantId))];
  parts.push(packIds(readable, agents, tenants));
  const told = digest.reduce((sum, chunk) => sum + chunk.length, 0);
  const bytes = parts.reduce((sum, [, value]) => sum + value.length, told);
  const [minId, maxId] = [readable[0]!.id, readable.at(-1)!.id];
  const size = { count: readable.length, bytes, chunks: digest.length };
  return { info: { minId, maxId, ...size, agents, tenants }, parts, digest };
}

function* buildColumn(
  indexed: readonly EventTerms[],
  field: string,
): Generator<null, FinishedColumn> {
  const column = new ColumnBuilder();
  for (let at = 0; at < indexed.length; at++) {
    column.add(indexed[at]![field] ?? none);
    if (at % addedTogether === addedTogether - 1) yield null;
  }
  return column.finish();
}

/** Adds a segment to the store. */
export function putSegment(writer: KvWriter, lane: EventLane, draft: SegmentDraft): void {
  const { info, parts, digest } = draft;
  addInfo(writer, lane, info);
  for (const [name, bytes] of parts) writer.put(partKey(lane, info.maxId, name), bytes);
  digest.forEach((chunk, at) => writer.put(chunkKey(lane, info.maxId, at, digest.length), chunk));
}

/** Takes a segment out of the store. */
export function removeSegment(
  writer: KvWriter,
  lane: EventLane,
  { maxId, chunks = 0 }: Pick<SegmentInfo, 'maxId' | 'chunks'>,
): void {
  removeInfo(writer, lane, maxId);
  for (let at = 0; at < chunks; at++) writer.remove(chunkKey(lane, maxId, at, chunks));
  const range = prefixRange(partKey(lane, maxId, ''));
  for (const { key } of [...writer.range({ ...range, keysOnly: true })]) writer.remove(key);
}

/** A segment that is being read; parts are read when they are asked for. */
export class SegmentReader {
  readonly info: SegmentInfo;
  private readonly reader: KvReader;
  private readonly lane: EventLane;
  private readonly columns = new Map<string, Column | null>();
  private knownIds: EventIds | null = null;
  private block: { readonly at: number; readonly entries: ReturnType<typeof unpackBlock> } | null =
    null;

  constructor(reader: KvReader, lane: EventLane, info: SegmentInfo) {
    this.reader = reader;
    this.lane = lane;
    this.info = info;
  }

  /** False when no event has one of the values; true where the segment cannot tell. */
  mayHold(values: readonly Probe[]): boolean {
    const { chunks, digest = 0, maxId } = this.info;
    const count = chunks ?? digest;
    if (count === 0 || values.length > probesMax) return true;
    return values.some((probe) => {
      const at = chunkOf(probe, count);
      const key =
        chunks === undefined
          ? this.keyOf(`f${separator}${at}`)
          : chunkKey(this.lane, maxId, at, count);
      const chunk = this.reader.peek(key);
      return chunk === undefined || chunkMayHold(chunk, probe);
    });
  }

  /** A column that is done with before anything else is read; null where the segment has none. */
  peekColumn(field: string): Column | null {
    const bytes = this.reader.peek(this.keyOf(`c${separator}${field}`));
    return bytes === undefined ? null : new Column(bytes);
  }

  /** A column; null where the segment has none. */
  column(field: string): Column | null {
    let column = this.columns.get(field);
    if (column === undefined) {
      const bytes = this.part(`c${separator}${field}`);
      this.columns.set(field, (column = bytes === undefined ? null : new Column(bytes)));
    }
    return column;
  }

  /** Values of a ranked field by their places. */
  terms(field: string): readonly string[] {
    const bytes = this.part(`d${separator}${field}`);
    return bytes === undefined ? [] : (JSON.parse(decoder.decode(bytes)) as string[]);
  }

  timeOf(event: number): number {
    return this.ids().timeOf(event);
  }

  idOf(event: number): string {
    return this.ids().idOf(event);
  }

  /** An entry; null when its block is missing. */
  entry(event: number): Entry | null {
    const at = Math.floor(event / blockEvents);
    if (this.block?.at !== at) {
      const bytes = this.part(`b${separator}${at}`);
      if (bytes === undefined) return null;
      const count = Math.min(blockEvents, this.info.count - at * blockEvents);
      this.block = { at, entries: unpackBlock(bytes, count) };
    }
    const found = this.block.entries[event % blockEvents]!;
    const [agent, tenant] = this.ids().ownersOf(event);
    return {
      id: this.idOf(event),
      agentId: this.info.agents[agent] ?? '',
      tenantId: this.info.tenants[tenant] ?? '',
      ...found,
    };
  }

  private ids(): EventIds {
    return (this.knownIds ??= readIds((name) => this.part(name), this.info.count));
  }

  private part(name: string): Uint8Array | undefined {
    return this.reader.get(this.keyOf(name));
  }

  private keyOf(name: string): string {
    return partKey(this.lane, this.info.maxId, name);
  }
}

/**
 * Where a chunk lies: beside those of other segments that a probe looks into, so that a question
 * for something rare reads few pages of the disk.
 */
function chunkKey(lane: EventLane, maxId: string, at: number, chunks: number): string {
  const shelf = Math.floor((at * chunkShelves) / chunks);
  return ['evf', lane, shelfNames[shelf], maxId, at].join(separator);
}

function partKey(lane: EventLane, maxId: string, name: string): string {
  return `evs${separator}${lane}${separator}${maxId}${separator}${name}`;
}

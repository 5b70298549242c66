/**
 * Which segments a lane has, kept in memory: a question goes through all of its time. Two counts in
 * the store, written with every change, say whether the list still holds, also in other threads.
 */

import { prefixRange, type KvReader, type KvWriter } from '../../store/kv.ts';
import type { EventLane } from './event-kind.ts';

const separator = '\u0000';
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What is known of a segment without reading it. */
export interface SegmentInfo {
  /** The highest id; names the segment. */
  readonly maxId: string;
  readonly minId: string;
  readonly count: number;
  /** Bytes of all that it holds. */
  readonly bytes: number;
  readonly agents: readonly string[];
  readonly tenants: readonly string[];
  /** Chunks of its digest; absent in segments of earlier versions. */
  readonly chunks?: number;
  /** Chunks that lie among its parts, as earlier versions kept them; absent where none do. */
  readonly digest?: number;
  /** Up to when the details of a site's events are taken away, by site; absent for none. */
  readonly stripped?: Readonly<Record<string, number>>;
}

/** How often segments were added, and how often one was removed. */
interface Counts {
  readonly added: number;
  readonly removed: number;
}

interface KnownList {
  readonly counts: Counts;
  /** The oldest first. */
  readonly segments: readonly SegmentInfo[];
}

const knownLists = new WeakMap<KvReader, Map<EventLane, KnownList>>();

/** Adds a segment to the list. */
export function addInfo(writer: KvWriter, lane: EventLane, info: SegmentInfo): void {
  const { maxId, ...rest } = info;
  writer.put(infoKey(lane, maxId), encoder.encode(JSON.stringify(rest)));
  const { added, removed } = readCounts(writer, lane);
  putCounts(writer, lane, { added: added + 1, removed });
}

/** Takes a segment off the list. */
export function removeInfo(writer: KvWriter, lane: EventLane, maxId: string): void {
  writer.remove(infoKey(lane, maxId));
  const { added, removed } = readCounts(writer, lane);
  putCounts(writer, lane, { added, removed: removed + 1 });
}

/** Segments whose highest id is at least `startId`, the newest first. */
export function* segmentsFrom(
  reader: KvReader,
  lane: EventLane,
  startId: string,
): Generator<SegmentInfo> {
  const segments = listOf(reader, lane);
  for (let at = segments.length - 1; at >= 0; at--) {
    const info = segments[at]!;
    if (info.maxId < startId) return;
    yield info;
  }
}

/** The segment that was filled with the oldest events; null when there is none. */
export function oldestSegment(reader: KvReader, lane: EventLane): SegmentInfo | null {
  const range = prefixRange(infoKey(lane, ''));
  for (const { key, value } of reader.range({ ...range, limit: 1 })) {
    return readInfo(lane, key, value);
  }
  return null;
}

/** Reads the lists anew: a change that was seen did not come to be. */
export function forgetLists(reader: KvReader): void {
  knownLists.delete(reader);
}

function listOf(reader: KvReader, lane: EventLane): readonly SegmentInfo[] {
  let lists = knownLists.get(reader);
  if (lists === undefined) knownLists.set(reader, (lists = new Map<EventLane, KnownList>()));
  const counts = readCounts(reader, lane);
  const known = lists.get(lane);
  const added = counts.added - (known?.counts.added ?? 0);
  const isWhole = known !== undefined && counts.removed === known.counts.removed;
  if (isWhole && added === 0) return known.segments;
  const segments =
    isWhole && added > 0
      ? withAdded(reader, lane, known.segments, added)
      : [...infosFrom(reader, lane)].reverse();
  lists.set(lane, { counts, segments });
  return segments;
}

/** What was added is mostly the newest: the range is read until all of it was found. */
function withAdded(
  reader: KvReader,
  lane: EventLane,
  known: readonly SegmentInfo[],
  added: number,
): readonly SegmentInfo[] {
  const names = new Set(known.map(({ maxId }) => maxId));
  const found: SegmentInfo[] = [];
  for (const info of infosFrom(reader, lane)) {
    if (!names.has(info.maxId)) found.push(info);
    if (found.length === added) break;
  }
  return [...known, ...found].sort((one, other) => (one.maxId < other.maxId ? -1 : 1));
}

function* infosFrom(reader: KvReader, lane: EventLane): Generator<SegmentInfo> {
  const range = prefixRange(infoKey(lane, ''));
  for (const { key, value } of reader.range({ ...range, reverse: true })) {
    yield readInfo(lane, key, value);
  }
}

function readInfo(lane: EventLane, key: string, value: Uint8Array): SegmentInfo {
  const rest = JSON.parse(decoder.decode(value)) as Omit<SegmentInfo, 'maxId'>;
  return { ...rest, maxId: key.slice(infoKey(lane, '').length) };
}

/** Stores of earlier versions have none: whoever opens one reads the list once. */
function readCounts(reader: KvReader, lane: EventLane): Counts {
  const bytes = reader.get(countsKey(lane));
  if (bytes === undefined) return { added: 0, removed: 0 };
  return JSON.parse(decoder.decode(bytes)) as Counts;
}

function putCounts(writer: KvWriter, lane: EventLane, counts: Counts): void {
  writer.put(countsKey(lane), encoder.encode(JSON.stringify(counts)));
}

function countsKey(lane: EventLane): string {
  return `m${separator}segments${separator}${lane}`;
}

function infoKey(lane: EventLane, maxId: string): string {
  return `evi${separator}${lane}${separator}${maxId}`;
}

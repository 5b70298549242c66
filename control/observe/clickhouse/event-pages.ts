/** Reads pages of events, newest first: their ids first, then the events that are wanted. */

import { clickhouseLimits } from '../../limits/clickhouse-limits.ts';
import type { Entry } from '../events/entry.ts';
import type { EventFilter } from '../events/event-filter.ts';
import { makeEventId, timeOfEventId } from '../events/event-id.ts';
import type { EventLane, StoredEvent } from '../events/event-kind.ts';
import type {
  KindName,
  Page,
  PageQuestion,
  Part,
  PartQuestion,
} from '../events/event-questions.ts';
import { eventKinds, joinLines } from '../events/event-questions.ts';
import { spanOf } from '../events/event-scan.ts';
import { eventOfEntry } from '../events/read-entry.ts';
import { conditionsOf, placeOfId } from './conditions.ts';
import { dayMs, readDays, type Asking } from './event-days.ts';
import { kindOf } from './event-rows.ts';
import { rowKey, tableOf } from './event-tables.ts';
import { RowReader } from './row-binary.ts';

/** One page. */
export async function readPage(asking: Asking, question: PageQuestion): Promise<Page<StoredEvent>> {
  const { kind, filter, beforeId, offset, limit } = question;
  const ids = await readIds(asking, kind, filter, beforeId, offset, limit + 1);
  const items = await readEvents(asking, kind, ids.slice(0, limit));
  return { items, hasMore: ids.length > limit };
}

/** Lines of JSON up to a size. */
export async function readPart(asking: Asking, question: PartQuestion): Promise<Part> {
  const { kind, filter, bytesMax } = question;
  const lines: Buffer[] = [];
  let bytes = 0;
  let lastId = question.beforeId;
  for (;;) {
    const ids = await readIds(asking, kind, filter, lastId, 0, clickhouseLimits.fetchEvents);
    for (const event of await readEvents(asking, kind, ids)) {
      const line = Buffer.from(`${JSON.stringify(event)}\n`);
      if (lines.length > 0 && bytes + line.length > bytesMax) {
        return { ndjson: joinLines(lines), events: lines.length, lastId };
      }
      lines.push(line);
      bytes += line.length;
      lastId = event.id ?? '';
    }
    if (ids.length < clickhouseLimits.fetchEvents) {
      return { ndjson: joinLines(lines), events: lines.length, lastId: '' };
    }
  }
}

/** One event; null when it is not kept. */
export async function readOne(
  asking: Asking,
  kind: KindName,
  id: string,
): Promise<StoredEvent | null> {
  const [found = null] = await readEvents(asking, kind, [id]);
  return found;
}

/**
 * Ids of a page, from spans of time that grow: the server sorts all that fits in a span before it
 * gives the newest, and most pages are full after the first.
 */
async function readIds(
  asking: Asking,
  kind: KindName,
  filter: EventFilter,
  beforeId: string,
  offset: number,
  limit: number,
): Promise<string[]> {
  const found: string[] = [];
  const kept = await readTimes(asking, kind, filter, beforeId);
  let endMs = Math.min(filter.endMs, kept.lastMs + 1);
  for (let spanMs: number = clickhouseLimits.firstSpanMs; endMs > kept.firstMs; spanMs *= 8) {
    const startMs = Math.max(kept.firstMs, endMs - spanMs);
    const span = { ...filter, startMs, endMs };
    const wanted = offset + limit - found.length;
    found.push(...(await readIdsWithin(asking, kind, span, beforeId, wanted)));
    if (found.length === offset + limit) break;
    endMs = startMs;
  }
  return found.slice(offset);
}

/**
 * Times between which the events of a span lie: the beginning of the first day and the last event.
 * No more than the times of one day are read for it.
 */
async function readTimes(
  asking: Asking,
  kind: KindName,
  filter: EventFilter,
  beforeId: string,
): Promise<{ readonly firstMs: number; readonly lastMs: number }> {
  const { startId, endId } = spanOf(filter, beforeId);
  const [startMs, endMs] = [timeOfEventId(startId), timeOfEventId(endId)];
  const lanes: readonly EventLane[] = eventKinds[kind].lanes;
  const days = (await readDays(asking))
    .filter(({ lane, day }) => lanes.includes(lane) && (day + 1) * dayMs > startMs)
    .map(({ day }) => day * dayMs)
    .filter((dayStartMs) => dayStartMs <= endMs);
  if (days.length === 0) return { firstMs: 0, lastMs: -1 };
  const [firstDayMs, lastDayMs] = [Math.min(...days), Math.max(...days)];
  const { server, address, signal } = asking;
  const statement =
    `SELECT at FROM ${tableOf(address, kind)} ` +
    `WHERE at >= ${lastDayMs} AND at <= ${endMs} ORDER BY at DESC LIMIT 1`;
  const reader = new RowReader(await server.bytes(statement, 'RowBinary', signal));
  const lastMs = reader.done ? lastDayMs : reader.uint64();
  return { firstMs: Math.max(startMs, firstDayMs), lastMs };
}

async function readIdsWithin(
  { server, address, signal }: Asking,
  kind: KindName,
  filter: EventFilter,
  beforeId: string,
  limit: number,
): Promise<string[]> {
  const statement =
    `SELECT at, number FROM ${tableOf(address, kind)} ` +
    `WHERE ${conditionsOf(kind, filter, beforeId)} ` +
    `ORDER BY at DESC, number DESC LIMIT 1 BY ${rowKey} LIMIT ${limit}`;
  const reader = new RowReader(await server.bytes(statement, 'RowBinary', signal));
  const ids: string[] = [];
  while (!reader.done) ids.push(makeEventId(reader.uint64(), reader.uint64()));
  return ids;
}

/** Events in the order of their ids. */
async function readEvents(
  asking: Asking,
  kind: KindName,
  ids: readonly string[],
): Promise<StoredEvent[]> {
  const events = new Map<string, StoredEvent>();
  for (let at = 0; at < ids.length; at += clickhouseLimits.fetchEvents) {
    const wanted = ids.slice(at, at + clickhouseLimits.fetchEvents);
    for (const entry of await readEntries(asking, kind, wanted)) {
      const event = eventOfEntry(kindOf(kind), entry);
      if (event !== null) events.set(entry.id, event);
    }
  }
  return ids.flatMap((id) => events.get(id) ?? []);
}

async function readEntries(
  { server, address, signal }: Asking,
  kind: KindName,
  ids: readonly string[],
): Promise<Entry[]> {
  const places = ids.map(placeOfId);
  const times = places.map(({ at }) => at);
  const list = places.map(({ at, number }) => `(${at}, ${number})`).join(', ');
  const statement =
    "SELECT at, number, node, tenant, form, if(whole = '', compact, whole) " +
    `FROM ${tableOf(address, kind)} ` +
    `WHERE at >= ${Math.min(...times)} AND at <= ${Math.max(...times)} ` +
    `AND (at, number) IN (${list}) LIMIT 1 BY ${rowKey}`;
  const reader = new RowReader(await server.bytes(statement, 'RowBinary', signal));
  const entries: Entry[] = [];
  while (!reader.done) {
    const id = makeEventId(reader.uint64(), reader.uint64());
    const [agentId, tenantId] = [reader.text(), reader.text()];
    const [form, bytes] = [reader.uint8(), reader.bytes()];
    entries.push({ id, agentId, tenantId, form, bytes });
  }
  return entries;
}

/**
 * What is asked of kept events, as plain data that can travel to another thread, and how it is
 * answered from what lies on disk. Long answers are made in slices.
 */

import type {
  AccessEventJson,
  ErrorEventJson,
  SecurityEventJson,
  SecuritySummaryDimensionJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { accessKind } from '../access-event.ts';
import { errorKind } from '../error-event.ts';
import { paced, type Pace } from '../paced.ts';
import { securityKind } from '../security-event.ts';
import type { SecuritySummary } from '../summary.ts';
import { rankValues, summarizeSecurity, type Ranked } from './event-sums.ts';
import type { EventFilter } from './event-filter.ts';
import type { EventKind, EventLane, StoredEvent } from './event-kind.ts';
import { findEntry } from './event-log.ts';
import { scanEvents, type LaneSource } from './event-scan.ts';
import { eventOfEntry } from './read-entry.ts';
import { segmentsFrom } from './segment-list.ts';
import type { TailRow } from './tail.ts';
import type { KvReader } from '../../store/kv.ts';

/** JSON forms of events by the name of their kind. */
export interface EventsByKind {
  readonly security: SecurityEventJson;
  readonly access: AccessEventJson;
  readonly error: ErrorEventJson;
}
/** Name of a kind. */
export type KindName = keyof EventsByKind;

/** The kinds, and the lanes in which their events are. */
export const eventKinds: {
  readonly [Name in KindName]: {
    readonly kind: EventKind<EventsByKind[Name]>;
    readonly lanes: readonly EventLane[];
  };
} = {
  security: { kind: securityKind, lanes: ['security'] },
  access: { kind: accessKind, lanes: ['access', 'access_sample'] },
  error: { kind: errorKind, lanes: ['error'] },
};

/** A page of events, newest first, after an id ('' for the first page). */
export interface PageQuestion<Name extends KindName = KindName> {
  readonly ask: 'page';
  readonly kind: Name;
  readonly filter: EventFilter;
  readonly beforeId: string;
  readonly offset: number;
  readonly limit: number;
}

/** Its answer. */
export interface Page<E> {
  readonly items: readonly E[];
  readonly hasMore: boolean;
}

/** Lines of JSON up to a size, newest first, after an id. */
export interface PartQuestion {
  readonly ask: 'part';
  readonly kind: KindName;
  readonly filter: EventFilter;
  readonly beforeId: string;
  readonly bytesMax: number;
}

/** Its answer; `lastId` is '' when nothing is left. */
export interface Part {
  readonly ndjson: Uint8Array;
  readonly events: number;
  readonly lastId: string;
}

/** One event. */
export interface GetQuestion<Name extends KindName = KindName> {
  readonly ask: 'get';
  readonly kind: Name;
  readonly id: string;
}

/** Totals of security events, with the rankings that are wanted. */
export interface SummaryQuestion {
  readonly ask: 'summary';
  readonly filter: EventFilter;
  readonly wanted: readonly SecuritySummaryDimensionJson[];
  readonly topLimit: number;
  readonly withTrend: boolean;
}

/** Values of an index field of events. */
export interface RankingQuestion {
  readonly ask: 'ranking';
  readonly kind: KindName;
  readonly filter: EventFilter;
  readonly field: string;
  readonly limit: number;
}

/** All of them. */
export type Question =
  PageQuestion | PartQuestion | GetQuestion | SummaryQuestion | RankingQuestion;
/** What a question is answered with. */
export type AnswerOf<Q extends Question> =
  Q extends PageQuestion<infer Name>
    ? Page<EventsByKind[Name]>
    : Q extends GetQuestion<infer Name>
      ? EventsByKind[Name] | null
      : Q extends PartQuestion
        ? Part
        : Q extends SummaryQuestion
          ? SecuritySummary
          : Ranked;

/** Where events lie. */
export interface EventPlaces {
  readonly reader: KvReader;
  /** Batches of a lane whose events are in no segment yet. */
  tail(lane: EventLane): readonly TailRow[];
}

/** Answers a question. Rejects with the error of the signal when whoever asked is gone. */
export async function answerQuestion<Q extends Question>(
  places: EventPlaces,
  question: Q,
  pace: Pace = {},
): Promise<AnswerOf<Q>> {
  return (await answerAny(places, question, pace)) as AnswerOf<Q>;
}

function answerAny(
  places: EventPlaces,
  question: Question,
  pace: Pace,
): Promise<AnswerOf<Question>> {
  switch (question.ask) {
    case 'page':
      return readPage(scanOf(places, question, pace), question);
    case 'part':
      return readPart(scanOf(places, question, pace), question.bytesMax);
    case 'get':
      return Promise.resolve(readOne(places, question));
    case 'summary':
      return summarizeSecurity(sourcesOf(places, 'security'), question, pace);
    case 'ranking':
      return rankValues<StoredEvent>(sourcesOf(places, question.kind), question, pace);
  }
}

async function* scanOf(
  places: EventPlaces,
  { kind, filter, beforeId }: PageQuestion | PartQuestion,
  pace: Pace,
): AsyncGenerator<StoredEvent> {
  const found = scanEvents<StoredEvent>(sourcesOf(places, kind), filter, beforeId);
  for await (const event of paced(found, pace)) if (event !== null) yield event;
}

/** The lanes of a kind. */
function sourcesOf<Name extends KindName>(
  places: EventPlaces,
  name: Name,
): LaneSource<EventsByKind[Name]>[] {
  const { kind, lanes } = eventKinds[name];
  const { reader } = places;
  return lanes.map((lane) => ({ lane, kind, reader, tail: () => places.tail(lane) }));
}

async function readPage(
  events: AsyncIterable<StoredEvent>,
  { offset, limit }: PageQuestion,
): Promise<Page<StoredEvent>> {
  const items: StoredEvent[] = [];
  let skipped = 0;
  for await (const event of events) {
    if (skipped < offset) skipped++;
    else if (items.length === limit) return { items, hasMore: true };
    else items.push(event);
  }
  return { items, hasMore: false };
}

async function readPart(events: AsyncIterable<StoredEvent>, bytesMax: number): Promise<Part> {
  const lines: Buffer[] = [];
  let bytes = 0;
  let lastId = '';
  for await (const event of events) {
    const line = Buffer.from(`${JSON.stringify(event)}\n`);
    if (lines.length > 0 && bytes + line.length > bytesMax) {
      return { ndjson: joinLines(lines), events: lines.length, lastId };
    }
    lines.push(line);
    bytes += line.length;
    lastId = event.id ?? '';
  }
  return { ndjson: joinLines(lines), events: lines.length, lastId: '' };
}

/** Lines in memory of their own, which can go to another thread without a copy. */
export function joinLines(lines: readonly Buffer[]): Uint8Array {
  const all = new Uint8Array(lines.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const line of lines) {
    all.set(line, at);
    at += line.length;
  }
  return all;
}

function readOne(places: EventPlaces, { kind: name, id }: GetQuestion): StoredEvent | null {
  const { kind, lanes } = eventKinds[name];
  for (const lane of lanes) {
    const segments = segmentsFrom(places.reader, lane, id);
    const entry = findEntry(places.reader, lane, places.tail(lane), id, segments);
    if (entry !== null) return eventOfEntry<StoredEvent>(kind as EventKind<StoredEvent>, entry);
  }
  return null;
}

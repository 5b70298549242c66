/**
 * Events on disk: security, access and error events, each in lanes of their own, found by what
 * filters name. Takes each batch once, however often it comes. Long questions are answered by a
 * thread of their own.
 */

import type { SecurityEventJson } from '../../proto/gen/waf/v1/log_pb.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { prefixRange, type Kv } from '../store/kv.ts';
import { accessKind } from './access-event.ts';
import { errorKind } from './error-event.ts';
import { entryForm, type Entry } from './events/entry.ts';
import type { EventFilter } from './events/event-filter.ts';
import { eventLanes, type EventLane, type StoredEvent } from './events/event-kind.ts';
import {
  EventLog,
  passOn,
  type IncomingBatch,
  type IngestResult,
  type LaneUse,
} from './events/event-log.ts';
import {
  answerQuestion,
  type AnswerOf,
  type EventPlaces,
  type KindName,
  type Question,
} from './events/event-questions.ts';
import { eventOfEntry } from './events/read-entry.ts';
import type { LaneRetention } from './events/retention.ts';
import { askBriefly } from './events/ask-briefly.ts';
import { canScanInThread, ScanClient } from './events/scan-client.ts';
import { paced } from './paced.ts';
import { securityKind } from './security-event.ts';
import { unpackEvent } from './stored-event.ts';

export type { IncomingBatch, IngestResult } from './events/event-log.ts';

/** What each lane keeps. */
export type KeptSince = Readonly<Record<EventLane, LaneRetention>>;

/** Is given facts as nodes sent them; must not throw and must not wait. */
export type FactListener = (
  kind: 'security' | 'access' | 'error',
  facts: readonly Pick<Entry, 'agentId' | 'tenantId' | 'bytes'>[],
) => void;

/** Events that are kept. */
export interface EventStore {
  /** Keeps the events of a batch. Rejects when the disk does not take them. */
  ingest(lane: EventLane, batch: IncomingBatch, schemaVersion: number): Promise<IngestResult>;
  /** Answers a question. Rejects with the error of `signal` when whoever asked is gone. */
  ask<Q extends Question>(question: Q, signal?: AbortSignal): Promise<AnswerOf<Q>>;
  /** Takes the access facts of a batch once; only who asked by `onFacts` is given them. */
  passAccess(batch: IncomingBatch, schemaVersion: number): Promise<IngestResult>;
  /** Calls `listener` with every security event that is kept from now on; returns the undo. */
  subscribe(listener: (event: SecurityEventJson) => void): () => void;
  /** Calls `listener` with the facts of every batch that is new; returns the undo. */
  onFacts(listener: FactListener): () => void;
  /** Security events that are kept. */
  count(): number;
  /** What each lane holds. */
  use(): Readonly<Record<EventLane, LaneUse>>;
  /** Removes what is too old, or too much. */
  forget(since: KeptSince): Promise<void>;
  /** Resolves when nothing is being sealed and rows of earlier layouts are taken over. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the events in `kv`; `folder` is where its LMDB environment lies, if it has one. */
export function openEventStore(kv: Kv, folder: string | null = null): EventStore {
  const logs = {
    security: new EventLog(kv, 'security', securityKind),
    access: new EventLog(kv, 'access', accessKind),
    access_sample: new EventLog(kv, 'access_sample', accessKind),
    error: new EventLog(kv, 'error', errorKind),
  } as const;
  const places: EventPlaces = { reader: kv, tail: (lane) => logs[lane].tail() };
  const thread = folder !== null && canScanInThread ? new ScanClient(folder) : null;
  const listeners = new Set<(event: SecurityEventJson) => void>();
  const factListeners = new Set<FactListener>();
  const ended = new AbortController();
  const taking = adoptRows(kv, logs.security, ended.signal);
  for (const lane of eventLanes) logs[lane].indexTail();
  const settled = async (): Promise<void> => {
    await taking;
    for (const lane of eventLanes) await logs[lane].settled();
  };
  return {
    ingest: (lane, batch, schemaVersion) => {
      if (lane !== 'security' && lane !== 'error') return logs[lane].ingest(batch, schemaVersion);
      return logs[lane].ingest(batch, schemaVersion, (entries) => {
        for (const listener of factListeners) listener(lane, entries);
        if (lane === 'security' && listeners.size > 0) tellSecurity(entries, listeners);
      });
    },
    passAccess: (batch, schemaVersion) =>
      passOn(kv, 'access_export', accessKind, batch, schemaVersion, (entries) => {
        for (const listener of factListeners) listener('access', entries);
      }),
    ask: (question, signal) => {
      if (thread === null) return answerQuestion(places, question, { signal });
      return askBriefly(places, thread, question, signal);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onFacts: (listener) => {
      factListeners.add(listener);
      return () => factListeners.delete(listener);
    },
    count: () => logs.security.use().events,
    use: () => ({
      security: logs.security.use(),
      access: logs.access.use(),
      access_sample: logs.access_sample.use(),
      error: logs.error.use(),
    }),
    forget: async (since) => {
      for (const lane of eventLanes) {
        const { eventsMax, bytesMax } = observationLimits.eventLanes[lane];
        await logs[lane].forget(since[lane], eventsMax, bytesMax);
      }
    },
    settled,
    close: async () => {
      ended.abort();
      await settled();
      await thread?.close();
      await kv.close();
    },
  };
}

function tellSecurity(
  entries: readonly Entry[],
  listeners: Iterable<(event: SecurityEventJson) => void>,
): void {
  for (const entry of entries) {
    const event = eventOfEntry(securityKind, entry);
    if (event !== null) for (const listener of listeners) listener(event);
  }
}

/**
 * Takes over rows of the layout before segments, some thousand a transaction, the newest first. A
 * process that ends meanwhile continues with its next start.
 */
async function adoptRows(
  kv: Kv,
  log: EventLog<SecurityEventJson>,
  signal: AbortSignal,
): Promise<void> {
  const rows = prefixRange('e\u0000');
  for (;;) {
    if (signal.aborted) return;
    const limit = observationLimits.segmentEventsMin;
    const found = [...kv.range({ ...rows, reverse: true, limit })].reverse();
    if (found.length === 0) return;
    const events: (readonly [string, SecurityEventJson])[] = [];
    for await (const { key, value } of paced(found)) events.push([key, unpackEvent(value)]);
    await log.adopt(
      events.map(([, event]) => entryOfJson(event)),
      (writer) => {
        for (const [key, { id = '', requestId = '' }] of events) {
          writer.remove(key);
          writer.remove(['r', requestId.slice(0, 256), id].join('\u0000'));
        }
      },
    );
  }
}

function entryOfJson(event: SecurityEventJson): Entry {
  const { id = '', agentId = '', tenantId = '' } = event;
  const bytes = Buffer.from(JSON.stringify(event));
  return { id, agentId, tenantId, form: entryForm.json, bytes };
}

/** Every event that fits, newest first, page by page. */
export async function* eachEvent<Name extends KindName>(
  store: EventStore,
  kind: Name,
  filter: EventFilter,
  signal?: AbortSignal,
): AsyncGenerator<AnswerOf<{ ask: 'page'; kind: Name } & PageFields>['items'][number]> {
  let beforeId = '';
  for (;;) {
    const limit = observationLimits.scanPageEvents;
    const question = { ask: 'page', kind, filter, beforeId, offset: 0, limit } as const;
    const { items, hasMore } = await store.ask(question, signal);
    yield* items;
    if (!hasMore) return;
    beforeId = (items.at(-1) as StoredEvent | undefined)?.id ?? '';
  }
}

interface PageFields {
  readonly filter: EventFilter;
  readonly beforeId: string;
  readonly offset: number;
  readonly limit: number;
}

/**
 * Events that are kept: what a driver does, whichever it is. The one of every installation is
 * `events/embedded-events.ts`; `clickhouse/` keeps them in ClickHouse.
 */

import type { SecurityEventJson } from '../../proto/gen/waf/v1/log_pb.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import type { Entry } from './events/entry.ts';
import type { EventFilter } from './events/event-filter.ts';
import type { EventLane, StoredEvent } from './events/event-kind.ts';
import type { IncomingBatch, IngestResult, LaneUse } from './events/event-log.ts';
import type { AnswerOf, KindName, Question } from './events/event-questions.ts';
import type { LaneRetention } from './events/retention.ts';

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
  /** Keeps the events of a batch once. Rejects when the disk, or the server, does not take them. */
  ingest(lane: EventLane, batch: IncomingBatch, schemaVersion: number): Promise<IngestResult>;
  /** Answers a question. Rejects with the error of `signal` when whoever asked is gone. */
  ask<Q extends Question>(question: Q, signal?: AbortSignal): Promise<AnswerOf<Q>>;
  /** Takes the access facts of a batch once; only who asked by `onFacts` is given them. */
  passAccess(batch: IncomingBatch, schemaVersion: number): Promise<IngestResult>;
  /** Calls `listener` with every security event that is kept from now on; returns the undo. */
  subscribe(listener: (event: SecurityEventJson) => void): () => void;
  /** Calls `listener` with the facts of every batch that is new; returns the undo. */
  onFacts(listener: FactListener): () => void;
  /** Why events cannot be kept or read now; '' while they can. */
  problem(): string;
  /** Security events that are kept. */
  count(): number;
  /** What each lane holds. */
  use(): Readonly<Record<EventLane, LaneUse>>;
  /** Removes what is too old, or too much. */
  forget(since: KeptSince): Promise<void>;
  /** Resolves when nothing of earlier calls is under way. */
  settled(): Promise<void>;
  close(): Promise<void>;
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

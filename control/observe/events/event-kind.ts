/** What the event store needs to know of a kind of event. Plain data and pure functions. */

import type { Entry } from './entry.ts';

/** Streams of events that are kept apart: each has a retention of its own. */
export const eventLanes = ['security', 'access', 'access_sample', 'error'] as const;
/** One of them. */
export type EventLane = (typeof eventLanes)[number];

/** Where an event comes from and under which id it is kept. */
export interface EventIdentity {
  readonly id: string;
  readonly tenantId: string;
  readonly agentId: string;
}

/** What every event has in its JSON form. */
export interface StoredEvent {
  readonly id?: string;
  readonly tenantId?: string;
  readonly siteId?: string;
  readonly agentId?: string;
  readonly clientIp?: string;
  readonly occurredAt?: string;
}

/** Values of an event by the names of index fields; filters look for them. */
export type EventTerms = Readonly<Record<string, readonly string[]>>;

/** One kind of event; `E` is its JSON form. */
export interface EventKind<E extends StoredEvent> {
  /** Version of the payload's meaning; batches of others are refused. */
  readonly schemaVersion: number;
  /** Number of the protobuf field that holds the time of a fact, in milliseconds. */
  readonly timeField: number;
  /** Fields of `termsOf`, in a fixed order. */
  readonly fields: readonly string[];
  /** Fields whose values are kept as text, for rankings. */
  readonly ranked: readonly string[];
  /** Errors: what a damaged fact throws. */
  toEvent(fact: Uint8Array, identity: EventIdentity): E;
  termsOf(event: E): EventTerms;
  /**
   * As `termsOf` the event of a fact, where that is cheaper without the event. Errors: as
   * `toEvent`.
   */
  termsOfFact?(fact: Uint8Array, agentId: string): EventTerms;
  /** The entry with no more than what is kept when details are too old. Errors: as `toEvent`. */
  withoutDetails?(entry: Entry): Entry;
}

/**
 * What a log shared by several controllers must do: keep write sets in one order, for everybody the
 * same. A controller appends while it holds the head, so that what it appends is made from the
 * newest state.
 */

import { AppError } from '../../../base/errors.ts';
import type { DraftValue } from '../draft.ts';

/** New values by key; null where a key is removed. */
export type WriteSet = ReadonlyMap<string, DraftValue>;

/** A place in the log; `id` tells it from the same place of another history. */
export interface LogPlace {
  /** 0 before the first entry, without gaps from there on. */
  readonly seq: number;
  /** Id of the entry there; '' before the first. */
  readonly id: string;
}

/** One committed write set. */
export interface LogEntry extends LogPlace {
  readonly changes: WriteSet;
}

/** The whole state at one place of the log. */
export interface LogSnapshot extends LogPlace {
  readonly changes: WriteSet;
}

/** The log at one moment; held for appending, nobody else can append meanwhile. */
export interface HeldLog {
  readonly head: LogPlace;
  /**
   * Entries after a place, oldest first; null when the log does not reach back so far. Errors:
   * AppError store_diverged when the place is of another history.
   */
  entriesAfter(place: LogPlace): Promise<readonly LogEntry[] | null>;
  /** The whole state. */
  snapshot(): Promise<LogSnapshot>;
  /** Whether an entry with this id was appended. */
  has(id: string): Promise<boolean>;
  /** Appends one entry at the head, which must be held for it. */
  append(id: string, changes: WriteSet): Promise<void>;
}

/** The controllers of a store, by ids that each run of one has anew. */
export interface Controllers {
  /** Of this one. */
  readonly ownId: string;
  /** What was heard of another one, in milliseconds since the epoch; null for nothing. */
  heard(id: string): { readonly isAlive: boolean; readonly atMs: number } | null;
}

/** A log of write sets. */
export interface WriteLog {
  /** Names the store; the same for all its controllers. */
  readonly storeId: string;
  /**
   * Holds the head while `work` runs; what it appended is durable for all when this resolves.
   * Errors: AppError store_away, when nothing was appended; store_unconfirmed, when that is not
   * known; whatever `work` throws, then nothing was appended.
   */
  hold<T>(use: 'read' | 'append', work: (held: HeldLog) => Promise<T>): Promise<T>;
  /** Why the log cannot be reached; '' when it can, as far as is known. */
  problem(): string;
  /** Calls `listener` when the log may have become longer. One listener. */
  watch(listener: () => void): void;
  /**
   * Whether this controller is the one that does what must be done once. It asks for that while it
   * watches; when it ends or is cut off, another one gets it within `sharedStoreLimits.leaseMs` and
   * one poll.
   */
  holdsDuties(): boolean;
  /** Those that watch the log. */
  readonly controllers: Controllers;
  close(): Promise<void>;
}

/** The log is not the one, or not as long, as what was seen of it. */
export function diverged(): AppError {
  const message =
    'the shared store lacks changes that this controller has seen: PostgreSQL was restored, or ' +
    'failed over to an older copy; start this controller with an empty data folder to take over ' +
    'what is there now';
  return new AppError('store_diverged', message, { source: 'storage' });
}

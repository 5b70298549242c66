/** What rules may read from outside a transaction. Every port is injected and never waits. */

import type { ByteString } from '../../../base/byte-string.ts';
import type { Clock } from '../../../base/clock.ts';
import type { StoredChange, StoredText } from '../../base/stored-change.ts';

/** Reads and writes IP, GLOBAL, SESSION, USER and RESOURCE collections. */
export interface CollectionStore {
  /** Values that have not expired; null when the collection is not stored, or forgotten. */
  load(collection: string, key: ByteString): Map<string, StoredText> | null;
  /**
   * Applies changes to what is stored by then; the collection is forgotten at `expiresAtMs`.
   * Batched by the implementation.
   */
  update(
    collection: string,
    key: ByteString,
    changes: ReadonlyMap<string, StoredChange>,
    expiresAtMs: number,
  ): void;
}

/** GEO variables by name (COUNTRY_CODE, COUNTRY_NAME, ...), upper case; null when unknown. */
export interface GeoLookup {
  find(ip: string): ReadonlyMap<string, string> | null;
}

/** Blocklist answers that are known already; asking is bounded and off unless configured. */
export interface RblLookup {
  listed(ip: string, zone: string): boolean;
}

/** What rules may read from outside a transaction. */
export interface RulePorts {
  readonly clock: Clock;
  /**
   * What inspection may take is measured by it, microseconds: the CPU time of a thread that may
   * have to wait for its core. The clock's time when absent, which costs less to ask for.
   */
  readonly workedUs?: () => number;
  readonly collections: CollectionStore | null;
  readonly geo: GeoLookup | null;
  readonly rbl: RblLookup | null;
  /** Environment variables that rules may read; never the process's own by default. */
  readonly env: ReadonlyMap<string, string>;
  /** Takes an error that ended an inspection inside the product; for the log. */
  readonly reportFailure?: (thrown: unknown) => void;
}

/** The time that inspections are measured by, microseconds from an arbitrary start. */
export function workedUs({ workedUs: worked, clock }: RulePorts): number {
  return worked === undefined ? clock.monotonicUs() : worked();
}

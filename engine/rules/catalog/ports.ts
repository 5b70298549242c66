/** Owns what rules may ask of the outside; every port is injected and works without waiting. */

import type { ByteString } from '../../base/byte-string.ts';
import type { Clock } from '../../base/clock.ts';

/** One stored value of a persistent collection. */
export interface StoredValue {
  readonly value: ByteString;
  /** Milliseconds since the epoch; 0 = never. */
  readonly expiresAtMs: number;
}

/** Reads and writes IP, GLOBAL, SESSION, USER and RESOURCE collections. */
export interface CollectionStore {
  /** Values that have not expired; null when the collection has never been written. */
  load(collection: string, key: ByteString): Map<string, StoredValue> | null;
  /** Replaces the collection's values; batched by the implementation. */
  save(collection: string, key: ByteString, values: ReadonlyMap<string, StoredValue>): void;
}

/** GEO variables by name (COUNTRY_CODE, COUNTRY_NAME, ...), upper case; null when unknown. */
export interface GeoLookup {
  find(ip: string): ReadonlyMap<string, string> | null;
}

/** Blocklist answers that are known already; asking is bounded and off unless configured. */
export interface RblLookup {
  listed(ip: string, zone: string): boolean;
}

/** What rules may ask of the world outside a transaction. */
export interface RulePorts {
  readonly clock: Clock;
  readonly collections: CollectionStore | null;
  readonly geo: GeoLookup | null;
  readonly rbl: RblLookup | null;
  /** Environment variables that rules may read; never the process's own by default. */
  readonly env: ReadonlyMap<string, string>;
}

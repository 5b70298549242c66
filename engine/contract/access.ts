/**
 * Which addresses and countries a site allows, denies or watches, as the traffic path uses it;
 * plain data. Lists lie in shared memory, one copy however many threads and sites use them.
 */

/**
 * Ranges of addresses, disjoint and in order. Shape: a bound is `width` words, the most significant
 * first; bounds are inclusive.
 */
export interface IpRanges {
  /** Words of a bound: 1 for IPv4, 4 for IPv6. */
  readonly width: 1 | 4;
  readonly count: number;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** When each range lapses, milliseconds since the Unix epoch; null when none does. */
  readonly expiresAtMs: Float64Array | null;
  /**
   * How many ranges start below each value of 16 bits, and one place more; null for short lists.
   * All starts share the bits before `indexBit`.
   */
  readonly index: Uint32Array | null;
  readonly indexBit: number;
}

/** The addresses of one list. */
export interface IpSet {
  readonly v4: IpRanges;
  readonly v6: IpRanges;
}

/** What a rule of access does with the addresses that meet it. */
export interface AccessChoice {
  readonly id: string;
  readonly kind: 'allow' | 'deny' | 'monitor';
  /** For `allow`: what is skipped. */
  readonly bypass: 'all_waf' | 'ip_lists_only';
  /** The address that is looked at. */
  readonly source: 'client_ip' | 'peer_ip';
  /** True: met by addresses that are not in the list. */
  readonly inverted: boolean;
}

/** A list that decides. */
export interface IpAccessRule extends AccessChoice {
  readonly listId: string;
  readonly set: IpSet;
  /** Whole segments, compared without case; '' for every path. */
  readonly pathPrefix: string;
}

/** Countries that decide. */
export interface CountryAccessRule extends AccessChoice {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countries: readonly string[];
}

/** All that decides by address on one site, in the order in which it is asked. */
export interface AccessConfig {
  readonly ip: readonly IpAccessRule[];
  readonly country: readonly CountryAccessRule[];
}

/** What is counted of every request before anything is sampled or dropped; plain data. */

/** Upper bounds of the duration classes, microseconds; a last class has none. */
export const durationBoundsUs: readonly number[] = [
  500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
  10_000_000,
];

/** The dimensions by which requests are counted. */
export type CounterFamily =
  | 'outcome'
  | 'status'
  | 'served'
  | 'verdict'
  | 'refusal'
  | 'origin_error'
  | 'failure'
  | 'limit'
  | 'event'
  | 'guard'
  /** Decisions of guards by the rule, binding or limit that decided. */
  | 'guard_rule'
  /** Addresses that an IP list decided about; keys as `listHitKey` writes them. */
  | 'list_hit'
  /** Inspected messages of WebSockets by what became of them. */
  | 'message'
  | 'rule'
  /** Security events by what alerts can be limited to; keys as `alertKey` writes them. */
  | 'alert';

/** Key of the family `list_hit`; the address is '' for those that found no place of their own. */
export function listHitKey(bindingId: string, address: string): string {
  return `${bindingId} ${address}`;
}

/** Keys of the family `served` beside statuses: slow answers of origins, and their time. */
export const servedKeys = { slow: 'slow', verySlow: 'very_slow', time: 'duration_us' } as const;

/** What counts as slow and very slow, microseconds. */
export const slowUs = { slow: 1_000_000, verySlow: 10_000_000 } as const;

/** What the most frequent values are ranked of. */
export const rankedDimensions = [
  'path',
  'user_agent',
  'method',
  'http_version',
  'transport_version',
] as const;
/** One of them. */
export type RankedDimension = (typeof rankedDimensions)[number];

/** Frequent values of one site since the last time they were taken; rare ones may be missing. */
export interface RankingDelta {
  /** Empty when no site was found. */
  readonly siteId: string;
  readonly dimension: RankedDimension;
  readonly entries: readonly RankedCount[];
}

/** Requests with one value; never more than there were. */
export interface RankedCount {
  /** Byte string. */
  readonly key: string;
  readonly total: number;
  readonly blocked: number;
}

/** Counts of one site under one policy since the last time they were taken. */
export interface CounterDelta {
  /** Empty when no site was found. */
  readonly siteId: string;
  /** Empty without inspection. */
  readonly policyId: string;
  requests: number;
  bytesIn: number;
  bytesOut: number;
  durationUs: number;
  /** One more than there are bounds. */
  readonly durations: number[];
  inspected: number;
  inspectionUs: number;
  /** Inspections by duration, in the same classes. */
  readonly inspections: number[];
  readonly entries: ReadonlyMap<CounterFamily, Map<string | number, number>>;
}

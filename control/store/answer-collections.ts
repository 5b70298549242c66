/** The collection of answers that were given to requests with an idempotency key. */

import type { Collection } from './collection.ts';

/** One answer. The records are a ring: a new one replaces the oldest. */
export interface KeptAnswerRecord {
  /** Place in the ring. */
  readonly id: string;
  /** SHA-256 over tenant, RPC and key, hex. */
  readonly keySha256: string;
  /** SHA-256 over the request, hex. */
  readonly requestSha256: string;
  /** The answer in the JSON form of its message. */
  readonly answer: unknown;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** Answers kept for retries, found by key. */
export const keptAnswers: Collection<KeptAnswerRecord> = {
  name: 'kept-answers',
  indexes: { key: (kept) => [kept.keySha256] },
  cached: false,
};

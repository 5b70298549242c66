/**
 * Owns the messages between a front thread and a pool worker: one batch of operations over, one
 * batch of answers back, in the same order. Plain data that structured cloning copies.
 */

import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from '../contract/message.ts';
import type { BodyNeed, TransactionRecord, Verdict } from '../contract/verdict.ts';

/** One call of a session, on its way to the worker. */
export type PoolOperation =
  | {
      readonly op: 'open';
      readonly session: number;
      readonly policy: string;
      readonly recordOnly: boolean;
      readonly request: RequestSnapshot;
      /** True: there is no body, so run phase 2 in the same step. */
      readonly bodyless: boolean;
    }
  | { readonly op: 'requestBody'; readonly session: number; readonly body: BodySnapshot | null }
  | { readonly op: 'responseHead'; readonly session: number; readonly response: ResponseSnapshot }
  | { readonly op: 'responseBody'; readonly session: number; readonly body: BodySnapshot | null }
  | { readonly op: 'finish'; readonly session: number }
  | { readonly op: 'load'; readonly policy: string; readonly source: unknown }
  | { readonly op: 'retire'; readonly policy: string };

/** What one operation gave. */
export type PoolAnswer =
  | {
      readonly kind: 'verdict';
      readonly verdict: Verdict;
      /** Phase 2's verdict when the request has no body; null otherwise. */
      readonly bodyVerdict: Verdict | null;
      readonly need: BodyNeed;
    }
  | { readonly kind: 'record'; readonly record: TransactionRecord }
  | { readonly kind: 'done' }
  /** The worker does not know the session or the policy, or the step threw; then its code. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Operations that travel together, in order. */
export interface PoolBatch {
  readonly operations: readonly PoolOperation[];
}

/** Bytes of a head in a buffer of their own, so that cloning copies no more than them. */
export function ownHead<T extends RequestSnapshot | ResponseSnapshot>(message: T): T {
  const { bytes, spans } = message.head;
  const end = Math.max(...spans.subarray(0, 8), ...spans.subarray(9));
  return {
    ...message,
    head: { bytes: new Uint8Array(bytes.subarray(0, end)), spans: spans.slice() },
  };
}

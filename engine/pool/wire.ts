/**
 * The messages between a front thread and a pool worker: one batch of operations over, one batch of
 * answers back, in the same order. Plain data that structured cloning copies.
 */

import { poolLimits } from '../base/limits.ts';
import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from '../contract/message.ts';
import type {
  BodyNeed,
  InspectionFailure,
  TransactionRecord,
  Verdict,
} from '../contract/verdict.ts';

/** One call of a session, on its way to the worker. */
export type SessionOperation =
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
  /** Works on what was answered with `unfinished`. */
  | { readonly op: 'resume'; readonly session: number }
  | { readonly op: 'responseHead'; readonly session: number; readonly response: ResponseSnapshot }
  | { readonly op: 'responseBody'; readonly session: number; readonly body: BodySnapshot | null }
  /** Ends a session that continues in another thread: nothing is recorded of it. */
  | { readonly op: 'abandon'; readonly session: number }
  | { readonly op: 'finish'; readonly session: number };

/** What a worker is asked: a call of a session, or to load or forget a policy. */
export type PoolOperation =
  | SessionOperation
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
  /** A step of several is done; `resume` asks for the next one. */
  | { readonly kind: 'unfinished' }
  /** The operation could not be worked on, or not to its end. */
  | { readonly kind: 'failed'; readonly reason: InspectionFailure };

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

/** Bytes of the body that an operation carries. */
export function bodyBytesOf(operation: SessionOperation): number {
  // A step takes as long as all that one message may hold: it leaves alone.
  if (operation.op === 'resume') return poolLimits.batchBodyBytesMax + 1;
  if (operation.op !== 'requestBody' && operation.op !== 'responseBody') return 0;
  return operation.body === null ? 0 : operation.body.bytes.length;
}

/**
 * The operation as it leaves: a body in a buffer of its own, which may be handed over. Made when it
 * leaves, so that what waits is not kept twice.
 */
export function toWire(operation: SessionOperation): SessionOperation {
  if (operation.op !== 'requestBody' && operation.op !== 'responseBody') return operation;
  const { body } = operation;
  if (body === null) return operation;
  return { ...operation, body: { ...body, bytes: new Uint8Array(body.bytes) } };
}

/** The buffers of what `toWire` made, to be handed over: they are not copied again. */
export function handedOver(operations: readonly PoolOperation[]): ArrayBuffer[] {
  return operations.flatMap((operation) => {
    if (operation.op !== 'requestBody' && operation.op !== 'responseBody') return [];
    const buffer = operation.body?.bytes.buffer;
    return buffer instanceof ArrayBuffer ? [buffer] : [];
  });
}

/**
 * Where a request is inspected: on the front's own thread, in the pool, or by size. Hands out
 * sessions that look the same either way. Never decides what follows from a failure.
 */

import { clientNetwork } from '../../base/ip-address.ts';
import { poolLimits } from '../base/limits.ts';
import type {
  InspectionPlace,
  InspectionSession,
  Inspector,
  MaybePromise,
} from '../contract/inspection.ts';
import { failedRecord, inspectionFailed } from '../contract/inspection-failure.ts';
import type { PhaseResult } from '../contract/inspection-failure.ts';
import { SPAN } from '../contract/message.ts';
import type {
  BodySnapshot,
  MessageHead,
  RequestSnapshot,
  ResponseSnapshot,
} from '../contract/message.ts';
import type {
  BodyNeed,
  InspectionFailure,
  TransactionRecord,
  Verdict,
} from '../contract/verdict.ts';
import { WorkerQueue, type FlowPath, type WorkerQueueOptions } from './worker-queue.ts';
import { ownHead, type SessionOperation } from './wire.ts';

/** How the pool is started. */
export interface PoolOptions extends WorkerQueueOptions {
  readonly threads: number;
}

/** How the pool inspects for one site. */
export interface PooledPolicy {
  /** Key under which the policy was loaded. */
  readonly policy: string;
  /** Disruptive outcomes are recorded, not enforced. */
  readonly recordOnly: boolean;
}

/** The queues of one front thread. */
export class Pool {
  private readonly options: PoolOptions;
  private readonly queues: WorkerQueue[] = [];
  /** Of the bodies that take long; null until the first one comes. */
  private large: WorkerQueue | null = null;
  private readonly policies = new Map<
    string,
    { readonly source: unknown; readonly now: boolean }
  >();
  private nextSession = 1;

  constructor(options: PoolOptions) {
    this.options = options;
  }

  /** Starts the threads, so that no request waits for one; the first request does otherwise. */
  start(): void {
    while (this.queues.length < this.options.threads) this.startQueue();
  }

  /**
   * Makes a policy known to every queue, present and future. With `now` they load it before anybody
   * asks for it.
   */
  load(policy: string, source: unknown, now: boolean): void {
    this.policies.set(policy, { source, now });
    for (const queue of this.queues) queue.load(policy, source, now);
    this.large?.load(policy, source, false);
  }

  retire(policy: string): void {
    this.policies.delete(policy);
    for (const queue of this.allQueues()) queue.retire(policy);
  }

  /** Resolves once every queue has nothing to do. */
  async settled(): Promise<void> {
    await Promise.all(this.allQueues().map((queue) => queue.idle()));
  }

  open(request: RequestSnapshot, how: PooledPolicy): InspectionSession {
    return new PoolSession(this, this.nextSession++, request, how);
  }

  /**
   * The queue for a request by the size of its body: that of large ones, which begins with the
   * first of them and loads a policy when it is asked for it, or the one with the least to do.
   */
  queueFor(bodyBytes: number): WorkerQueue {
    if (bodyBytes <= poolLimits.sharedBodyBytesMax) return this.leastBusy();
    this.large ??= this.newQueue(false, poolLimits.largeBodyNiceness);
    return this.large;
  }

  /**
   * Shortest wait since the last call in any queue but that of large bodies, milliseconds; 0 where
   * nothing waited.
   */
  takeWaitMs(): number {
    let least = this.queues.length === 0 ? 0 : Infinity;
    for (const queue of this.queues) least = Math.min(least, queue.takeWaitUs() / 1000);
    return least;
  }

  async close(): Promise<void> {
    const queues = this.allQueues();
    this.queues.length = 0;
    this.large = null;
    await Promise.all(queues.map((queue) => queue.close()));
  }

  /** The queue with the least to do; a new one while there are fewer than wanted. */
  private leastBusy(): WorkerQueue {
    let best = this.queues[0];
    for (const queue of this.queues) if (best && queue.depth < best.depth) best = queue;
    if (best && (best.depth === 0 || this.queues.length >= this.options.threads)) return best;
    return this.startQueue();
  }

  private startQueue(): WorkerQueue {
    const queue = this.newQueue(true, 0);
    this.queues.push(queue);
    return queue;
  }

  /** With `eager` the queue loads policies before they are asked for. */
  private newQueue(eager: boolean, niceness: number): WorkerQueue {
    const queue = new WorkerQueue({ ...this.options, niceness });
    for (const [policy, { source, now }] of this.policies) queue.load(policy, source, eager && now);
    return queue;
  }

  private allQueues(): WorkerQueue[] {
    return this.large === null ? [...this.queues] : [...this.queues, this.large];
  }
}

/** Chooses the place per request. */
export function placeInspector(
  place: InspectionPlace,
  inline: Inspector,
  pool: Pool,
  how: PooledPolicy,
): Inspector {
  if (place === 'inline') return inline;
  const viaPool: Inspector = { open: (request) => pool.open(request, how) };
  if (place === 'pool') return viaPool;
  return {
    open: (request) => {
      const length = bodyBytes(request);
      if (length === 0) return inline.open(request);
      // With the first body, so that a large one that follows finds its policy loaded.
      pool.start();
      return (isLarge(length) ? viaPool : inline).open(request);
    },
  };
}

/** True for a Content-Length above the limit and for chunked bodies, whose size nobody knows. */
function isLarge(length: number): boolean {
  return length < 0 || length > poolLimits.inlineBodyBytesMax;
}

/** Length of what phase 2 gets: 0 for nothing, -1 where nobody knows. */
function bodyBytes({ messageBytes, head }: RequestSnapshot): number {
  return messageBytes ?? bodyLength(head);
}

/** Announced body length: 0 without a body, -1 when it is chunked. */
export function bodyLength({ bytes, spans }: MessageHead): number {
  const count = spans[SPAN.fieldCount]!;
  for (let i = 0; i < count; i++) {
    const at = SPAN.fields + 4 * i;
    const size = spans[at + 1]! - spans[at]!;
    if (size === 17 && nameIs(bytes, spans[at]!, 'transfer-encoding')) return -1;
    if (size === 14 && nameIs(bytes, spans[at]!, 'content-length')) {
      return decimal(bytes, spans[at + 2]!, spans[at + 3]!);
    }
  }
  return 0;
}

function nameIs(bytes: Uint8Array, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    if ((bytes[start + i]! | 32) !== (name.charCodeAt(i) | 32)) return false;
  }
  return true;
}

function decimal(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) value = value * 10 + (bytes[i]! - 48);
  return Number.isFinite(value) && value >= 0 ? value : -1;
}

const noNeed: BodyNeed = { inspect: false, limitBytes: 0, onExcess: 'prefix' };

class PoolSession implements InspectionSession {
  bodyNeed: BodyNeed = noNeed;
  responseNeed: BodyNeed = noNeed;
  private readonly pool: Pool;
  private queue: WorkerQueue;
  private readonly session: number;
  private readonly request: RequestSnapshot;
  private readonly how: PooledPolicy;
  private readonly path: FlowPath;
  private failure: InspectionFailure | null = null;
  private bodyVerdict: Verdict | null = null;

  constructor(pool: Pool, session: number, request: RequestSnapshot, how: PooledPolicy) {
    this.pool = pool;
    this.queue = pool.queueFor(bodyBytes(request));
    this.session = session;
    this.request = request;
    this.how = how;
    this.path = [request.siteId, clientNetwork(request.connection.clientIp)];
  }

  requestHead(): Promise<PhaseResult> {
    const { session } = this;
    const { policy, recordOnly } = this.how;
    const request = ownHead(this.request);
    const bodyless = bodyBytes(request) === 0;
    return this.step({ op: 'open', session, policy, recordOnly, request, bodyless }, (need) => {
      this.bodyNeed = need;
    });
  }

  requestBody(body: BodySnapshot | null): MaybePromise<PhaseResult> {
    if (body === null && this.bodyVerdict) return this.bodyVerdict;
    const queue = body === null ? this.queue : this.queueOf(body);
    if (queue !== this.queue) return this.continueIn(queue, body);
    return this.step({ op: 'requestBody', session: this.session, body });
  }

  /** A head need not say how long its body is. */
  private queueOf({ bytes }: BodySnapshot): WorkerQueue {
    return bytes.length > poolLimits.sharedBodyBytesMax
      ? this.pool.queueFor(bytes.length)
      : this.queue;
  }

  /** Phase 1 once more in the other thread, which has nothing of the session, then the body. */
  private async continueIn(queue: WorkerQueue, body: BodySnapshot | null): Promise<PhaseResult> {
    const { session } = this;
    void this.queue.send({ op: 'abandon', session }, this.path);
    this.queue = queue;
    const head = await this.requestHead();
    return head.action === 'pass' ? this.step({ op: 'requestBody', session, body }) : head;
  }

  responseHead(response: ResponseSnapshot): MaybePromise<PhaseResult> {
    const operation = {
      op: 'responseHead',
      session: this.session,
      response: ownHead(response),
    } as const;
    return this.step(operation, (need) => {
      this.responseNeed = need;
    });
  }

  responseBody(body: BodySnapshot | null): MaybePromise<PhaseResult> {
    return this.step({ op: 'responseBody', session: this.session, body });
  }

  async finish(): Promise<TransactionRecord> {
    const answer = await this.queue.send({ op: 'finish', session: this.session }, this.path);
    const { failure } = this;
    if (answer.kind === 'record') return failure ? { ...answer.record, failure } : answer.record;
    return failedRecord(failure ?? (answer.kind === 'failed' ? answer.reason : 'internal'));
  }

  private async step(
    operation: SessionOperation,
    take: (need: BodyNeed) => void = () => undefined,
  ): Promise<PhaseResult> {
    if (this.failure !== null) return inspectionFailed[this.failure];
    const answer = await this.queue.send(operation, this.path);
    if (answer.kind === 'verdict') {
      take(answer.need);
      this.bodyVerdict = answer.bodyVerdict;
      return answer.verdict;
    }
    this.failure = answer.kind === 'failed' ? answer.reason : 'internal';
    return inspectionFailed[this.failure];
  }
}

/**
 * One pool thread and its queue: operations gather while the thread is busy and leave as one batch
 * when it answers (group commit), in an order that is fair to sites and clients. Sessions stay on
 * their thread. Policies are loaded while nothing waits, and at once when a request needs one. A
 * thread that dies is replaced; what it was working on fails.
 */

import { Piscina } from 'piscina';
import { poolLimits } from '../base/limits.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { FairQueue, type Queued } from './fair-queue.ts';
import { bodyBytesOf, handedOver, toWire } from './wire.ts';
import type { PoolAnswer, PoolOperation, SessionOperation } from './wire.ts';

/** How a worker queue is started. */
export interface WorkerQueueOptions {
  /** File whose default export is a `createPoolWorker` function. */
  readonly workerFile: URL;
  readonly workerData: unknown;
  readonly clock: Clock;
  readonly log: Logger;
  readonly deadlineMs: number;
  /** How far the thread's priority lies below that of others; 0 when absent. */
  readonly niceness?: number;
}

/** Whose operation it is: the site, and the client or its network. */
export type FlowPath = readonly [siteId: string, client: string];

interface Waiting extends Queued {
  readonly operation: SessionOperation;
  readonly resolve: (answer: PoolAnswer) => void;
  readonly queuedUs: number;
  readonly path: FlowPath;
  settled: boolean;
}

/** One worker thread with its queue; sends the next batch when the one before is answered. */
export class WorkerQueue {
  private readonly options: WorkerQueueOptions;
  private pool: Piscina;
  private readonly queue = new FairQueue<Waiting>(poolLimits.queuedOperationsMax);
  private inFlight: Waiting[] = [];
  /** All policies; those that the thread has; those that it loads when nothing waits. */
  private readonly sources = new Map<string, unknown>();
  private readonly loaded = new Set<string>();
  private readonly wanted = new Set<string>();
  private retired: string[] = [];
  /** The policy that the thread is loading. */
  private loading: string | null = null;
  private busy = false;
  private closed = false;
  /** When the newest policy was ready; a request's deadline does not run while it waits for one. */
  private readyUs = 0;
  /** When the batch that is being worked on left. */
  private leftUs = 0;
  /** Shortest wait of what left since the last look; Infinity when nothing left. */
  private shortestWaitUs = Infinity;
  private idleWaiters: (() => void)[] = [];
  private readonly watchdog: NodeJS.Timeout;
  deaths = 0;

  constructor(options: WorkerQueueOptions) {
    this.options = options;
    this.pool = this.startThread();
    const intervalMs = Math.max(5, Math.floor(options.deadlineMs / 10));
    this.watchdog = setInterval(() => this.expire(), intervalMs);
    this.watchdog.unref();
  }

  /** Operations that wait or are being worked on. */
  get depth(): number {
    return this.queue.size + this.inFlight.length;
  }

  /**
   * Makes a policy known. With `now` it is loaded as soon as nothing waits, otherwise when a
   * request needs it; one of the same name serves until then.
   */
  load(policy: string, source: unknown, now: boolean): void {
    this.sources.set(policy, source);
    if (now) this.wanted.add(policy);
    // The thread was not yet asked to forget it.
    if (this.retired.includes(policy)) {
      this.retired = this.retired.filter((gone) => gone !== policy);
      if (this.loading !== policy) this.loaded.add(policy);
    }
    this.flush();
  }

  retire(policy: string): void {
    this.sources.delete(policy);
    this.wanted.delete(policy);
    if (this.loaded.delete(policy) || this.loading === policy) this.retired.push(policy);
    this.flush();
  }

  /**
   * Shortest wait of operations that left since the last call, microseconds. Where none left, all
   * that wait have waited since the batch before them left; a policy that loads is no wait.
   */
  takeWaitUs(): number {
    const shortestUs = this.shortestWaitUs;
    this.shortestWaitUs = Infinity;
    if (shortestUs !== Infinity) return shortestUs;
    const waits = this.busy && this.loading === null && this.queue.size > 0;
    return waits ? this.options.clock.monotonicUs() - this.leftUs : 0;
  }

  /** Queues one operation. Never rejects; what a full queue has no room for fails with `queue`. */
  send(operation: SessionOperation, path: FlowPath): Promise<PoolAnswer> {
    if (this.closed) return Promise.resolve({ kind: 'failed', reason: 'worker' });
    return new Promise((resolve) => {
      const waiting: Waiting = {
        operation,
        resolve,
        queuedUs: this.options.clock.monotonicUs(),
        path,
        settled: false,
        cost: poolLimits.operationCostBytes + bodyBytesOf(operation),
        // It frees what the thread holds, and comes once a session.
        kept: operation.op === 'finish' || operation.op === 'abandon',
      };
      const dropped = this.queue.push(waiting, path);
      if (dropped !== null) settle(dropped, { kind: 'failed', reason: 'queue' });
      this.flush();
    });
  }

  /** Resolves once nothing waits and all wanted policies are loaded. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
      this.flush();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.watchdog);
    this.queue.each((waiting) => settle(waiting, { kind: 'failed', reason: 'worker' }));
    for (const waiting of this.inFlight) settle(waiting, { kind: 'failed', reason: 'worker' });
    await this.pool.destroy();
  }

  /** Sends the next batch, unless one is being worked on. */
  private flush(): void {
    if (this.busy || this.closed) return;
    const next = this.queue.peek();
    const policy = next === null ? firstOf(this.wanted) : this.missingPolicy(next.operation);
    const operations: PoolOperation[] = [];
    for (const gone of this.retired.splice(0)) operations.push({ op: 'retire', policy: gone });
    const retires = operations.length;
    if (policy !== null) {
      this.wanted.delete(policy);
      this.loading = policy;
      operations.push({ op: 'load', policy, source: this.sources.get(policy) });
    } else this.gather();
    for (const { operation } of this.inFlight) operations.push(toWire(operation));
    if (operations.length > 0) return this.sendBatch(operations, retires);
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  /** The policy that has to be loaded before the operation can be worked on; null for none. */
  private missingPolicy(operation: SessionOperation): string | null {
    if (operation.op !== 'open') return null;
    const { policy } = operation;
    return this.loaded.has(policy) || !this.sources.has(policy) ? null : policy;
  }

  /** Takes what leaves together: one large body, or many operations with little. */
  private gather(): void {
    let bodyBytes = 0;
    const nowUs = this.options.clock.monotonicUs();
    while (this.inFlight.length < poolLimits.batchOperationsMax) {
      const next = this.queue.peek();
      if (next === null || this.missingPolicy(next.operation) !== null) return;
      bodyBytes += bodyBytesOf(next.operation);
      if (this.inFlight.length > 0 && bodyBytes > poolLimits.batchBodyBytesMax) return;
      const leaving = this.queue.pop()!;
      // A later step of a large body waited by itself: its time says nothing of the queue.
      if (leaving.operation.op !== 'resume') {
        const waitUs = nowUs - Math.max(leaving.queuedUs, this.readyUs);
        this.shortestWaitUs = Math.min(this.shortestWaitUs, Math.max(0, waitUs));
      }
      this.inFlight.push(leaving);
    }
  }

  private sendBatch(operations: readonly PoolOperation[], retires: number): void {
    this.busy = true;
    this.leftUs = this.options.clock.monotonicUs();
    const pool = this.pool;
    void pool
      .run({ operations }, { transferList: handedOver(operations) })
      .then((answers: PoolAnswer[]) => {
        // Of a thread that was given up they belong to operations that failed with it.
        if (pool === this.pool) this.receive(answers.slice(retires));
      })
      .catch((thrown: unknown) => this.replaceThread(pool, thrown));
  }

  private receive(answers: readonly PoolAnswer[]): void {
    const answered = this.inFlight;
    this.inFlight = [];
    this.busy = false;
    if (this.loading !== null) this.finishLoad(this.loading);
    answered.forEach((waiting, i) => {
      const answer = answers[i]!;
      if (answer.kind === 'unfinished') this.resume(waiting);
      else settle(waiting, answer);
    });
    this.flush();
  }

  /** Queues the next step of a large body, after those of others whose turn it is. */
  private resume(waiting: Waiting): void {
    if (waiting.settled) return;
    const { session } = waiting.operation;
    // The bytes of the body were paid for when it was queued.
    const cost = poolLimits.operationCostBytes;
    const next: Waiting = { ...waiting, operation: { op: 'resume', session }, cost };
    const dropped = this.queue.push(next, next.path);
    if (dropped !== null) settle(dropped, { kind: 'failed', reason: 'queue' });
  }

  /** One that could not be built counts as loaded: the thread fails requests that name it. */
  private finishLoad(policy: string): void {
    this.loading = null;
    this.readyUs = this.options.clock.monotonicUs();
    if (this.sources.has(policy)) this.loaded.add(policy);
  }

  /** Replaces a dead thread; policies that it had are loaded again, requests first. */
  private replaceThread(dead: Piscina, thrown: unknown): void {
    if (this.closed || dead !== this.pool) return;
    this.deaths++;
    this.options.log.error('pool worker died; starting another', {
      deaths: this.deaths,
      reason: thrown instanceof Error ? thrown.message : 'unknown',
    });
    const lost = this.inFlight;
    const { loading } = this;
    this.inFlight = [];
    this.loading = null;
    this.busy = false;
    this.retired = [];
    void dead.destroy().catch((error: unknown) => {
      this.options.log.debug('dead pool thread did not close cleanly', { reason: String(error) });
    });
    this.pool = this.startThread();
    for (const policy of this.loaded) this.wanted.add(policy);
    this.loaded.clear();
    for (const waiting of lost) settle(waiting, { kind: 'failed', reason: 'worker' });
    if (loading !== null) this.giveUpOpens(loading);
    this.flush();
  }

  /** Requests for a policy whose loading killed the thread would kill the next one, too. */
  private giveUpOpens(policy: string): void {
    this.queue.remove((waiting) => {
      const { operation } = waiting;
      const gone = operation.op === 'open' && operation.policy === policy;
      if (gone) settle(waiting, { kind: 'failed', reason: 'worker' });
      return gone;
    });
  }

  /** Gives up on operations past the deadline; the thread's late answer is thrown away. */
  private expire(): void {
    const nowUs = this.options.clock.monotonicUs();
    const busyUs = this.busy ? nowUs - this.leftUs : 0;
    const stuckUs = this.options.deadlineMs * poolLimits.stuckAfterDeadlines * 1000;
    if (this.loading === null && busyUs > stuckUs) {
      return this.replaceThread(this.pool, new Error('it gave no answer'));
    }
    if (this.loading !== null && busyUs < poolLimits.loadDeadlineMs * 1000) return;
    const limitUs = nowUs - this.options.deadlineMs * 1000;
    const isLate = ({ queuedUs }: Waiting): boolean => Math.max(queuedUs, this.readyUs) < limitUs;
    for (const waiting of this.inFlight) if (isLate(waiting)) expireOne(waiting);
    // Nobody waits for these any more; `finish` still has something to do.
    this.queue.remove((waiting) => {
      if (!isLate(waiting)) return false;
      expireOne(waiting);
      return !waiting.kept;
    });
  }

  private startThread(): Piscina {
    const { workerFile, workerData, log, niceness = 0 } = this.options;
    const pool = new Piscina({
      filename: workerFile.href,
      workerData,
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: 1,
      idleTimeout: Infinity,
      niceIncrement: niceness,
    });
    // What a thread says while it is being closed belongs to no operation any more.
    pool.on('error', (error: unknown) => {
      log.debug('pool thread spoke out of turn', { reason: String(error) });
    });
    return pool;
  }
}

function firstOf(policies: ReadonlySet<string>): string | null {
  for (const policy of policies) return policy;
  return null;
}

function expireOne(waiting: Waiting): void {
  settle(waiting, { kind: 'failed', reason: 'deadline' });
}

function settle(waiting: Waiting, answer: PoolAnswer): void {
  if (waiting.settled) return;
  waiting.settled = true;
  waiting.resolve(answer);
}

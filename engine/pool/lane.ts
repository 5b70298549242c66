/**
 * Owns one pool thread and its queue: operations gather while the thread is busy and leave as one
 * batch when it answers (group commit). Sessions stay on their lane. A thread that dies is replaced
 * and its policies are loaded again; what it was working on fails with `worker_died`.
 */

import { Piscina } from 'piscina';
import { poolLimits } from '../base/limits.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { TransactionRecord } from '../contract/verdict.ts';
import type { PoolAnswer, PoolOperation } from './wire.ts';

/** Why there is no answer. */
export type PoolFailure = NonNullable<TransactionRecord['failure']>;

/** How one operation ended: the worker's answer or why there is none. */
export type LaneResult = PoolAnswer | { readonly kind: 'lost'; readonly failure: PoolFailure };

/** How a lane is started. */
export interface LaneOptions {
  /** File whose default export is a `createPoolWorker` function. */
  readonly workerFile: URL;
  readonly workerData: unknown;
  readonly clock: Clock;
  readonly log: Logger;
  readonly deadlineMs: number;
}

interface Waiting {
  readonly operation: PoolOperation;
  readonly resolve: (result: LaneResult) => void;
  readonly queuedUs: number;
  settled: boolean;
}

/** One worker thread with its queue; a batch leaves when the one before came back. */
export class Lane {
  private readonly options: LaneOptions;
  private pool: Piscina;
  private queue: Waiting[] = [];
  private flying: Waiting[] = [];
  private readonly policies = new Map<string, unknown>();
  private closed = false;
  /** When the newest policy was ready; a request's deadline does not run while it waits for one. */
  private readyUs = 0;
  /** When the batch that is being worked on left. */
  private leftUs = 0;
  private readonly watchdog: NodeJS.Timeout;
  deaths = 0;

  constructor(options: LaneOptions) {
    this.options = options;
    this.pool = this.startThread();
    const intervalMs = Math.max(5, Math.floor(options.deadlineMs / 10));
    this.watchdog = setInterval(() => this.expire(), intervalMs);
    this.watchdog.unref();
  }

  /** Operations that wait or are being worked on. */
  get depth(): number {
    return this.queue.length + this.flying.length;
  }

  /** Queues one operation. Never rejects; a full queue answers `queue_full` at once. */
  send(operation: PoolOperation): Promise<LaneResult> {
    if (operation.op === 'load') this.policies.set(operation.policy, operation.source);
    if (operation.op === 'retire') this.policies.delete(operation.policy);
    if (this.closed || this.queue.length >= poolLimits.queuedOperationsMax) {
      return Promise.resolve({ kind: 'lost', failure: 'queue_full' });
    }
    return new Promise((resolve) => {
      const queuedUs = this.options.clock.monotonicUs();
      this.queue.push({ operation, resolve, queuedUs, settled: false });
      if (this.flying.length === 0) this.flush();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.watchdog);
    for (const waiting of [...this.queue, ...this.flying]) {
      settle(waiting, { kind: 'lost', failure: 'worker_died' });
    }
    await this.pool.destroy();
  }

  private flush(): void {
    if (this.queue.length === 0 || this.closed) return;
    this.flying = this.queue.splice(0, poolLimits.batchOperationsMax);
    this.leftUs = this.options.clock.monotonicUs();
    const pool = this.pool;
    void pool
      .run({ operations: this.flying.map((waiting) => waiting.operation) })
      .then((answers: PoolAnswer[]) => this.land(answers))
      .catch((thrown: unknown) => this.revive(pool, thrown));
  }

  private land(answers: readonly PoolAnswer[]): void {
    const landed = this.flying;
    this.flying = [];
    if (landed.some(isLoad)) this.readyUs = this.options.clock.monotonicUs();
    landed.forEach((waiting, i) => settle(waiting, answers[i]!));
    this.flush();
  }

  /** Replaces a dead thread and loads its policies again before anything else. */
  private revive(dead: Piscina, thrown: unknown): void {
    if (this.closed || dead !== this.pool) return;
    this.deaths++;
    this.options.log.error('pool worker died; starting another', {
      deaths: this.deaths,
      reason: thrown instanceof Error ? thrown.message : 'unknown',
    });
    const lost = this.flying;
    this.flying = [];
    void dead.destroy().catch((error: unknown) => {
      this.options.log.debug('dead pool thread did not close cleanly', { reason: String(error) });
    });
    this.pool = this.startThread();
    const loads = [...this.policies].map(([policy, source]): Waiting => ({
      operation: { op: 'load', policy, source },
      resolve: () => undefined,
      queuedUs: this.options.clock.monotonicUs(),
      settled: true,
    }));
    this.queue.unshift(...loads);
    for (const waiting of lost) settle(waiting, { kind: 'lost', failure: 'worker_died' });
    this.flush();
  }

  /** Gives up on operations past the deadline; the thread's late answer is thrown away. */
  private expire(): void {
    const nowUs = this.options.clock.monotonicUs();
    const stuckUs = this.options.deadlineMs * poolLimits.stuckAfterDeadlines * 1000;
    if (nowUs - this.leftUs > stuckUs && this.flying.length > 0 && !this.flying.some(isLoad)) {
      return this.revive(this.pool, new Error('it gave no answer'));
    }
    const load = this.flying.find(isLoad) ?? this.queue.find(isLoad);
    if (load !== undefined && nowUs - load.queuedUs < poolLimits.loadDeadlineMs * 1000) return;
    const limitUs = nowUs - this.options.deadlineMs * 1000;
    for (const list of [this.flying, this.queue]) {
      for (const waiting of list) {
        if (Math.max(waiting.queuedUs, this.readyUs) < limitUs) expireOne(waiting);
      }
    }
    // Nobody waits for these any more; `load`, `retire` and `finish` still have something to do.
    this.queue = this.queue.filter(({ settled, operation: { op } }) => {
      return !settled || op === 'load' || op === 'retire' || op === 'finish';
    });
  }

  private startThread(): Piscina {
    const { workerFile, workerData } = this.options;
    return new Piscina({
      filename: workerFile.href,
      workerData,
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: 1,
      idleTimeout: Infinity,
    });
  }
}

function isLoad({ operation }: Waiting): boolean {
  return operation.op === 'load';
}

/** `load` and `retire` have no deadline: nobody waits for an answer to the client on them. */
function expireOne(waiting: Waiting): void {
  const { op } = waiting.operation;
  if (op !== 'load' && op !== 'retire') settle(waiting, { kind: 'lost', failure: 'deadline' });
}

function settle(waiting: Waiting, result: LaneResult): void {
  if (waiting.settled) return;
  waiting.settled = true;
  waiting.resolve(result);
}

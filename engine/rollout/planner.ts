/**
 * The planner threads from the main thread's side: policies are linked and their databases compiled
 * there, away from traffic. A second thread starts when the first is busy, so that a policy that is
 * quickly made ready does not wait for one that is not. It ends when idle; the first stays for a
 * minute, since linking a rule set in a new thread takes a second.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../base/errors.ts';
import { engineLimits } from '../base/limits.ts';
import { planName, type SharedImages } from '../contract/shared-images.ts';
import type { KeyedPolicy } from '../contract/policy.ts';
import type { Diagnostic } from '../rules/language/diagnostic.ts';

/** One policy to be planned, or only linked: to be planned by the same thread perhaps. */
export interface PlannerTask {
  readonly id: number;
  readonly kind: 'link' | 'plan';
  readonly policy: KeyedPolicy;
  /** What other policies have in shared memory; equal databases are shared with them. */
  readonly inUse: SharedImages;
}

/** Whether a policy can serve, and what there is to say about it. */
export interface PlanOutcome {
  readonly ok: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly rules: number;
  /** Its plan and databases in shared memory, unless it was only linked. */
  readonly shared: SharedImages;
}

/** What the planner thread says. */
export type PlannerAnswer =
  | { readonly kind: 'done'; readonly id: number; readonly outcome: PlanOutcome }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }
  | {
      readonly kind: 'progress';
      readonly done: number;
      readonly total: number;
      readonly what: string;
    };

/** How the planner thread is started. */
export interface PlannerOptions {
  readonly entry: URL;
  /** Handed to the entry. */
  readonly settings: unknown;
  readonly onProgress: (done: number, total: number, what: string) => void;
  /** The threads are gone for now. */
  readonly onEnded?: () => void;
}

interface Waiting {
  readonly resolve: (outcome: PlanOutcome) => void;
  readonly reject: (error: AppError) => void;
}

/** A thread and how many policies it has to plan. */
interface PlannerThread {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
  /** Key of the policy that it linked last. */
  linked: string;
}

/** Plans policies in threads of its own, which end when they are idle. */
export class Planner {
  private readonly options: PlannerOptions;
  private readonly threads = new Set<PlannerThread>();
  private nextId = 1;
  private idle: NodeJS.Timeout | null = null;
  /** Outcomes of policies planned before, by key, without their databases. */
  private readonly known = new Map<string, Known>();
  /** Policies that are being planned, by key. */
  private readonly running = new Map<string, Promise<PlanOutcome>>();
  private inUse: SharedImages = new Map();
  /** Outcomes that nobody has asked for yet, by key, the newest last. */
  private readonly ahead = new Map<string, PlanOutcome>();
  /** The thread that prepares a policy that nobody waits for. */
  private preparing: PlannerThread | null = null;
  private lastPreparation: Promise<unknown> = Promise.resolve();
  private closed = false;

  constructor(options: PlannerOptions) {
    this.options = options;
  }

  /**
   * Plans one policy. A key that was planned before is planned again only if its databases are no
   * longer among those in use. Errors: `planner_failed`.
   */
  async plan(policy: KeyedPolicy): Promise<PlanOutcome> {
    const { key } = policy;
    const known = this.known.get(key);
    const shared = known && pick(this.inUse, known.groups);
    if (known && shared) return { ...known.outcome, shared };
    const early = this.ahead.get(key);
    if (early !== undefined) return early;
    const running = this.running.get(key);
    if (running !== undefined) return running;
    const asked = this.ask('plan', policy, this.threadFor(key));
    const planned = asked.finally(() => this.running.delete(key));
    this.running.set(key, planned);
    return this.remember(key, await planned);
  }

  private remember(key: string, outcome: PlanOutcome): PlanOutcome {
    if (this.known.size >= engineLimits.plannedPoliciesMax) this.known.clear();
    const groups = [...outcome.shared.keys()];
    this.known.set(key, { outcome: { ...outcome, shared: new Map() }, groups });
    return outcome;
  }

  /**
   * Links a policy, to say what is wrong with it; null where every thread has work already.
   * Errors: `planner_failed`.
   */
  async link(policy: KeyedPolicy): Promise<PlanOutcome | null> {
    const known = this.known.get(policy.key);
    if (known !== undefined) return known.outcome;
    const thread = this.freeThread();
    if (thread === null) return null;
    thread.linked = policy.key;
    return this.ask('link', policy, thread);
  }

  /** Begins to plan a policy that will soon be asked for; what fails then fails again. */
  planAhead(policy: KeyedPolicy): void {
    this.plan(policy).then(
      (outcome) => {
        if (this.inUse.has(planName(policy.key))) return;
        this.ahead.delete(policy.key);
        this.ahead.set(policy.key, outcome);
        const [oldest] = this.ahead.keys();
        if (this.ahead.size > engineLimits.plannedAheadMax) this.ahead.delete(oldest!);
        this.startIdling();
      },
      () => undefined,
    );
  }

  /**
   * Makes the databases of a policy that nobody waits for, one at a time, once no thread has work:
   * two that compile the same databases take twice the time. Errors: `planner_failed`.
   */
  prepare(policy: KeyedPolicy): Promise<unknown> {
    const prepared = this.lastPreparation.then(async () => {
      while (this.isBusy() && !this.closed) await delay(engineLimits.plannerPollMs);
      if (this.closed || this.known.has(policy.key)) return;
      this.preparing = this.threadFor(policy.key);
      await this.plan(policy).finally(() => (this.preparing = null));
    });
    this.lastPreparation = prepared.catch(() => undefined);
    return prepared;
  }

  /** Says which databases threads hold on to anyway. */
  use(groups: SharedImages): void {
    this.inUse = groups;
    for (const key of this.ahead.keys()) if (groups.has(planName(key))) this.ahead.delete(key);
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.idle) clearTimeout(this.idle);
    await Promise.all([...this.threads].map(({ worker }) => worker.terminate()));
  }

  private ask(
    kind: PlannerTask['kind'],
    policy: KeyedPolicy,
    thread: PlannerThread,
  ): Promise<PlanOutcome> {
    if (this.idle) clearTimeout(this.idle);
    thread.worker.ref();
    const id = this.nextId++;
    const inUse: SharedImages = kind === 'plan' ? this.inUse : new Map();
    return new Promise((resolve, reject) => {
      thread.waiting.set(id, { resolve, reject });
      thread.worker.postMessage({ id, kind, policy, inUse } satisfies PlannerTask);
    });
  }

  private isBusy(): boolean {
    return [...this.threads].some(({ waiting }) => waiting.size > 0);
  }

  /** An idle thread, or a new one; null when there is no room for one. */
  private freeThread(): PlannerThread | null {
    const idle = [...this.threads].find(({ waiting }) => waiting.size === 0);
    if (idle !== undefined) return idle;
    return this.threads.size < engineLimits.plannerThreadsMax ? this.start() : null;
  }

  /**
   * The thread that linked the policy, if it is idle; the one that prepares another, which makes
   * the same databases most likely; else one with nothing to do, or the least.
   */
  private threadFor(key: string): PlannerThread {
    if (this.preparing !== null) return this.preparing;
    const threads = [...this.threads].sort((left, right) => left.waiting.size - right.waiting.size);
    const linked = threads.find((one) => one.linked === key && one.waiting.size === 0);
    return linked ?? this.freeThread() ?? threads[0]!;
  }

  private start(): PlannerThread {
    const worker = new Worker(this.options.entry, { workerData: this.options.settings });
    const thread: PlannerThread = { worker, waiting: new Map(), linked: '' };
    worker.on('message', (answer: PlannerAnswer) => this.receive(thread, answer));
    worker.on('error', (cause) => this.fail(thread, cause));
    worker.on('exit', () => this.fail(thread, null));
    this.threads.add(thread);
    return thread;
  }

  private receive(thread: PlannerThread, answer: PlannerAnswer): void {
    if (answer.kind === 'progress') {
      return this.options.onProgress(answer.done, answer.total, answer.what);
    }
    const waiting = thread.waiting.get(answer.id);
    thread.waiting.delete(answer.id);
    if (answer.kind === 'done') waiting?.resolve(answer.outcome);
    else waiting?.reject(plannerFailed(answer.message, null));
    if (thread.waiting.size > 0) return;
    thread.worker.unref();
    this.startIdling();
  }

  private startIdling(): void {
    if (this.idle) clearTimeout(this.idle);
    if (this.isBusy()) return;
    const { plannerIdleMs, plannerRestMs } = engineLimits;
    this.idle = setTimeout(() => {
      this.stopAllBut(1);
      this.idle = setTimeout(() => this.stopAllBut(0), plannerRestMs).unref();
    }, plannerIdleMs).unref();
  }

  /** Forgets what nobody asked for, and ends all threads but the `kept` oldest. */
  private stopAllBut(kept: 0 | 1): void {
    this.ahead.clear();
    const others = [...this.threads].slice(kept);
    for (const thread of others) this.threads.delete(thread);
    const ended = others.map(({ worker }) => worker.terminate());
    void Promise.all(ended).then(() => this.options.onEnded?.());
  }

  private fail(thread: PlannerThread, cause: Error | null): void {
    this.threads.delete(thread);
    const lost = [...thread.waiting.values()];
    thread.waiting.clear();
    for (const one of lost) one.reject(plannerFailed('the planner thread ended', cause));
  }
}

interface Known {
  readonly outcome: PlanOutcome;
  readonly groups: readonly string[];
}

/** The named groups; undefined when one is missing. */
function pick(groups: SharedImages, keys: readonly string[]): SharedImages | undefined {
  if (!keys.every((key) => groups.has(key))) return undefined;
  return new Map(keys.map((key) => [key, groups.get(key)!]));
}

function plannerFailed(message: string, cause: Error | null): AppError {
  return new AppError('planner_failed', message, { source: 'internal', retryable: true, cause });
}

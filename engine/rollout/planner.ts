/**
 * Owns the planner threads from the main thread's side: policies are linked and their databases
 * compiled there, away from traffic. A second thread starts when the first is busy, so that a
 * policy that is quickly made ready does not wait for one that is not. They end when idle.
 */

import { Worker } from 'node:worker_threads';
import { AppError } from '../base/errors.ts';
import { engineLimits } from '../base/limits.ts';
import type { SharedImages } from '../contract/shared-images.ts';
import type { KeyedPolicy } from '../contract/policy.ts';
import type { Diagnostic } from '../rules/language/diagnostic.ts';

/** One policy to be planned. */
export interface PlannerTask {
  readonly id: number;
  readonly policy: KeyedPolicy;
  /** What other policies have in shared memory; equal databases are shared with them. */
  readonly inUse: SharedImages;
}

/** Whether a policy can serve, and what there is to say about it. */
export interface PlanOutcome {
  readonly ok: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly rules: number;
  /** Its plan and databases in shared memory; the caller decides how long they live. */
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

  constructor(options: PlannerOptions) {
    this.options = options;
  }

  /**
   * Plans one policy. A key that was planned before is planned again only if its databases are no
   * longer among those in use. Errors: `planner_failed`.
   */
  async plan(policy: KeyedPolicy): Promise<PlanOutcome> {
    const known = this.known.get(policy.key);
    const shared = known && pick(this.inUse, known.groups);
    if (known && shared) return { ...known.outcome, shared };
    const running = this.running.get(policy.key);
    if (running !== undefined) return running;
    const asked = this.ask(policy).finally(() => this.running.delete(policy.key));
    this.running.set(policy.key, asked);
    const outcome = await asked;
    if (this.known.size >= engineLimits.plannedPoliciesMax) this.known.clear();
    const groups = [...outcome.shared.keys()];
    this.known.set(policy.key, { outcome: { ...outcome, shared: new Map() }, groups });
    return outcome;
  }

  /** Whether a policy can serve; its databases are ready in the cache, perhaps not in memory. */
  async check(policy: KeyedPolicy): Promise<PlanOutcome> {
    return this.known.get(policy.key)?.outcome ?? (await this.plan(policy));
  }

  /** Says which databases threads hold on to anyway. */
  use(groups: SharedImages): void {
    this.inUse = groups;
  }

  async close(): Promise<void> {
    if (this.idle) clearTimeout(this.idle);
    await Promise.all([...this.threads].map(({ worker }) => worker.terminate()));
  }

  private ask(policy: KeyedPolicy): Promise<PlanOutcome> {
    if (this.idle) clearTimeout(this.idle);
    const thread = this.freest();
    thread.worker.ref();
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      thread.waiting.set(id, { resolve, reject });
      thread.worker.postMessage({ id, policy, inUse: this.inUse } satisfies PlannerTask);
    });
  }

  /** A thread with nothing to do, a new one, or the one that has the least to do. */
  private freest(): PlannerThread {
    const [first] = [...this.threads].sort((left, right) => left.waiting.size - right.waiting.size);
    const room = this.threads.size < engineLimits.plannerThreadsMax;
    return first === undefined || (first.waiting.size > 0 && room) ? this.start() : first;
  }

  private start(): PlannerThread {
    const worker = new Worker(this.options.entry, { workerData: this.options.settings });
    const thread: PlannerThread = { worker, waiting: new Map() };
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
    if ([...this.threads].some((one) => one.waiting.size > 0)) return;
    this.idle = setTimeout(() => this.stop(), engineLimits.plannerIdleMs);
    this.idle.unref();
  }

  private stop(): void {
    const ended = [...this.threads].map(({ worker }) => worker.terminate());
    this.threads.clear();
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

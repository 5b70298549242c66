/**
 * Owns the planner thread from the main thread's side: policies are linked and their databases
 * compiled there, away from traffic. The thread ends when it has been idle for a while.
 */

import { Worker } from 'node:worker_threads';
import { AppError } from './base/errors.ts';
import { engineLimits } from './base/limits.ts';
import type { KeyedPolicy, ThreadSettings } from './inspection-config.ts';
import type { SharedGroup } from './rules/plan/databases.ts';
import type { Diagnostic } from './rules/language/diagnostic.ts';

/** Databases in shared memory by key. */
type Groups = ReadonlyMap<string, SharedGroup>;

/** One policy to be planned. */
export interface PlannerTask {
  readonly id: number;
  readonly policy: KeyedPolicy;
  /** Databases in shared memory that other policies use; equal ones are shared with them. */
  readonly inUse: Groups;
}

/** Whether a policy can serve, and what there is to say about it. */
export interface PlanOutcome {
  readonly ok: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly rules: number;
  /** Databases in shared memory by key; the caller decides how long they live. */
  readonly shared: Groups;
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
  readonly settings: ThreadSettings;
  readonly onProgress: (done: number, total: number, what: string) => void;
}

interface Waiting {
  readonly resolve: (outcome: PlanOutcome) => void;
  readonly reject: (error: AppError) => void;
}

/** Plans policies in a thread of its own, which ends when it is idle. */
export class Planner {
  private readonly options: PlannerOptions;
  private worker: Worker | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 1;
  private idle: NodeJS.Timeout | null = null;
  /** Outcomes of policies planned before, by key, without their databases. */
  private readonly known = new Map<string, Known>();
  private inUse: Groups = new Map();

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
    const outcome = await this.ask(policy);
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
  use(groups: Groups): void {
    this.inUse = groups;
  }

  async close(): Promise<void> {
    if (this.idle) clearTimeout(this.idle);
    await this.worker?.terminate();
  }

  private ask(policy: KeyedPolicy): Promise<PlanOutcome> {
    if (this.idle) clearTimeout(this.idle);
    const worker = (this.worker ??= this.start());
    worker.ref();
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      worker.postMessage({ id, policy, inUse: this.inUse } satisfies PlannerTask);
    });
  }

  private start(): Worker {
    const worker = new Worker(this.options.entry, { workerData: this.options.settings });
    worker.on('message', (answer: PlannerAnswer) => this.take(answer));
    worker.on('error', (cause) => this.fail(cause));
    worker.on('exit', () => this.fail(null));
    return worker;
  }

  private take(answer: PlannerAnswer): void {
    if (answer.kind === 'progress') {
      return this.options.onProgress(answer.done, answer.total, answer.what);
    }
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (answer.kind === 'done') waiting?.resolve(answer.outcome);
    else waiting?.reject(plannerFailed(answer.message, null));
    if (this.waiting.size > 0) return;
    this.worker?.unref();
    this.idle = setTimeout(() => this.stop(), engineLimits.plannerIdleMs);
    this.idle.unref();
  }

  private stop(): void {
    const worker = this.worker;
    this.worker = null;
    void worker?.terminate();
  }

  private fail(cause: Error | null): void {
    if (this.waiting.size === 0) return;
    this.worker = null;
    const lost = [...this.waiting.values()];
    this.waiting.clear();
    for (const one of lost) one.reject(plannerFailed('the planner thread ended', cause));
  }
}

interface Known {
  readonly outcome: PlanOutcome;
  readonly groups: readonly string[];
}

/** The named groups; undefined when one is missing. */
function pick(groups: Groups, keys: readonly string[]): Groups | undefined {
  const picked = new Map<string, SharedGroup>();
  for (const key of keys) {
    const group = groups.get(key);
    if (group === undefined) return undefined;
    picked.set(key, group);
  }
  return picked;
}

function plannerFailed(message: string, cause: Error | null): AppError {
  return new AppError('planner_failed', message, { source: 'internal', retryable: true, cause });
}

/**
 * The front threads: starts them, gives all of them each generation, takes their finished requests,
 * replaces one that died, and stops them. Serves nothing itself.
 */

import { Worker } from 'node:worker_threads';
import { AppError } from '../../../base/errors.ts';
import { collectGarbage } from '../../../base/garbage.ts';
import { frontLimits, tlsLimits } from '../../../base/delivery-limits.ts';
import type { ShadowDelta } from '../../contract/shadow.ts';
import type { LearningDelta } from '../../contract/api-learning.ts';
import type { ClientsDelta } from '../../contract/detection-content.ts';
import type { ApiCountDelta, EndpointDelta } from '../../contract/api-counts.ts';
import type { SharedUses } from '../../contract/bot.ts';
import type { CounterDelta, RankingDelta } from '../../contract/counters.ts';
import type { SharedImages } from '../../contract/shared-images.ts';
import type { EvidenceRecord } from '../../contract/evidence.ts';
import type { FactFault } from '../../contract/fact-fault.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { notOverloaded, worseOverload, type OverloadStatus } from '../../contract/overload.ts';
import type { OriginNote } from '../../contract/health.ts';
import type { ListenerKind } from '../../../base/listener.ts';
import type { RoutesConfig } from '../../contract/site.ts';
import type { UnhealthyAddresses } from '../../upstream/upstream.ts';
import type { ClientNotes } from '../../contract/trust.ts';
import { unpackEvents } from '../facts/event-wire.ts';
import { unpackEvidence } from '../facts/evidence-wire.ts';
import { shareQuota } from '../facts/exemplar-quota.ts';
import { FactFaults } from '../facts/fact-faults.ts';
import { FrontThread, freeFd, freeSlot, threadDied, withFd } from './thread-handle.ts';
import { probePort } from '../clients/port-probe.ts';
import type { FrontSettings } from '../front-context.ts';
import type { ListenAddress } from '../listener.ts';
import {
  FIRST_ROUTES,
  type FromFrontThread,
  type FrontThreadData,
  type UseQuestion,
} from './thread-messages.ts';
import type { FrontQuestion } from './thread-questions.ts';

/** How front threads are started. */
export interface FrontThreadsOptions {
  /** Module that calls `runFrontWorker` in the thread. */
  readonly entry: URL;
  /** Threads; more than one needs an entry with `openSocket`. */
  readonly count: number;
  /** Port 0: the first thread takes a free one and the others join it. */
  readonly listen: ListenAddress;
  /**
   * Sockets bound to `listen`, one a thread, that somebody else holds, too: clients wait in them
   * while a thread, or this process, is being replaced. Not for the listener `uws`.
   */
  readonly inheritedFds?: readonly number[];
  /** As `listen`, for clients that speak TLS; null for none. */
  readonly listenSecure?: ListenAddress | null;
  readonly inheritedSecureFds?: readonly number[];
  readonly routes: RoutesConfig;
  readonly settings?: Partial<FrontSettings>;
  /** Default `strict`. */
  readonly listener?: ListenerKind;
  /** Handed to the entry as `extra`; structured-cloneable. */
  readonly extra?: unknown;
  /** The run's tally, with a slot for each thread; none when absent. */
  readonly tallyPath?: string;
  /** Finished requests; `dropped` counts those that were lost since the last call. */
  readonly onEvents: (events: readonly RequestEvent[], dropped: number) => void;
  /** Evidence of finished requests; `dropped` counts what was lost since the last call. */
  readonly onEvidence?: (records: readonly EvidenceRecord[], dropped: number) => void;
  /** What was counted since the last call, exactly, whatever became of the events. */
  readonly onCounters?: (deltas: readonly CounterDelta[]) => void;
  /** The most frequent values since the last call. */
  readonly onRankings?: (deltas: readonly RankingDelta[]) => void;
  /** Called with endpoints that threads learned, and what they counted of documented APIs. */
  readonly onEndpoints?: (deltas: readonly EndpointDelta[]) => void;
  /** Called with what threads learned of the structure of bodies. */
  readonly onLearning?: (deltas: readonly LearningDelta[]) => void;
  readonly onClients?: (deltas: readonly ClientsDelta[]) => void;
  /** Called with how decisions of a second ruleset compare. */
  readonly onShadows?: (deltas: readonly ShadowDelta[]) => void;
  readonly onApiCounts?: (deltas: readonly ApiCountDelta[]) => void;
  /** What was noticed about clients since the last call. */
  readonly onClientNotes?: (notes: ClientNotes) => void;
  /** Origin addresses of one thread that failed since the last call, or answer again. */
  readonly onOrigins?: (notes: readonly OriginNote[]) => void;
  /** Uses a challenge up at all nodes; absent where nodes share none. */
  readonly useChallenge?: SharedUses['use'];
  /** The overload of the worst thread changed. */
  readonly onOverload?: (status: OverloadStatus) => void;
  /** Reporting requests failed, in a thread or here; the requests were served. */
  readonly onFactFaults?: (faults: readonly FactFault[]) => void;
  /** A thread died by itself; it is being replaced. */
  readonly onThreadDied?: (cause: Error | null) => void;
  /** The main thread has collected the garbage of a change of generations. */
  readonly onCollected?: () => void;
  /** The last request on a generation ended in one thread. */
  readonly onReleased?: (revision: string) => void;
}

/** The front threads as one. */
export interface FrontThreads {
  readonly port: number;
  /** Where clients speak TLS; 0 for nowhere. */
  readonly securePort: number;
  /** Open client connections of all threads, a moment ago. */
  readonly connections: number;
  /** Resolves when every thread serves `routes`. Errors: that of the first thread that cannot. */
  apply(routes: RoutesConfig): Promise<void>;
  /** Asks every thread for `count` samples of the clients of a site; 0 stops. */
  sample(siteId: string, count: number): void;
  /** Tells every thread, present and future, the keys of session tickets. */
  setTicketKeys(keys: Uint8Array): void;
  /** Resolves when every thread gives an answer to an authority, by token; null removes it. */
  setAcmeAnswer(token: string, keyAuthorization: string | null): Promise<void>;
  /** Offers every thread databases for policies that it builds on first use. */
  offerDatabases(groups: SharedImages): void;
  /** Tells every thread, present and future, which addresses probes found unhealthy. */
  setUnhealthy(unhealthy: UnhealthyAddresses): void;
  /** Tells every thread, present and future, which addresses requests found failing. */
  setFailing(failing: UnhealthyAddresses): void;
  /** Asks every thread about itself, one answer a thread; with `only`, that one. */
  ask(question: FrontQuestion, only?: number): Promise<readonly unknown[]>;
  /** Lets requests finish, then ends the threads. */
  drain(): Promise<void>;
}

/** Starts the threads; resolves when all of them listen. */
export async function startFrontThreads(options: FrontThreadsOptions): Promise<FrontThreads> {
  const threads = new Threads(options);
  await threads.start();
  return threads;
}

class Threads implements FrontThreads {
  port = 0;
  securePort: number;
  private ticketKeys: Uint8Array | null = null;
  private readonly acmeAnswers = new Map<string, string>();
  private readonly options: FrontThreadsOptions;
  private readonly quota = shareQuota();
  private readonly faults = new FactFaults();
  private readonly threads = new Set<FrontThread>();
  private routes: RoutesConfig;
  private nextId = FIRST_ROUTES + 1;
  private stopping = false;
  private deaths = 0;
  private overload = notOverloaded;
  private unhealthy: UnhealthyAddresses = new Map();
  private failing: UnhealthyAddresses = new Map();
  private collecting: NodeJS.Timeout | null = null;

  constructor(options: FrontThreadsOptions) {
    this.options = options;
    this.routes = options.routes;
    this.port = options.listen.port;
    this.securePort = options.listenSecure?.port ?? 0;
  }

  get connections(): number {
    let sum = 0;
    for (const { connections } of this.threads) sum += connections;
    return sum;
  }

  async start(): Promise<void> {
    const { inheritedFds = [], listen } = this.options;
    if (inheritedFds.length === 0) {
      const free = await probePort(listen);
      // uWebSockets.js shares no port that the system chose.
      if (this.options.listener === 'uws') this.port = free;
    }
    const { inheritedSecureFds = [], listenSecure } = this.options;
    if (listenSecure && inheritedSecureFds.length === 0) await probePort(listenSecure);
    // Where nobody holds sockets, the first alone: the others bind the free port that it took.
    const alone = inheritedFds.length === 0 ? 1 : 0;
    if (alone === 1) await this.startThread();
    await Promise.all(Array.from({ length: this.options.count - alone }, () => this.startThread()));
    this.collectSoon();
  }

  async apply(routes: RoutesConfig): Promise<void> {
    const id = this.nextId++;
    const before = this.routes;
    this.routes = routes;
    const threads = [...this.threads];
    const half = Math.ceil(threads.length / 2);
    try {
      // Half of the threads build while the others serve: building takes a core.
      await this.applyTo(threads.slice(0, half), id, routes);
      await this.applyTo(threads.slice(half), id, routes);
      this.collectSoon();
    } catch (thrown) {
      // A thread that is replaced later must not start with what could not be served; but one that
      // died on the way says nothing against these routes.
      const died = thrown instanceof AppError && thrown.code === threadDied;
      if (!died && this.routes === routes) this.routes = before;
      throw thrown;
    }
  }

  private async applyTo(
    threads: readonly FrontThread[],
    id: number,
    routes: RoutesConfig,
  ): Promise<void> {
    // One that is gone was replaced with these routes; later ones may have come meanwhile.
    const meant = this.routes === routes ? threads.filter((one) => this.threads.has(one)) : [];
    const waits = meant.map((thread) => {
      const wait = thread.wait(id);
      thread.send({ kind: 'routes', id, routes });
      return wait;
    });
    await Promise.all(waits);
  }

  sample(siteId: string, count: number): void {
    for (const thread of this.threads) thread.send({ kind: 'sample', siteId, count });
  }

  setTicketKeys(keys: Uint8Array): void {
    this.ticketKeys = keys;
    for (const thread of this.threads) thread.send({ kind: 'ticket_keys', keys });
  }

  async setAcmeAnswer(token: string, keyAuthorization: string | null): Promise<void> {
    this.acmeAnswers.delete(token);
    if (keyAuthorization !== null) this.acmeAnswers.set(token, keyAuthorization);
    if (this.acmeAnswers.size > tlsLimits.acmeTokensMax) {
      this.acmeAnswers.delete(this.acmeAnswers.keys().next().value!);
    }
    await Promise.all([...this.threads].map((thread) => this.sendAnswer(thread, token)));
  }

  private sendAnswer(thread: FrontThread, token: string): Promise<void> {
    const id = this.nextId++;
    const keyAuthorization = this.acmeAnswers.get(token) ?? null;
    const wait = thread.wait(id);
    thread.send({ kind: 'acme', id, token, keyAuthorization });
    return wait;
  }

  offerDatabases(groups: SharedImages): void {
    for (const thread of this.threads) thread.send({ kind: 'databases', groups });
  }

  setUnhealthy(unhealthy: UnhealthyAddresses): void {
    this.unhealthy = unhealthy;
    for (const thread of this.threads) thread.send({ kind: 'health', unhealthy });
  }

  setFailing(failing: UnhealthyAddresses): void {
    this.failing = failing;
    for (const thread of this.threads) thread.send({ kind: 'failing', failing });
  }

  ask(question: FrontQuestion, only?: number): Promise<readonly unknown[]> {
    const meant = [...this.threads].filter((_thread, at) => only === undefined || at === only);
    const asked = meant.map((thread) =>
      thread.questions.ask((id) => thread.send({ kind: 'question', id, question })),
    );
    return Promise.all(asked);
  }

  async drain(): Promise<void> {
    this.stopping = true;
    const exits = [...this.threads].map(
      (thread) => new Promise<void>((resolve) => thread.worker.once('exit', () => resolve())),
    );
    for (const thread of this.threads) thread.send({ kind: 'drain' });
    await Promise.all(exits);
  }

  /** Here, too, so that the databases of generations that are gone are freed. */
  private collectSoon(): void {
    this.collecting ??= setTimeout(() => {
      this.collecting = null;
      collectGarbage();
      this.options.onCollected?.();
    }, frontLimits.collectDelayMs).unref();
  }

  /** Sockets come as descriptors: a thread closes what it never opened, and Node must not warn. */
  private makeWorker(workerData: FrontThreadData): Worker {
    return new Worker(this.options.entry, { workerData, trackUnmanagedFds: false });
  }

  private async startThread(): Promise<void> {
    const { listen, listenSecure, inheritedFds, inheritedSecureFds } = this.options;
    const threads = [...this.threads];
    const fd = freeFd(
      inheritedFds,
      threads.map((one) => one.fd),
    );
    const secureFd = freeFd(
      inheritedSecureFds,
      threads.map((one) => one.secureFd),
    );
    const slot = freeSlot(threads.map((one) => one.slot));
    const { tallyPath } = this.options;
    const workerData: FrontThreadData = {
      listen: withFd({ ...listen, port: this.port }, fd),
      listenSecure: listenSecure
        ? withFd({ ...listenSecure, port: this.securePort, secure: true }, secureFd)
        : null,
      settings: this.options.settings ?? {},
      listener: this.options.listener ?? 'strict',
      threads: this.options.count,
      extra: this.options.extra,
      tally: tallyPath === undefined ? null : { path: tallyPath, slot },
      quota: this.quota,
    };
    const thread = new FrontThread(this.makeWorker(workerData), slot, fd, secureFd);
    this.threads.add(thread);
    let cause: Error | null = null;
    thread.worker.on('error', (error) => (cause = error));
    thread.worker.on('message', (message: FromFrontThread) => this.receive(thread, message));
    thread.worker.on('exit', () => this.onExit(thread, cause));
    thread.send({ kind: 'health', unhealthy: this.unhealthy });
    thread.send({ kind: 'failing', failing: this.failing });
    if (this.ticketKeys !== null) thread.send({ kind: 'ticket_keys', keys: this.ticketKeys });
    thread.send({ kind: 'routes', id: FIRST_ROUTES, routes: this.routes });
    await thread.wait(FIRST_ROUTES);
    await Promise.all([...this.acmeAnswers.keys()].map((token) => this.sendAnswer(thread, token)));
  }

  /** A fault in taking what threads report costs that message, not the process. */
  private receive(thread: FrontThread, message: FromFrontThread): void {
    try {
      this.onMessage(thread, message);
    } catch (thrown) {
      this.faults.note('delivery', thrown);
      this.options.onFactFaults?.(this.faults.drain());
    }
  }

  private onMessage(thread: FrontThread, message: FromFrontThread): void {
    switch (message.kind) {
      case 'listening':
        thread.port = message.port;
        this.port = message.port;
        this.securePort = message.securePort;
        this.deaths = 0;
        return thread.settle(FIRST_ROUTES, null);
      case 'applied':
        return thread.settle(message.id, null);
      case 'failed': {
        const { code, message: text } = message;
        return thread.settle(message.id, new AppError(code, text, { source: 'config' }));
      }
      case 'released':
        return this.options.onReleased?.(message.revision);
      case 'events':
        // After a turn of the event loop: sockets to control come between batches.
        setImmediate(() => thread.send({ kind: 'events_taken' }));
        return this.options.onEvents(unpackEvents(message.batch), message.batch.dropped);
      case 'evidence':
        setImmediate(() => thread.send({ kind: 'evidence_taken' }));
        return this.options.onEvidence?.(unpackEvidence(message.batch), message.batch.dropped);
      case 'fact_faults':
        return this.options.onFactFaults?.(message.faults);
      case 'counters':
        return this.options.onCounters?.(message.deltas);
      case 'rankings':
        return this.options.onRankings?.(message.deltas);
      case 'endpoints':
        return this.options.onEndpoints?.(message.deltas);
      case 'learning':
        return this.options.onLearning?.(message.deltas);
      case 'clients':
        return this.options.onClients?.(message.deltas);
      case 'shadows':
        return this.options.onShadows?.(message.deltas);
      case 'api_counts':
        return this.options.onApiCounts?.(message.deltas);
      case 'connections':
        thread.connections = message.count;
        return;
      case 'answer':
        return thread.questions.take(message.answer);
      case 'use':
        return void this.useChallenge(thread, message);
      case 'overload':
        thread.overload = message.status;
        return this.tellOverload();
      case 'client_notes':
        return this.options.onClientNotes?.(message.notes);
      case 'origins':
        return this.options.onOrigins?.(message.notes);
      default:
    }
  }

  private async useChallenge(thread: FrontThread, question: UseQuestion): Promise<void> {
    const { id, challenge, seconds } = question;
    const answer = (await this.options.useChallenge?.(challenge, seconds)) ?? 'alone';
    thread.send({ kind: 'used', id, answer });
  }

  private tellOverload(): void {
    let worst = notOverloaded;
    for (const { overload } of this.threads) worst = worseOverload(overload, worst);
    if (worst === this.overload) return;
    this.overload = worst;
    this.options.onOverload?.(worst);
  }

  /** A thread that had served is replaced after a growing pause; one that never could is not. */
  private onExit(thread: FrontThread, cause: Error | null): void {
    this.threads.delete(thread);
    this.tellOverload();
    thread.questions.end();
    const text = 'a front thread ended before it answered';
    const error = new AppError(threadDied, text, { source: 'internal', cause });
    for (const id of [...thread.pending.keys()]) thread.settle(id, error);
    if (this.stopping || thread.port === 0) return;
    this.options.onThreadDied?.(cause);
    const pauseMs = Math.min(
      frontLimits.threadRestartPauseMs * 2 ** this.deaths++,
      frontLimits.threadRestartPauseMaxMs,
    );
    setTimeout(() => {
      if (!this.stopping) this.startThread().catch((failed: Error) => this.onRestartFailed(failed));
    }, pauseMs);
  }

  private onRestartFailed(cause: Error): void {
    this.options.onThreadDied?.(cause);
    if (this.stopping) return;
    setTimeout(() => {
      if (!this.stopping) this.startThread().catch((failed: Error) => this.onRestartFailed(failed));
    }, frontLimits.threadRestartPauseMaxMs);
  }
}

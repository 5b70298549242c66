/**
 * The body of a front thread: one front, driven by messages. The composition root's thread entry
 * calls it and says how inspectors are made; nothing of the rules is known here.
 */

import type { ShadowDelta } from '../../contract/shadow.ts';
import type { MessagePort } from 'node:worker_threads';
import { answerOfThread } from '../../../base/debug-figures.ts';
import { toAppError } from '../../../base/errors.ts';
import { systemClock } from '../../../base/clock.ts';
import { frontLimits } from '../../../base/delivery-limits.ts';
import type { SharedImages } from '../../contract/shared-images.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type { Inspector } from '../../contract/inspection.ts';
import { standardLogging } from '../../contract/logging.ts';
import type { RoutesConfig, SiteConfig } from '../../contract/site.ts';
import type { GuardServices } from '../../guard/guard.ts';
import { OverloadController } from '../../overload/controller.ts';
import { PressureProbe } from '../../overload/pressure-probe.ts';
import type { SchemaServices } from '../../schema/schema-registry.ts';
import { shareListening } from '../../system/sockets.ts';
import type { UnhealthyAddresses } from '../../upstream/upstream.ts';
import { CaptureRoom } from '../facts/body-capture.ts';
import { FrontCounters } from '../facts/counters.ts';
import { FrontEndpoints } from '../facts/endpoints.ts';
import { EventBatcher } from '../facts/event-batcher.ts';
import { EvidenceBatcher } from '../facts/evidence-batcher.ts';
import { createFront, type Front, type NextGeneration } from './front.ts';
import { ExemplarQuota } from '../facts/exemplar-quota.ts';
import { FactFaults } from '../facts/fact-faults.ts';
import { LogSampler } from '../facts/log-sampler.ts';
import { FrontRankings } from '../facts/rankings.ts';
import { RequestFacts, type EventSampler } from '../facts/request-facts.ts';
import { TallySlot } from '../facts/tally-slot.ts';
import { Tracer } from '../facts/tracer.ts';
import { ClientWatch } from '../facts/client-watch.ts';
import type { ListenAddress } from '../listener.ts';
import type { FromFrontThread, FrontThreadData, ToFrontThread } from './thread-messages.ts';
import type { FrontQuestion } from './thread-questions.ts';
import type { ThreadUses } from './thread-uses.ts';

/** What one generation's inspection is, as the composition root makes it. */
export interface PreparedInspection {
  readonly inspectorOf: (site: SiteConfig) => Inspector | null;
  /** Frees it; called when the last request on it has finished. */
  readonly release: () => void;
}

/** What a front thread is given by the composition root. */
export interface FrontWorkerParts {
  /** Builds inspection for a generation, off the request path; may take its time. */
  readonly prepare: (routes: RoutesConfig) => Promise<PreparedInspection>;
  /** Databases for policies that are built on first use. */
  readonly takeDatabases?: (groups: SharedImages) => void;
  /** What guards look things up in. */
  readonly guardServices: GuardServices;
  /** Who asks other nodes about challenges; absent where nobody does. */
  readonly uses?: ThreadUses;
  /** Shortest wait of inspection in other threads since the last call; default none. */
  readonly poolWaitMs?: () => number;
  /** How decisions of a second ruleset compare since the last call; default none. */
  readonly drainShadows?: () => ShadowDelta[];
  /** What checks of API documents need. */
  readonly schemaServices?: SchemaServices;
  /** False for finished requests that nobody asks about; they stay in the thread. */
  readonly wantsEvent: (event: RequestEvent) => boolean;
  /** Requests are chosen by the log policy of their site. */
  readonly samples?: boolean;
  /** Chooses them; absent for the one that the product has. */
  readonly sampler?: EventSampler;
  /** Binds a socket that threads share (SO_REUSEPORT); null when there is one thread only. */
  readonly openSocket: ((host: string, port: number) => { fd: number; port: number }) | null;
}

/** Runs a front until it is drained, or could not start; resolves then. */
export async function runFrontWorker(
  port: MessagePort,
  data: FrontThreadData,
  parts: FrontWorkerParts,
): Promise<void> {
  const worker = new FrontWorker(port, data, parts);
  await worker.ended;
  worker.close();
  port.close();
}

class FrontWorker {
  readonly ended: Promise<void>;
  private readonly port: MessagePort;
  private readonly data: FrontThreadData;
  private readonly parts: FrontWorkerParts;
  private readonly batcher: EventBatcher;
  private readonly counters = new FrontCounters();
  private readonly tally: TallySlot;
  private readonly rankings = new FrontRankings();
  private readonly endpoints = new FrontEndpoints();
  private readonly sampler: EventSampler;
  private readonly captures = new CaptureRoom();
  private readonly tracer = new Tracer(systemClock, () => this.counters.addFate('trace_left_out'));
  private readonly evidence: EvidenceBatcher;
  private readonly faults = new FactFaults();
  private readonly facts: RequestFacts;
  private readonly clientWatch = new ClientWatch();
  private readonly overload = new OverloadController();
  private readonly probe: PressureProbe;
  private readonly counting: NodeJS.Timeout;
  private readonly ranking: NodeJS.Timeout;
  /** Revisions that are built or serve here, oldest first. */
  private readonly generations: string[] = [];
  /** Connections that the main thread knows of. */
  private connections = 0;
  private front: Front | null = null;
  private unhealthy: UnhealthyAddresses = new Map();
  private failing: UnhealthyAddresses = new Map();
  private ticketKeys: Uint8Array | null = null;
  /** One after another: a later generation never overtakes an earlier one. */
  private applying: Promise<void> = Promise.resolve();
  private end!: () => void;

  constructor(port: MessagePort, data: FrontThreadData, parts: FrontWorkerParts) {
    this.port = port;
    this.data = data;
    this.parts = parts;
    this.tally = new TallySlot(data.tally);
    this.batcher = new EventBatcher((batch) =>
      this.attempt(() => this.send({ kind: 'events', batch })),
    );
    this.evidence = new EvidenceBatcher((batch) =>
      this.attempt(() =>
        this.port.postMessage({ kind: 'evidence', batch } satisfies FromFrontThread, [
          batch.bytes.buffer,
        ]),
      ),
    );
    this.sampler = parts.sampler ?? new LogSampler(new ExemplarQuota(data.quota));
    this.facts = new RequestFacts({
      ...{ counters: this.counters, tally: this.tally, rankings: this.rankings },
      ...{ endpoints: this.endpoints, captures: this.captures, evidence: this.evidence },
      ...{ batcher: this.batcher, faults: this.faults, wantsEvent: parts.wantsEvent },
      sampler: parts.samples === true ? this.sampler : null,
    });
    const poolWaitMs = parts.poolWaitMs ?? ((): number => 0);
    const heldShare = (): number => this.front?.heldShare ?? 0;
    this.probe = new PressureProbe(systemClock, this.overload, { poolWaitMs, heldShare }, () =>
      this.send({ kind: 'overload', status: this.overload.status }),
    );
    this.counting = setInterval(this.sendCounts, frontLimits.counterIntervalMs);
    this.ranking = setInterval(this.sendRankings, frontLimits.rankingIntervalMs);
    this.ended = new Promise((resolve) => (this.end = resolve));
    port.on('message', (message: ToFrontThread) => this.receive(message));
  }

  close(): void {
    this.probe.stop();
    clearInterval(this.counting);
    clearInterval(this.ranking);
  }

  private send(message: FromFrontThread): void {
    this.port.postMessage(message);
  }

  private receive(message: ToFrontThread): void {
    if (message.kind === 'events_taken') return this.batcher.taken();
    if (message.kind === 'evidence_taken') return this.evidence.taken();
    if (message.kind === 'health') {
      this.unhealthy = message.unhealthy;
      this.front?.setUnhealthy(message.unhealthy);
      return;
    }
    if (message.kind === 'failing') {
      this.failing = message.failing;
      this.front?.setFailing(message.failing);
      return;
    }
    if (message.kind === 'ticket_keys') {
      this.ticketKeys = message.keys;
      return this.front?.setTicketKeys(message.keys);
    }
    if (message.kind === 'acme') {
      this.front?.setAcmeAnswer(message.token, message.keyAuthorization);
      return this.send({ kind: 'applied', id: message.id });
    }
    if (message.kind === 'used') return this.parts.uses?.settle(message.id, message.answer);
    if (message.kind === 'question') return void this.answer(message.id, message.question);
    if (message.kind === 'drain') return void this.drain();
    if (message.kind === 'databases') return this.parts.takeDatabases?.(message.groups);
    if (message.kind === 'sample') return this.clientWatch.want(message.siteId, message.count);
    const { id, routes } = message;
    this.applying = this.applying.then(() => this.apply(id, routes));
  }

  private async apply(id: number, routes: RoutesConfig): Promise<void> {
    try {
      const generation = await this.generationFor(routes);
      if (this.front === null) await this.start(generation);
      else {
        this.front.swap(generation);
        this.endpoints.keep(new Set(routes.sites.map((site) => site.id)));
        this.send({ kind: 'applied', id });
      }
    } catch (thrown) {
      this.send(failure(id, thrown));
      if (this.front === null) this.end();
    }
  }

  private async start(first: NextGeneration): Promise<void> {
    const front = createFront({
      ...first,
      settings: this.data.settings,
      listener: this.data.listener,
      clientWatch: this.clientWatch,
      overload: this.overload,
      guardServices: {
        ...this.parts.guardServices,
        countListHit: (bindingId, address) => this.counters.addListHit(bindingId, address),
      },
      ...(this.parts.schemaServices && { schemaServices: this.parts.schemaServices }),
      ...(this.parts.samples === true ? { captures: this.captures, tracer: this.tracer } : {}),
      onRequestDone: (event, policyId, evidence) =>
        this.facts.requestDone(event, policyId, evidence),
      onMessageDone: (event, policyId, evidence) =>
        this.facts.messageDone(event, policyId, evidence),
      onEventFault: (thrown) => this.facts.failed('event', thrown),
      onClientRefused: (why) => this.counters.addRefusedClient(why),
      onProxyHeaderRefused: () => this.counters.addRefusedProxyHeader(),
      onHandshake: (outcome) => {
        if (outcome !== 'complete') this.counters.addFailedHandshake(outcome);
      },
    });
    front.setUnhealthy(this.unhealthy);
    front.setFailing(this.failing);
    if (this.ticketKeys !== null) front.setTicketKeys(this.ticketKeys);
    const { listen, listenSecure } = this.data;
    const port = await this.bind(front, listen);
    const securePort = listenSecure === null ? 0 : await this.bind(front, listenSecure);
    this.send({ kind: 'listening', port, securePort });
    this.front = front;
    // Not before: what a thread does to begin is no overload.
    this.probe.start();
  }

  /** Answers a question about this thread; never throws. */
  private async answer(id: number, question: FrontQuestion): Promise<void> {
    try {
      const { about, seconds } = question;
      const result =
        about === 'generations'
          ? { generations: [...this.generations], connections: this.front?.connections ?? 0 }
          : await answerOfThread({ about, seconds });
      this.send({ kind: 'answer', answer: { id, result, error: '' } });
    } catch (thrown) {
      const { message: error } = toAppError(thrown);
      this.send({ kind: 'answer', answer: { id, result: null, error } });
    }
  }

  private bind(front: Front, address: ListenAddress): Promise<number> {
    const { host, port, fd } = address;
    // A descriptor of its own: the listener closes it when it stops, and others hold the socket.
    if (fd !== undefined) return front.listen({ ...address, fd: shareListening(fd) });
    // uWebSockets.js binds by itself, with SO_REUSEPORT.
    const { openSocket } = this.parts;
    if (openSocket === null || this.data.listener === 'uws') return front.listen(address);
    return front.listen({ ...address, ...openSocket(host, port) });
  }

  private async generationFor(routes: RoutesConfig): Promise<NextGeneration> {
    const { inspectorOf, release } = await this.parts.prepare(routes);
    const logging = routes.logging ?? standardLogging;
    this.sampler.use(logging);
    this.captures.use(logging, this.data.threads);
    this.tracer.use(logging.tracing ?? null, this.data.threads);
    this.generations.push(routes.revision);
    const onReleased = (): void => {
      this.generations.splice(this.generations.indexOf(routes.revision), 1);
      release();
      this.send({ kind: 'released', revision: routes.revision });
    };
    return { routes, inspectorOf, onReleased };
  }

  private async drain(): Promise<void> {
    if (this.front === null) await this.applying;
    if (this.front === null) return;
    await this.front.drain();
    this.batcher.flush(true);
    this.evidence.flush();
    this.sendCounts();
    this.sendRankings();
    this.send({ kind: 'drained' });
    this.end();
  }

  /** Hands something on; what fails is lost and reported. */
  private attempt(send: () => void): void {
    try {
      send();
    } catch (thrown) {
      this.facts.failed('delivery', thrown);
    }
  }

  private readonly sendRankings = (): void => {
    this.attempt(this.tellRankings);
  };

  private readonly sendCounts = (): void => {
    this.attempt(this.tellCounts);
    const faults = this.faults.drain();
    if (faults.length > 0) this.send({ kind: 'fact_faults', faults });
  };

  private readonly tellRankings = (): void => {
    const deltas = this.rankings.drain();
    if (deltas.length > 0) this.send({ kind: 'rankings', deltas });
    const endpoints = this.endpoints.drain();
    if (endpoints.length > 0) this.send({ kind: 'endpoints', deltas: endpoints });
    const learned = this.front?.drainLearning() ?? [];
    if (learned.length > 0) this.send({ kind: 'learning', deltas: learned });
    const clients = this.front?.drainClients() ?? [];
    if (clients.length > 0) this.send({ kind: 'clients', deltas: clients });
    const shadows = this.parts.drainShadows?.() ?? [];
    if (shadows.length > 0) this.send({ kind: 'shadows', deltas: shadows });
  };

  private readonly tellCounts = (): void => {
    const count = this.front?.connections ?? 0;
    if (count !== this.connections) this.send({ kind: 'connections', count });
    this.connections = count;
    const deltas = this.counters.drain();
    if (deltas.length > 0) this.send({ kind: 'counters', deltas });
    const apis = this.front?.drainApiCounts() ?? [];
    if (apis.length > 0) this.send({ kind: 'api_counts', deltas: apis });
    const notes = this.clientWatch.drain();
    if (notes !== null) this.send({ kind: 'client_notes', notes });
    const origins = this.front?.drainOriginNotes() ?? [];
    if (origins.length > 0) this.send({ kind: 'origins', notes: origins });
  };
}

function failure(id: number, thrown: unknown): FromFrontThread {
  const { code, message } = toAppError(thrown, 'front_thread');
  return { kind: 'failed', id, code, message };
}

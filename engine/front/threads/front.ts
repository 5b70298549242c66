/**
 * One front: the listener of a thread and the generation it serves. Starting threads and sending
 * events elsewhere is others' work.
 */

import { systemClock, type Clock } from '../../../base/clock.ts';
import { Deadlines } from '../../base/deadlines.ts';
import {
  frontLimits,
  httpLimits,
  proxyHeaderLimits,
  tlsLimits,
} from '../../../base/delivery-limits.ts';
import type { RequestDone } from '../../contract/events.ts';
import type { OriginNote } from '../../contract/health.ts';
import type { Inspector } from '../../contract/inspection.ts';
import type { ListenerKind } from '../../../base/listener.ts';
import type { SiteTable, SiteConfig } from '../../contract/site.ts';
import { noGuardServices, type GuardKind, type GuardServices } from '../../guard/guard.ts';
import { RequestView } from '../../guard/request-view.ts';
import { Learner } from '../../schema/learning/learner.ts';
import { SchemaRegistry } from '../../schema/schema-registry.ts';
import type { SchemaServices } from '../../schema/schema-registry.ts';
import type { LearningDelta } from '../../contract/api-learning.ts';
import type { ClientsDelta } from '../../contract/detection-content.ts';
import { ClientCounts } from '../../detect/learning/client-counts.ts';
import type { ApiCountDelta } from '../../contract/api-counts.ts';
import { ByteWriter } from '../../http/byte-writer.ts';
import { OverloadController } from '../../overload/controller.ts';
import { UpstreamRegistry, type UnhealthyAddresses } from '../../upstream/upstream.ts';
import type { CaptureRoom } from '../facts/body-capture.ts';
import type { FrontContext, FrontSettings } from '../front-context.ts';
import { Generation } from '../generation.ts';
import { HeldBudget } from '../wire/held-budget.ts';
import type { ListenAddress, Listener } from '../listener.ts';
import { StrictListener } from '../clients/listener-strict.ts';
import { UwsListener } from '../clients/listener-uws.ts';
import { RequestIds } from '../request-id.ts';
import { SpareReaders } from '../wire/spare-readers.ts';
import { AcmeTokens } from '../acme-tokens.ts';
import { ClientWatch } from '../facts/client-watch.ts';
import { FloodWatch } from '../facts/flood-watch.ts';
import type { Tracer } from '../facts/tracer.ts';
import { SecureContexts } from '../../tls/secure-contexts.ts';

/** What a generation is made of, for `Front.swap`. */
export interface NextGeneration {
  readonly routes: SiteTable;
  /** The inspector of a site's policy; called once per site and generation. */
  readonly inspectorOf: (site: SiteConfig) => Inspector | null;
  /** Called when the last request on it has finished after it was replaced. */
  readonly onReleased?: () => void;
}

/** How a front serves. */
export interface FrontOptions extends NextGeneration {
  readonly onRequestDone: RequestDone;
  /** Called for every message of a WebSocket that was inspected. */
  readonly onMessageDone?: RequestDone;
  /** Called when a request or message could not be reported; default throws. */
  readonly onEventFault?: FrontContext['onEventFault'];
  /** Called for every client that was closed when it was accepted. */
  readonly onClientRefused?: FrontContext['onClientRefused'];
  readonly clock?: Clock;
  readonly settings?: Partial<FrontSettings>;
  /** Default `strict`. */
  readonly listener?: ListenerKind;
  /** What notes facts about clients; one of its own when left out. */
  readonly clientWatch?: ClientWatch;
  /** Copies of bodies for evidence; default none. */
  readonly captures?: CaptureRoom;
  /** Puts requests into traces; default none. */
  readonly tracer?: Tracer;
  /** What guards look things up in; default nothing. */
  readonly guardServices?: GuardServices;
  /** Default: all kinds of guards. */
  readonly guardKinds?: readonly GuardKind[];
  /** Who says what is inspected under overload; default: one that is never asked to shed. */
  readonly overload?: OverloadController;
  /** What checks of API documents need; default: checks with patterns fail. */
  readonly schemaServices?: SchemaServices;
  /** Called for every TLS handshake that ended. */
  readonly onHandshake?: FrontContext['onHandshake'];
  /** Called for every client that was closed for its PROXY header. */
  readonly onProxyHeaderRefused?: () => void;
}

/** A front of one thread. */
export interface Front {
  readonly connections: number;
  /** Share of the budget of held bytes in use, 0..1. */
  readonly heldShare: number;
  /**
   * Binds and serves; resolves with the port. A second call with `secure` serves TLS, too. Errors:
   * `listen_failed`, `bad_option` for TLS on a listener that does not speak it.
   */
  listen(address: ListenAddress): Promise<number>;
  /** Takes over the keys of session tickets that all threads share. */
  setTicketKeys(keys: Uint8Array): void;
  /** Takes over an answer to an authority, by token; null removes it. */
  setAcmeAnswer(token: string, keyAuthorization: string | null): void;
  /** New requests run on `next` from now on; those under way finish on what they began with. */
  swap(next: NextGeneration): void;
  /** Takes over which addresses probes found unhealthy. */
  setUnhealthy(unhealthy: UnhealthyAddresses): void;
  /** Takes over which addresses fail, as all threads saw it. */
  setFailing(failing: UnhealthyAddresses): void;
  /** Origin addresses that failed since the last call, or answer again. */
  drainOriginNotes(): OriginNote[];
  /** What was counted of requests to documented APIs since the last call. */
  drainApiCounts(): ApiCountDelta[];
  /** What endpoints learned since the last call, and the next interval begins. */
  drainLearning(): LearningDelta[];
  /** Clients that showed signs of attacks in values since the last call. */
  drainClients(): ClientsDelta[];
  /** Stops accepting, lets requests finish, cuts what is left at the deadline. */
  drain(): Promise<void>;
  /** Closes everything at once. */
  close(): Promise<void>;
}

/** Makes a front; call `listen` next. */
export function createFront(options: FrontOptions): Front {
  return new ThreadFront(options);
}

class ThreadFront implements Front {
  private readonly context: FrontContext;
  private readonly upstreams: UpstreamRegistry;
  private readonly guardServices: GuardServices;
  private readonly guardKinds: readonly GuardKind[] | undefined;
  private readonly schemas: SchemaRegistry;
  private readonly learner = new Learner();
  private readonly listener: Listener;

  constructor(options: FrontOptions) {
    const clock = options.clock ?? systemClock;
    const { handshakeTimeoutMs } = tlsLimits;
    const { timeoutMs: proxyHeaderTimeoutMs } = proxyHeaderLimits;
    const limits = { ...frontLimits, ...httpLimits, handshakeTimeoutMs, proxyHeaderTimeoutMs };
    const settings: FrontSettings = { ...limits, ...options.settings };
    const deadlines = new Deadlines(clock, settings.sweepIntervalMs);
    this.upstreams = new UpstreamRegistry(deadlines);
    this.guardServices = options.guardServices ?? noGuardServices;
    this.guardKinds = options.guardKinds;
    this.schemas = new SchemaRegistry(options.schemaServices ?? noSchemaServices);
    this.context = {
      clock,
      settings,
      deadlines,
      writer: new ByteWriter(),
      readers: new SpareReaders(settings),
      ids: new RequestIds(),
      held: new HeldBudget(settings.heldBytesMax),
      overload: options.overload ?? new OverloadController(),
      clientWatch: options.clientWatch ?? new ClientWatch(),
      clientCounts: new ClientCounts(),
      floods: new FloodWatch(deadlines),
      captures: options.captures ?? null,
      tracer: options.tracer ?? null,
      tls: new SecureContexts(),
      onHandshake: options.onHandshake ?? (() => undefined),
      onProxyHeaderRefused: options.onProxyHeaderRefused ?? (() => undefined),
      acmeTokens: new AcmeTokens(),
      securePort: 0,
      onRequestDone: options.onRequestDone,
      onMessageDone: options.onMessageDone ?? (() => undefined),
      onEventFault: options.onEventFault ?? raise,
      onClientRefused: options.onClientRefused ?? (() => undefined),
      view: new RequestView(),
      generation: this.makeGeneration(options),
      draining: false,
    };
    const uws = options.listener === 'uws';
    this.listener = uws ? new UwsListener(this.context) : new StrictListener(this.context);
  }

  get connections(): number {
    return this.listener.connections;
  }

  get heldShare(): number {
    return this.context.held.used / this.context.settings.heldBytesMax;
  }

  private makeGeneration(next: NextGeneration): Generation {
    const { routes, inspectorOf } = next;
    const onReleased = next.onReleased ?? (() => undefined);
    const { upstreams, guardServices, guardKinds, schemas, learner } = this;
    const guards = { guardServices, ...(guardKinds && { guardKinds }) };
    const made = { routes, inspectorOf, upstreams, onReleased, schemas, learner };
    return new Generation({ ...made, ...guards });
  }

  async listen(address: ListenAddress): Promise<number> {
    const port = await this.listener.open(address);
    if (address.secure === true) this.context.securePort = address.publicPort ?? port;
    return port;
  }

  setTicketKeys(keys: Uint8Array): void {
    this.context.tls.setTicketKeys(keys);
  }

  setAcmeAnswer(token: string, keyAuthorization: string | null): void {
    const { acmeTokens } = this.context;
    if (keyAuthorization === null) acmeTokens.delete(token);
    else acmeTokens.set(token, keyAuthorization);
  }

  swap(next: NextGeneration): void {
    const old = this.context.generation;
    this.context.generation = this.makeGeneration(next);
    old.release();
  }

  setUnhealthy(unhealthy: UnhealthyAddresses): void {
    this.upstreams.setUnhealthy(unhealthy);
  }

  setFailing(failing: UnhealthyAddresses): void {
    this.upstreams.setFailing(failing);
  }

  drainOriginNotes(): OriginNote[] {
    return this.upstreams.drainNotes();
  }

  drainApiCounts(): ApiCountDelta[] {
    return this.schemas.drain();
  }

  drainLearning(): LearningDelta[] {
    return this.learner.drain();
  }

  drainClients(): ClientsDelta[] {
    const { clientCounts, clock } = this.context;
    return clientCounts.drain(clock.nowMs());
  }

  async drain(): Promise<void> {
    this.context.draining = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.context.settings.drainTimeoutMs);
    });
    await Promise.race([this.listener.drain(), late]);
    clearTimeout(timer);
    await this.close();
  }

  async close(): Promise<void> {
    this.listener.close();
    this.upstreams.close();
    this.context.deadlines.close();
  }
}

/** Without a maker of patterns, checks that need one cannot be used. */
const noSchemaServices: SchemaServices = {
  pattern: () => {
    throw new Error('patterns cannot be made here');
  },
  onFault: () => undefined,
};

function raise(thrown: unknown): never {
  throw thrown;
}

/**
 * The engine's side of AgentStreamService/Connect: says hello, takes configurations, answers what
 * became of them, sends facts up, connects again when the stream ends. Never decides what is
 * served: `apply` does.
 */

import { connect as connectSocket } from 'node:net';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Client, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { PartService } from '../../proto/gen/waf/runtime/v1/parts_pb.ts';
import {
  AgentStreamService,
  ConnectRequestSchema,
  type AgentCommandResultSchema,
  type AgentWelcome,
  type ChallengeDispatch,
  type ConfigUpdate,
  type ConnectRequest,
  type ConnectResponse,
  type SignedServingGrant,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { linkLimits } from '../base/observation-limits.ts';
import {
  metricPayloadVersion,
  observationProtocolVersion,
  ownCapabilities,
  versionMismatch,
} from '../../base/protocol-versions.ts';
import { runIdOf } from '../../base/supervisor-channel.ts';
import type { ShadowDelta } from '../contract/shadow.ts';
import type { ApiCountDelta, EndpointDelta } from '../contract/api-counts.ts';
import type { LearningDelta } from '../contract/api-learning.ts';
import type { ClientsDelta } from '../contract/detection-content.ts';
import type { CounterDelta, RankingDelta } from '../contract/counters.ts';
import type { RequestEvent } from '../contract/events.ts';
import type { EvidenceRecord } from '../contract/evidence.ts';
import type { RequestError } from '../contract/request-error.ts';
import type { RunTally } from '../contract/run-tally.ts';
import { notOverloaded, type OverloadStatus } from '../contract/overload.ts';
import type { HealthReport } from '../contract/health.ts';
import { EvidenceUploads } from './evidence-uploads.ts';
import { healthPush } from './health-report.ts';
import { LoadMeter } from './load-meter.ts';
import { Observations, type SpoolStores } from './observations.ts';
import { Outbox } from '../../base/outbox.ts';
import type { ProgramUpgrade } from './program-upgrade.ts';
import { ReconnectWait } from './reconnect-wait.ts';
import { Silence } from './silence.ts';
import { takeConfiguration, type ConfigurationSink } from './take-configuration.ts';

/** What the link connects, and to what. */
export interface LinkOptions extends ConfigurationSink {
  /** Path of the controller's Unix socket; not used by an enrolled node. */
  readonly socketPath: string;
  /** `local` for the built-in node. */
  readonly agentId: string;
  /** Carries out orders to replace the program; absent where none are taken. */
  readonly upgrade?: ProgramUpgrade;
  readonly version: string;
  /** What is known of the origins of the generation that serves; default nothing. */
  readonly health?: () => HealthReport;
  /** Open client connections; default none. */
  readonly connections?: () => number;
  /** How overloaded the node is; default not at all. */
  readonly overload?: () => OverloadStatus;
  /** Threads that serve requests. */
  readonly frontThreads?: number;
  /** Where observations wait until control has them; default in memory. */
  readonly spools?: SpoolStores;
  /** What front threads count where it outlives this process. */
  readonly tally?: RunTally | null;
  /** SHA-256 of the bundle that serves, '' when none does. */
  configHash(): string;
  /** Resolves when clients get an answer to an authority, by token; null takes it back. */
  readonly answerChallenge?: (token: string, keyAuthorization: string | null) => Promise<void>;
}

/** A configuration that serves in part. */
export interface InterimReport {
  readonly revision: string;
  readonly sha256: string;
  readonly waitingSiteIds: readonly string[];
}

/** The link to control. */
export interface ControllerLink {
  /** Connects, again whenever the stream ends. */
  connect(): void;
  /**
   * Takes a finished request; never throws, never blocks. Cost: one small object when it matters.
   */
  observe(event: RequestEvent): void;
  /** Takes evidence of requests; never throws, never blocks. */
  evidence(records: readonly EvidenceRecord[], dropped: number): void;
  /** How many bytes of evidence may wait for control. */
  boundEvidence(bytes: number): void;
  /** A fault that concerns no request; never throws, never blocks. */
  fault(error: RequestError): void;
  /** Takes counts of front threads; never throws, never blocks. */
  count(deltas: readonly CounterDelta[]): void;
  /** Takes the most frequent values that front threads saw; never throws, never blocks. */
  rank(deltas: readonly RankingDelta[]): void;
  /** Takes endpoints that front threads learned. */
  learnEndpoints(deltas: readonly EndpointDelta[]): void;
  /** Takes what front threads learned of the structure of bodies. */
  learnBodies(deltas: readonly LearningDelta[]): void;
  /** Takes clients that showed signs of attacks in values. */
  learnClients(deltas: readonly ClientsDelta[]): void;
  /** Takes how decisions of a second ruleset compare. */
  compare(deltas: readonly ShadowDelta[]): void;
  /** Takes what front threads counted of requests to documented APIs. */
  countApis(deltas: readonly ApiCountDelta[]): void;
  /** Reports the findings of probes to control now; they are also reported periodically. */
  reportHealth(): void;
  /** Reports the load to control now; it is also reported periodically. */
  reportLoad(): void;
  /** Reports that a configuration serves but for some sites. */
  reportInterim(interim: InterimReport): void;
  /** Facts held and given up, and whether the stream is up. */
  stats(): { readonly held: number; readonly evicted: number; readonly connected: boolean };
  /** Sends what waits (at most a second) and ends the stream. */
  close(): Promise<void>;
}

type Outgoing = MessageInitShape<typeof ConnectRequestSchema>['message'];

/** Makes the link; what it receives before `connect` waits. */
export function createControllerLink(options: LinkOptions): ControllerLink {
  const link = new Link(options);
  return {
    connect: () => void link.run(),
    observe: (event) => link.observations.observe(event),
    evidence: (records, dropped) => link.uploads.add(records, dropped),
    boundEvidence: (bytes) => link.uploads.bound(bytes),
    fault: (error) => link.observations.fault(error),
    count: (deltas) => link.count(deltas),
    rank: (deltas) => link.observations.rank(deltas),
    learnEndpoints: (deltas) => link.observations.learnEndpoints(deltas),
    learnBodies: (deltas) => link.observations.learnBodies(deltas),
    learnClients: (deltas) => link.observations.learnClients(deltas),
    compare: (deltas) => link.observations.compare(deltas),
    countApis: (deltas) => link.observations.countApis(deltas),
    reportHealth: () => link.reportHealth(),
    reportLoad: () => link.reportLoad(),
    reportInterim: (interim) => link.reportInterim(interim),
    stats: () => link.stats(),
    close: () => link.close(),
  };
}

class Link {
  readonly observations: Observations;
  readonly uploads: EvidenceUploads;
  readonly #options: LinkOptions;
  readonly #meter: LoadMeter;
  #outbox: Outbox<ConnectRequest> | null = null;
  #signingKey: Uint8Array | undefined;
  #takesInterim = false;
  #stopped = false;
  #abort = new AbortController();
  #wakeUp: (() => void) | null = null;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { agentId, logger } = options;
    this.observations = new Observations(options.spools, options.tally);
    const { earlierLoss } = this.observations;
    if (earlierLoss !== null) {
      const missing = earlierLoss === 'unknown' ? {} : earlierLoss;
      logger.warn('the engine ended before it stored all that it counted', {
        known: earlierLoss !== 'unknown',
        ...missing,
      });
    }
    const streamToken = options.enrolled?.identity().streamToken ?? '';
    const transport = (): Transport => this.#transport();
    this.uploads = new EvidenceUploads({ agentId, streamToken, logger, transport });
    this.#signingKey = options.enrolled?.signingKey;
    this.#meter = new LoadMeter(options.frontThreads ?? 1);
  }

  count(deltas: readonly CounterDelta[]): void {
    this.#meter.count(deltas);
    this.observations.count(deltas);
  }

  stats(): { held: number; evicted: number; connected: boolean } {
    return { ...this.observations.stats(), connected: this.#outbox !== null };
  }

  async close(): Promise<void> {
    await Promise.all([this.observations.close(), this.uploads.close()]);
    this.#stopped = true;
    this.#options.upgrade?.close();
    this.#outbox?.close();
    this.#wakeUp?.();
    this.#abort.abort();
  }

  async run(): Promise<void> {
    const isEnrolled = this.#options.enrolled !== undefined;
    const wait = new ReconnectWait(isEnrolled ? linkLimits.reconnectSpreadMs : 0);
    while (!this.#stopped) {
      const startedAt = performance.now();
      try {
        await this.#stream();
      } catch (error) {
        if (this.#stopped) return;
        const { code, message } = toAppError(error);
        // A controller that is gone is usual; what we could not do ourselves is a fault.
        const fault = !(error instanceof ConnectError || error instanceof AppError);
        const refused = error instanceof ConnectError && error.code === Code.FailedPrecondition;
        const isError = fault || refused || code === versionMismatchCode;
        const level = isError ? 'error' : 'debug';
        this.#options.logger[level]('the stream to control ended', { reason: message });
      }
      this.#outbox = null;
      this.observations.disconnected();
      if (!this.#stopped) await this.#pause(wait.next(performance.now() - startedAt));
    }
  }

  #transport(): Transport {
    const { socketPath, enrolled } = this.#options;
    if (enrolled !== undefined) return enrolled.transport();
    return createConnectTransport({
      baseUrl: 'http://control',
      httpVersion: '2',
      nodeOptions: { createConnection: () => connectSocket(socketPath) },
    });
  }

  async #stream(): Promise<void> {
    this.#abort = new AbortController();
    const transport = this.#transport();
    const outbox = new Outbox<ConnectRequest>();
    this.#send(outbox, {
      case: 'hello',
      value: {
        agentId: this.#options.agentId,
        version: this.#options.version,
        configHash: this.#options.configHash(),
        observationProtocolVersion,
        capabilities: ownCapabilities,
        streamToken: this.#options.enrolled?.identity().streamToken ?? '',
        runId: runIdOf(),
      },
    });
    const silence = new Silence(() => this.#abort.abort());
    const reports = setInterval(() => this.#report(outbox), linkLimits.reportIntervalMs);
    try {
      const client = createClient(AgentStreamService, transport);
      const parts = createClient(PartService, transport);
      const signal = this.#abort.signal;
      for await (const message of client.connect(outbox, { signal })) {
        silence.heard();
        this.#receive(outbox, parts, message);
      }
    } finally {
      silence.close();
      clearInterval(reports);
      outbox.close();
      this.#abort.abort();
    }
  }

  #receive(
    outbox: Outbox<ConnectRequest>,
    parts: Client<typeof PartService>,
    { message }: ConnectResponse,
  ): void {
    switch (message.case) {
      case 'welcome':
        refuseOtherVersions(message.value);
        // An enrolled node believes the key of its enrollment alone.
        if (this.#options.enrolled === undefined) {
          this.#signingKey = message.value.bundleSigningPublicKey;
        }
        this.#outbox = outbox;
        this.#takesInterim = message.value.takesInterimResults;
        this.#options.logger.info('connected to control', { server: message.value.serverId });
        this.observations.connected((up) => this.#send(outbox, up));
        this.#report(outbox);
        this.#options.upgrade?.connected(this.#tellResult);
        return;
      case 'command':
        void this.#options.upgrade?.order(message.value, this.#tellResult);
        return;
      case 'configUpdate':
        void this.#applyUpdate(outbox, parts, message.value);
        return;
      case 'challengeDispatch':
        void this.#answerChallenge(outbox, message.value);
        return;
      case 'servingGrant':
        return this.#takeGrant(outbox, message.value);
      case 'batchAck':
        return this.observations.batchAcknowledged(message.value);
      case 'gapNoticeAck':
        return this.observations.gapAcknowledged(message.value);
      case 'ping':
        this.#send(outbox, { case: 'pingAck', value: { nonce: message.value.nonce } });
        return;
      case 'goAway':
        outbox.close();
        this.#abort.abort();
        return;
      default:
    }
  }

  /** What became of an order, over the connection that there is then; else the next one tells. */
  readonly #tellResult = (value: MessageInitShape<typeof AgentCommandResultSchema>): void => {
    if (this.#outbox !== null) this.#send(this.#outbox, { case: 'commandResult', value });
  };

  /** ACME HTTP-01: the controller waits for the answer before it calls the authority. */
  async #answerChallenge(
    outbox: Outbox<ConnectRequest>,
    { token, keyAuthorization }: ChallengeDispatch,
  ): Promise<void> {
    let error = '';
    try {
      const { answerChallenge } = this.#options;
      if (answerChallenge === undefined) error = 'this node answers no challenges';
      else await answerChallenge(token, keyAuthorization === '' ? null : keyAuthorization);
    } catch (thrown) {
      error = toAppError(thrown).message;
    }
    const value = { token, served: error === '' && keyAuthorization !== '', error };
    this.#send(outbox, { case: 'challengeResponse', value });
  }

  #takeGrant(outbox: Outbox<ConnectRequest>, { grant, signature }: SignedServingGrant): void {
    const { enrolled, logger } = this.#options;
    const taken = enrolled?.grants.take(grant, signature) ?? 'this node needs no grant';
    if (typeof taken === 'string') {
      logger.error('a serving grant was refused', { reason: taken });
      return;
    }
    const { revision, sha256: grantSha256 } = taken;
    const value = { revision: BigInt(revision), grantSha256 };
    this.#send(outbox, { case: 'servingGrantAck', value });
  }

  async #applyUpdate(
    outbox: Outbox<ConnectRequest>,
    parts: Client<typeof PartService>,
    update: ConfigUpdate,
  ): Promise<void> {
    const source = { parts, signingKey: this.#signingKey, signal: this.#abort.signal };
    const value = await takeConfiguration(this.#options, source, update);
    this.#send(outbox, { case: 'applyResult', value });
  }

  reportInterim({ revision, sha256, waitingSiteIds }: InterimReport): void {
    if (this.#outbox === null || !this.#takesInterim) return;
    const value = {
      targetRevision: BigInt(revision),
      artifactSha256: sha256,
      waitingSiteIds: [...waitingSiteIds],
    };
    this.#send(this.#outbox, { case: 'interimResult', value });
  }

  reportHealth(): void {
    const outbox = this.#outbox;
    const report = this.#options.health?.();
    if (outbox === null || report === undefined) return;
    const value = healthPush(this.#options.agentId, report);
    this.#send(outbox, { case: 'metricsPush', value });
  }

  #report(outbox: Outbox<ConnectRequest>): void {
    this.reportHealth();
    this.#sendLoad(outbox);
  }

  reportLoad(): void {
    if (this.#outbox !== null) this.#sendLoad(this.#outbox);
  }

  #sendLoad(outbox: Outbox<ConnectRequest>): void {
    const { agentId } = this.#options;
    const overload = this.#options.overload?.() ?? notOverloaded;
    const connections = this.#options.connections?.() ?? 0;
    const metrics = this.#meter.read(connections, overload, this.observations.health());
    this.#send(outbox, {
      case: 'stateReport',
      value: { agentId, configHash: this.#options.configHash(), status: 'online', metrics },
    });
  }

  #send(outbox: Outbox<ConnectRequest>, message: Outgoing): void {
    if (message === undefined) return;
    outbox.push(create(ConnectRequestSchema, { message }));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Errors: AppError version_mismatch; the stream ends, and observations wait on disk. */
function refuseOtherVersions(welcome: AgentWelcome): void {
  const payload = welcome.metricPayloadVersion === metricPayloadVersion;
  const problem = payload
    ? versionMismatch(welcome)
    : `metricPayloadVersion: must be ${metricPayloadVersion}`;
  if (problem === '') return;
  const message = `control speaks another version (${problem}); run the same version on both sides`;
  throw new AppError(versionMismatchCode, message, { source: 'config' });
}

const versionMismatchCode = 'version_mismatch';

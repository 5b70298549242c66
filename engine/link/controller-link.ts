/**
 * Owns the engine's side of AgentStreamService/Connect: says hello, takes configurations, answers
 * what became of them, sends facts up, connects again when the stream ends. Never decides what is
 * served: `apply` does.
 */

import { connect as connectSocket } from 'node:net';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampNow } from '@bufbuild/protobuf/wkt';
import { createClient, type Client, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { SignedRuntimeBundleSchema } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { PartService } from '../../proto/gen/waf/runtime/v1/parts_pb.ts';
import {
  AgentStreamService,
  ConnectRequestSchema,
  type AgentWelcome,
  type ChallengeDispatch,
  type ConfigUpdate,
  type ConnectRequest,
  type ConnectResponse,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { AppError, supersededCode, toAppError } from '../base/errors.ts';
import { linkLimits } from '../base/observation-limits.ts';
import type { Logger } from '../base/log.ts';
import {
  metricPayloadVersion,
  observationProtocolVersion,
  ownCapabilities,
  versionMismatch,
} from '../base/protocol-versions.ts';
import type { BundleKeeper } from '../bundle/bundle-keeper.ts';
import { verifySignedBundle, type VerifiedBundle } from '../bundle/signed-bundle.ts';
import type { CounterDelta, RankingDelta } from '../contract/counters.ts';
import type { RequestEvent } from '../contract/events.ts';
import type { EvidenceRecord } from '../contract/evidence.ts';
import type { RequestError } from '../contract/request-error.ts';
import type { HealthReport } from '../contract/health.ts';
import { EvidenceUploads } from './evidence-uploads.ts';
import { LoadMeter } from './load-meter.ts';
import { Observations, type SpoolStores } from './observations.ts';
import { Outbox } from './outbox.ts';

/** What the link connects, and to what. */
export interface LinkOptions {
  /** Path of the controller's Unix socket. */
  readonly socketPath: string;
  /** `local` for the built-in node. */
  readonly agentId: string;
  readonly version: string;
  /** Where pieces of configurations and the last one that served are kept. */
  readonly bundles: BundleKeeper;
  /** What is known of the origins of the generation that serves; default nothing. */
  readonly health?: () => HealthReport;
  /** Open client connections; default none. */
  readonly connections?: () => number;
  /** Threads that serve requests. */
  readonly frontThreads?: number;
  /** Where observations wait until control has them; default in memory. */
  readonly spools?: SpoolStores;
  /** SHA-256 of the bundle that serves, '' when none does. */
  configHash(): string;
  /**
   * Serves a configuration: `obtain` fetches what is missing of it, `keep` stores it. Resolves when
   * traffic uses it, rejects when it cannot be served or when a later one takes its place.
   */
  rollOut(obtain: () => Promise<VerifiedBundle>, keep: () => Promise<void>): Promise<void>;
  /** Resolves when clients get an answer to an authority, by token; null takes it back. */
  readonly answerChallenge?: (token: string, keyAuthorization: string | null) => Promise<void>;
  readonly logger: Logger;
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
  /** Reports the findings of probes to control now; they are also reported periodically. */
  reportHealth(): void;
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
    reportHealth: () => link.reportHealth(),
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
  #stopped = false;
  #abort = new AbortController();
  #wakeUp: (() => void) | null = null;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.observations = new Observations(options.spools);
    const { agentId, logger } = options;
    this.uploads = new EvidenceUploads({ agentId, logger, transport: () => this.#transport() });
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
    this.#outbox?.close();
    this.#wakeUp?.();
    this.#abort.abort();
  }

  async run(): Promise<void> {
    let waitMs: number = linkLimits.reconnectMinMs;
    while (!this.#stopped) {
      const startedAt = performance.now();
      try {
        await this.#stream();
      } catch (error) {
        if (this.#stopped) return;
        const { code, message } = toAppError(error);
        const level = code === versionMismatchCode ? 'error' : 'debug';
        this.#options.logger[level]('the stream to control ended', { reason: message });
      }
      this.#outbox = null;
      this.observations.disconnected();
      const lived = performance.now() - startedAt > linkLimits.reconnectMaxMs;
      waitMs = lived ? linkLimits.reconnectMinMs : Math.min(waitMs * 2, linkLimits.reconnectMaxMs);
      if (!this.#stopped) await this.#pause(waitMs);
    }
  }

  #transport(): Transport {
    const { socketPath } = this.#options;
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
      },
    });
    const reports = setInterval(() => this.#report(outbox), linkLimits.reportIntervalMs);
    try {
      const client = createClient(AgentStreamService, transport);
      const parts = createClient(PartService, transport);
      const signal = this.#abort.signal;
      for await (const message of client.connect(outbox, { signal })) {
        this.#receive(outbox, parts, message);
      }
    } finally {
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
        this.#signingKey = message.value.bundleSigningPublicKey;
        this.#outbox = outbox;
        this.#options.logger.info('connected to control', { server: message.value.serverId });
        this.observations.connected((up) => this.#send(outbox, up));
        this.#report(outbox);
        return;
      case 'configUpdate':
        void this.#applyUpdate(outbox, parts, message.value);
        return;
      case 'challengeDispatch':
        void this.#answerChallenge(outbox, message.value);
        return;
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

  async #applyUpdate(
    outbox: Outbox<ConnectRequest>,
    parts: Client<typeof PartService>,
    update: ConfigUpdate,
  ): Promise<void> {
    const { logger } = this.#options;
    const revision = String(update.revision);
    let failure = '';
    try {
      await this.#serve(parts, update);
      logger.info('configuration applied', { revision });
    } catch (error) {
      const { code, message } = toAppError(error);
      failure = `${code}: ${message}`;
      const level = code === supersededCode ? 'info' : 'error';
      logger[level]('a configuration was not applied', { revision, code, reason: failure });
    }
    this.#send(outbox, {
      case: 'applyResult',
      value: {
        correlationId: update.correlationId,
        success: failure === '',
        error: failure,
        targetRevision: update.revision,
        artifactSha256: update.bundleSha256,
      },
    });
  }

  async #serve(parts: Client<typeof PartService>, update: ConfigUpdate): Promise<void> {
    const { bundles } = this.#options;
    const signed = create(SignedRuntimeBundleSchema, {
      bundle: update.bundle,
      signature: update.signature,
      sha256: update.bundleSha256,
      publicKey: update.bundleSigningPublicKey,
    });
    const expected = this.#signingKey;
    const verified = verifySignedBundle(signed, expected ? { publicKey: expected } : {});
    const signal = this.#abort.signal;
    const fetch = async function* (sha256: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
      const answers = parts.fetchParts({ sha256: [...sha256] }, { signal });
      for await (const { content } of answers) yield content;
    };
    await this.#options.rollOut(
      () => bundles.complete(verified, fetch),
      () => bundles.keep(verified),
    );
  }

  reportHealth(): void {
    const outbox = this.#outbox;
    const report = this.#options.health?.();
    if (outbox === null || report === undefined) return;
    const { agentId } = this.#options;
    const configGeneration = BigInt(report.revision);
    const artifactSha256 = report.sha256;
    const upstreamHealth = report.addresses.map((one) => ({
      nodeId: agentId,
      upstreamId: one.upstreamId,
      endpointUrl: one.url,
      address: one.name,
      status: one.status,
      reportedAt: timestampNow(),
      ...(one.changedAtMs > 0 ? { lastTransitionAt: timestampFromMs(one.changedAtMs) } : {}),
      configGeneration,
      artifactSha256,
      lastError: one.error,
    }));
    this.#send(outbox, {
      case: 'metricsPush',
      value: {
        agentId,
        observedAt: timestampNow(),
        upstreamHealth,
        upstreamHealthConfigGeneration: configGeneration,
        upstreamHealthArtifactSha256: artifactSha256,
      },
    });
  }

  #report(outbox: Outbox<ConnectRequest>): void {
    this.reportHealth();
    const { agentId } = this.#options;
    const connections = this.#options.connections?.() ?? 0;
    const metrics = this.#meter.read(connections, this.observations.health());
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

/**
 * Composition root of the engine process: reads options, starts front threads, serves what control
 * publishes or a bundle file holds, and hands what was observed up. Wires rooms; holds no logic.
 */

import { randomBytes } from 'node:crypto';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readBuildInfo } from './base/build-info.ts';
import { systemClock } from './base/clock.ts';
import { toAppError } from './base/errors.ts';
import { engineLimits } from './base/limits.ts';
import { createLogger, type Logger } from './base/log.ts';
import {
  notifySupervisor,
  onReopenAsked,
  onStopAsked,
  surviveClosedOutput,
} from './base/supervisor-channel.ts';
import { BundleKeeper } from './bundle/bundle-keeper.ts';
import { IpSets } from './bundle/ip-set.ts';
import { readFirstBundle } from './bundle/first-bundle.ts';
import { toRuntimeConfig } from './bundle/runtime-config.ts';
import type { VerifiedBundle } from './bundle/signed-bundle.ts';
import { standardLogging } from './contract/logging.ts';
import type { RequestError } from './contract/request-error.ts';
import { noRoutes, type RoutesConfig } from './contract/site.ts';
import { ClientMemory } from './front/client-memory.ts';
import { startFrontThreads, type FrontThreads } from './front/threads.ts';
import { placeCountryDatabase } from './guard/geo.ts';
import { Challenges } from './guard/bot/challenges.ts';
import { RateTable, randomSeed, shareRates } from './guard/rate-table.ts';
import { RateFiles } from './state/rate-files.ts';
import { createControllerLink, type ControllerLink } from './link/controller-link.ts';
import { serveEngineService } from './link/engine-service.ts';
import { nativeLibraries } from './match/libraries.ts';
import { routesOf, SharedFiles } from './policies/keyed-policies.ts';
import { AccessLog } from './process/access-log.ts';
import { ErrorLines } from './process/error-lines.ts';
import { EventFile } from './process/event-file.ts';
import { trimThisProcess } from './process/memory-care.ts';
import { readOptions, type EngineOptions } from './process/options.ts';
import { PatternTrial } from './rollout/pattern-trial.ts';
import { Planner } from './rollout/planner.ts';
import { Rollouts, type Candidate } from './rollout/rollouts.ts';
import { SiteGuards } from './simulate/site-guards.ts';
import { createEvaluator } from './simulate/evaluate.ts';
import { makeEngineFolder } from './state/data-folder.ts';
import { PlannedMark } from './state/planned-mark.ts';
import { tryOpenSpoolFiles } from './state/spool-files.ts';
import { TicketKeys } from './tls/ticket-keys.ts';
import { threadParts } from './threads/thread-parts.ts';
import { threadSettings, type ThreadSettings } from './threads/thread-settings.ts';
import { OriginHealth, probePool } from './upstream/origin-health.ts';

const buildInfo = readBuildInfo();
const { version } = buildInfo;

class Engine {
  private readonly options: EngineOptions;
  private readonly log: Logger;
  private readonly folder: string;
  private readonly settings: ThreadSettings;
  private readonly trim = trimThisProcess();
  private readonly files = new SharedFiles();
  private countryOf: (ip: string) => string = () => '';
  private readonly rates: RateFiles | null;
  private readonly guards: SiteGuards;
  private readonly ipSets = new IpSets();
  private readonly clientMemory = new ClientMemory();
  private readonly origins: OriginHealth;
  private readonly planner: Planner;
  private readonly bundles: BundleKeeper;
  private readonly rollouts: Rollouts;
  private readonly events: EventFile | null;
  private readonly accessLog: AccessLog | null;
  private readonly errorLines: ErrorLines;
  private readonly link: ControllerLink | null;
  private readonly tickets = new TicketKeys();
  private readonly startedMs = performance.now();
  private threads: FrontThreads | null = null;
  private closers: (() => Promise<unknown>)[] = [];

  constructor(options: EngineOptions) {
    this.options = options;
    this.log = createLogger('engine', options.logLevel);
    this.origins = new OriginHealth({
      logger: this.log,
      onUnhealthy: (unhealthy) => this.threads?.setUnhealthy(unhealthy),
      onFailing: (failing) => this.threads?.setFailing(failing),
      onChange: () => this.link?.reportHealth(),
    });
    this.folder = makeEngineFolder(options.data);
    this.rates = this.openRates();
    const shared = shareRates(this.rates?.seed ?? randomSeed());
    const rates = new RateTable(shared);
    this.rates?.follow(rates);
    const challengeKey = randomBytes(32);
    this.settings = { ...threadSettings(options, this.folder), rates: shared, challengeKey };
    const challenges = new Challenges(rates, challengeKey);
    this.guards = new SiteGuards({ countryOf: (ip) => this.countryOf(ip), rates, challenges });
    this.bundles = new BundleKeeper(this.folder);
    this.planner = new Planner({
      entry: threadEntry('planner-thread'),
      settings: this.settings,
      onProgress: (done, total, what) => notifySupervisor({ type: 'progress', done, total, what }),
      onEnded: this.trim,
    });
    this.rollouts = this.makeRollouts();
    this.events =
      options.events === null ? null : new EventFile(options.events, systemClock, this.log);
    this.errorLines = new ErrorLines(systemClock, this.log);
    const { accessLog } = options;
    this.accessLog = accessLog && new AccessLog(accessLog, systemClock, this.log);
    this.link = options.controller === null ? null : this.makeLink(options.controller);
  }

  async start(): Promise<void> {
    const { bundle } = this.options;
    const first = readFirstBundle(bundle, this.bundles, this.log);
    const candidate = first === null ? null : this.candidateOf(first);
    const complete = bundle !== null;
    const routes = candidate ? await this.rollouts.prepareFirst(candidate, complete) : noRoutes;
    this.threads = await this.startThreads(routes);
    this.tickets.start((keys) => this.threads?.setTicketKeys(keys));
    if (candidate !== null) this.rollouts.firstServed(candidate, complete);
    if (this.link !== null) await this.serveControl(this.link);
    const { port, securePort } = this.threads;
    this.log.info('listening', { host: this.options.host, port, securePort });
    notifySupervisor({ type: 'ready', port });
  }

  async stop(): Promise<void> {
    // With the last descriptor of a socket closed, the kernel refuses new clients.
    const { listenFds, secure } = this.options;
    for (const fd of [...listenFds, ...(secure?.fds ?? [])]) closeSync(fd);
    this.tickets.stop();
    this.rollouts.close();
    this.origins.close();
    await this.threads?.drain();
    await this.link?.close();
    for (const close of this.closers.reverse()) await close();
    await this.planner.close();
    await this.rates?.close();
    await this.events?.close();
    await this.accessLog?.close();
  }

  reopenLogs(): void {
    this.accessLog?.reopen();
  }

  /** Null where they cannot be kept: limits still hold, until the next start. */
  private openRates(): RateFiles | null {
    try {
      return new RateFiles(join(this.folder, 'rates'), systemClock, this.log);
    } catch (thrown) {
      this.log.error('counts of rate limits are not kept', { reason: toAppError(thrown).message });
      return null;
    }
  }

  private makeRollouts(): Rollouts {
    const mark = new PlannedMark(join(this.settings.cacheFolder, `planned-${version}`));
    // A pool has policies loaded ahead: nothing is built on first use there.
    const eager = this.options.bundle !== null || this.options.inspection === 'pool';
    return new Rollouts({
      plan: (policy) => this.planner.plan(policy),
      useDatabases: (groups) => this.planner.use(groups),
      apply: async (routes) => this.threads?.apply(routes),
      offerDatabases: (groups) => this.threads?.offerDatabases(groups),
      onRoutes: (routes) => {
        this.origins.watch(routes, this.rollouts.serving);
        this.guards.use(routes);
        const { evidence } = (routes.logging ?? standardLogging).standard;
        if (evidence !== null) this.link?.boundEvidence(evidence.queueBytesMax);
      },
      isPlanned: (sha256) => !eager && mark.names(sha256),
      keepPlanned: (sha256) => mark.keep(sha256),
      interimDelay: () => delay(engineLimits.interimAfterMs, undefined, { ref: false }),
      log: this.log,
    });
  }

  private startThreads(routes: RoutesConfig): Promise<FrontThreads> {
    const { host, port, workers, listener, listenFds, secure, proxyHeaderFrom } = this.options;
    return startFrontThreads({
      entry: threadEntry('front-thread'),
      count: workers,
      listen: { host, port, proxyHeaderFrom },
      inheritedFds: listenFds,
      listenSecure: secure,
      inheritedSecureFds: secure?.fds ?? [],
      listener,
      routes,
      extra: this.settings,
      onEvents: (events, dropped) => {
        if (dropped > 0) this.log.warn('finished requests were not reported', { dropped });
        for (const event of events) this.link?.observe(event);
        this.errorLines.write(events);
        this.events?.write(events);
        this.accessLog?.write(events);
      },
      onEvidence: (records, dropped) => this.link?.evidence(records, dropped),
      onCounters: (deltas) => this.link?.count(deltas),
      onRankings: (deltas) => this.link?.rank(deltas),
      onClientNotes: (notes) => this.clientMemory.receive(notes),
      onOrigins: (notes) => this.origins.receive(notes),
      onCollected: this.trim,
      onThreadDied: (cause) => {
        this.log.error('a front thread died; it is being replaced', { reason: cause?.message });
        this.link?.fault(threadDied);
      },
    });
  }

  private makeLink(socketPath: string): ControllerLink {
    const files = tryOpenSpoolFiles(join(this.folder, 'spool'), this.log);
    if (files !== null) this.closers.push(() => files.close());
    return createControllerLink({
      socketPath,
      agentId: 'local',
      version,
      bundles: this.bundles,
      configHash: () => this.rollouts.serving.sha256,
      health: () => this.origins.report(),
      connections: () => this.threads?.connections ?? 0,
      frontThreads: this.options.workers,
      rollOut: (obtain, keep) =>
        this.rollouts.rollOut(async () => this.candidateOf(await obtain()), keep),
      answerChallenge: async (token, keyAuthorization) =>
        this.threads?.setAcmeAnswer(token, keyAuthorization),
      logger: this.log,
      ...(files && {
        spools: {
          facts: files.store('facts'),
          access: files.store('access'),
          accessSample: files.store('access_sample'),
          errors: files.store('errors'),
          counters: files.store('counters'),
        },
      }),
    });
  }

  /** Answers control's questions and connects to it. */
  private async serveControl(link: ControllerLink): Promise<void> {
    const { build, countries } = threadParts('engine', this.settings);
    this.countryOf = (ip) => countries.codeOf(ip);
    const handler = createEvaluator({
      planner: this.planner,
      trial: new PatternTrial(threadEntry('trial-process')),
      files: this.files,
      build,
      guardsOf: (siteId) => this.guards.of(siteId),
      probeUpstream: probePool,
      clients: this.clientMemory.answers((siteId, count) => this.threads?.sample(siteId, count)),
      status: () => ({
        ...this.rollouts.serving,
        version,
        uptimeMs: Math.round(performance.now() - this.startedMs),
        libraries: { ...buildInfo.libraries, ...nativeLibraries() },
      }),
    });
    const socketPath = join(this.options.data, 'engine.sock');
    const service = await serveEngineService({ socketPath, handler, logger: this.log });
    this.closers.push(() => service.close());
    link.connect();
  }

  private candidateOf(verified: VerifiedBundle): Candidate {
    const { bundle, sha256 } = verified;
    const country = bundle.geoDatabases.find(({ kind }) => kind === 'country');
    return {
      revision: String(bundle.revision),
      sha256,
      routes: routesOf(toRuntimeConfig(verified, this.ipSets), this.files),
      placeFiles: () => placeCountryDatabase(this.settings.countryFile, country?.content ?? null),
    };
  }
}

/** Its requests end without an answer. */
const threadDied: RequestError = {
  level: 'error',
  logger: 'engine',
  reason: 'front_thread_died',
  message: 'A front thread died and was replaced; its connections were cut.',
};

/** The entry of a thread, compiled or not. */
function threadEntry(name: string): URL {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return new URL(`./threads/${name}${ending}`, import.meta.url);
}

surviveClosedOutput();
try {
  const engine = new Engine(readOptions(process.argv.slice(2)));
  onStopAsked(() => {
    setTimeout(() => process.exit(1), engineLimits.stopDeadlineMs).unref();
    void engine.stop().then(() => process.exit(0));
  });
  onReopenAsked(() => engine.reopenLogs());
  await engine.start();
} catch (thrown) {
  const { code, message } = toAppError(thrown);
  notifySupervisor({ type: 'fatal', message });
  // A supervisor says it.
  if (process.send === undefined) process.stderr.write(`engine: ${message} (${code})\n`);
  process.exit(1);
}

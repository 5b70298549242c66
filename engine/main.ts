/**
 * Composition root of the engine process: reads options, starts front threads, serves what control
 * publishes or a bundle file holds, and hands what was observed up. Holds no logic of its own.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from './base/clock.ts';
import { AppError, toAppError } from './base/errors.ts';
import { engineLimits } from './base/limits.ts';
import { createLogger } from './base/log.ts';
import type { Logger } from './base/log.ts';
import type { PolicyFault } from './base/policy-faults.ts';
import { onStopAsked, surviveClosedOutput, tellSupervisor } from './base/supervisor-channel.ts';
import { BundleKeeper } from './bundle/bundle-keeper.ts';
import { toRuntimeConfig } from './bundle/runtime-config.ts';
import { readSignedBundle } from './bundle/signed-bundle.ts';
import type { VerifiedBundle } from './bundle/signed-bundle.ts';
import type { CounterDelta, RankingDelta } from './contract/counters.ts';
import type { RequestEvent } from './contract/events.ts';
import type { AddressHealth } from './contract/health.ts';
import { noConfiguration, type RoutesConfig, type UpstreamConfig } from './contract/site.ts';
import { createEvaluator } from './evaluate.ts';
import { EventFile } from './event-file.ts';
import type { SenderAnswers } from './evaluate.ts';
import { SenderMemory } from './front/sender-notes.ts';
import { startFrontThreads } from './front/threads.ts';
import type { FrontThreads } from './front/threads.ts';
import { placeCountryDatabase } from './guard/geo.ts';
import { interimRoutes } from './interim-routes.ts';
import { routesOf, SharedFiles } from './inspection-config.ts';
import type { InspectionConfig, KeyedPolicy, ThreadSettings } from './inspection-config.ts';
import { startControllerLink, superseded, supersededCode } from './link/controller-link.ts';
import type { ControllerLink } from './link/controller-link.ts';
import type { SpoolStores } from './link/observations.ts';
import { serveEngineService } from './link/engine-service.ts';
import { readOptions } from './options.ts';
import type { EngineOptions } from './options.ts';
import { trimThisProcess } from './memory-care.ts';
import { faultOf, PolicyError } from './policy-build.ts';
import { Planner, type PlanOutcome } from './planner.ts';
import type { SharedGroup } from './rules/plan/databases.ts';
import { makeEngineFolder } from './state/data-folder.ts';
import { openSpoolFiles } from './state/spool-files.ts';
import { threadParts } from './thread-parts.ts';
import { HealthProber, unhealthyOf } from './upstream/health-prober.ts';

const version = '3.8.0';
const noRoutes: RoutesConfig = { revision: noConfiguration, sites: [] };

/** What serves right now. */
interface Serving {
  revision: string;
  sha256: string;
}

class Engine {
  private readonly options: EngineOptions;
  private readonly log: Logger;
  private readonly settings: ThreadSettings;
  private readonly files = new SharedFiles();
  private readonly prober = new HealthProber({ onChange: (health) => this.noteHealth(health) });
  private readonly senders = new SenderMemory();
  private readonly planner: Planner;
  private readonly bundles: BundleKeeper;
  /** File that names the last bundle whose databases were all made. */
  private readonly plannedMark: string;
  private stopping = false;
  /** False from a quick start until all policies are built, not only those that were asked for. */
  private settled = true;
  /** SHA-256 of the bundle that came last. */
  private wanted = '';
  /** Keys of policies that compile, and databases planned, until then. */
  private readonly sound = new Set<string>();
  private readonly ahead = new Map<string, SharedGroup>();
  private readonly serving: Serving = { revision: '0', sha256: '' };
  private readonly startedMs = performance.now();
  /** What threads serve, in the meantime too. */
  private routes: RoutesConfig = noRoutes;
  /** Ends waiting for a policy of a bundle that is no longer wanted. */
  private giveWay: () => void = () => undefined;
  /** Rises with every bundle that control sends. */
  private turn = 0;
  private threads: FrontThreads | null = null;
  private link: ControllerLink | null = null;
  private events: EventFile | null = null;
  /** What threads counted before the link was there. */
  private early: CounterDelta[] = [];
  private earlyRankings: RankingDelta[] = [];
  private closers: (() => Promise<unknown>)[] = [];
  private readonly trim = trimThisProcess();

  constructor(options: EngineOptions) {
    this.options = options;
    this.log = createLogger('engine', options.logLevel);
    const folder = makeEngineFolder(options.data);
    this.bundles = new BundleKeeper(folder);
    this.plannedMark = join(folder, 'databases', `planned-${version}`);
    this.settings = {
      place: options.inspection,
      poolThreads: options.poolThreads,
      sharedSocket: options.workers > 1,
      events: options.events !== null ? 'all' : options.controller !== null ? 'notable' : 'none',
      cacheFolder: join(folder, 'databases'),
      collectionsFolder: join(folder, 'collections'),
      countryFile: join(folder, 'geo', 'country.mmdb'),
      rblZones: options.rblZones,
      logLevel: options.logLevel,
    };
    this.planner = new Planner({
      entry: sibling('planner-thread'),
      settings: this.settings,
      onProgress: (done, total, what) => tellSupervisor({ type: 'progress', done, total, what }),
      onEnded: this.trim,
    });
  }

  async start(): Promise<void> {
    const { options } = this;
    if (options.events !== null) {
      this.events = new EventFile(options.events, systemClock, this.log);
    }
    const first = this.firstBundle();
    if (first !== null) this.placeGeo(first);
    const planned = first !== null && this.wasPlanned(first);
    const routes = first === null ? noRoutes : await this.firstRoutes(first, planned);
    this.routes = routes;
    this.threads = await startFrontThreads({
      entry: sibling('front-thread'),
      count: options.workers,
      listen: { host: options.host, port: options.port },
      routes,
      extra: this.settings,
      onEvents: (events, dropped) => this.observe(events, dropped),
      onCounters: (deltas) => {
        if (this.link !== null) this.link.count(deltas);
        else if (options.controller !== null) this.early.push(...deltas);
      },
      onRankings: (deltas) => {
        if (this.link !== null) this.link.rank(deltas);
        else if (options.controller !== null) this.earlyRankings.push(...deltas);
      },
      onSenders: (notes) => this.senders.take(notes),
      onCollected: this.trim,
      onThreadDied: (cause) => {
        this.log.error('a front thread died; it is being replaced', { reason: cause?.message });
      },
    });
    if (first && !planned && options.bundle === null) void this.finishFirst(first);
    else if (first) this.noteServing(first, routes);
    if (first && planned) this.settleLater(first, routes);
    if (options.controller !== null) await this.connect(options.controller);
    this.log.info('listening', { host: options.host, port: this.threads.port });
    tellSupervisor({ type: 'ready', port: this.threads.port });
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.prober.close();
    await this.threads?.drain();
    await this.link?.close();
    for (const close of this.closers.reverse()) await close();
    await this.planner.close();
    await this.events?.close();
  }

  /** The bundle of `--bundle`, else the last good one of an earlier run, else none. */
  private firstBundle(): VerifiedBundle | null {
    const { bundle } = this.options;
    if (bundle !== null) return readNamedBundle(bundle);
    try {
      return this.bundles.load();
    } catch (thrown) {
      this.log.error('the kept bundle cannot be used; waiting for control', {
        reason: toAppError(thrown).message,
      });
      return null;
    }
  }

  /**
   * Routes of a bundle whose policies all link and whose databases are ready. What is ready serves
   * while the rest takes long. Errors: PolicyError; superseded when another bundle came meanwhile.
   */
  private async plan(verified: VerifiedBundle): Promise<RoutesConfig> {
    const routes = routesOf(toRuntimeConfig(verified), this.files);
    const inspection = routes.inspection as InspectionConfig;
    const ready = new Map<string, PlanOutcome['shared']>();
    const { turn } = this;
    const faults: PolicyFault[] = [];
    for (const policy of this.quickestFirst(inspection.policies)) {
      if (turn !== this.turn) throw superseded();
      const outcome = await this.planOne(policy, () => interimRoutes(routes, this.routes, ready));
      for (const { severity, message, span } of outcome.diagnostics) {
        const place = `${span.file}:${span.line}:${span.column}`;
        this.log[severity === 'error' ? 'error' : 'warn'](message, { place });
      }
      if (outcome.ok) ready.set(policy.key, outcome.shared);
      else faults.push(faultOf(policy.source, outcome.diagnostics));
    }
    // All that are wrong at once: control holds back each of them.
    if (faults.length > 0) throw new PolicyError(faults);
    const shared = new Map([...ready.values()].flatMap((groups) => [...groups]));
    return { ...routes, inspection: { ...inspection, shared } };
  }

  /** Those that serve already, then new versions of those that do: most of their databases are. */
  private quickestFirst(policies: readonly KeyedPolicy[]): readonly KeyedPolicy[] {
    const { policies: served = [] } = (this.routes.inspection ?? {}) as Partial<InspectionConfig>;
    const keys = new Set(served.map(({ key }) => key));
    const ids = new Set(served.map(({ source }) => source.id));
    const rank = ({ key, source }: KeyedPolicy): number =>
      keys.has(key) ? 0 : ids.has(source.id) ? 1 : 2;
    return policies.toSorted((left, right) => rank(left) - rank(right));
  }

  /** Plans a policy; when that takes long, what can serve without it serves meanwhile. */
  private async planOne(policy: KeyedPolicy, interim: () => RoutesConfig): Promise<PlanOutcome> {
    const planned = this.planner.plan(policy);
    const newer = new Promise<'newer'>((resolve) => (this.giveWay = () => resolve('newer')));
    const late = new Promise<'late'>((resolve) => {
      setTimeout(() => resolve('late'), engineLimits.interimAfterMs).unref();
    });
    let first = await Promise.race([planned, newer, late]);
    if (first === 'late') {
      const { name } = policy.source;
      this.log.info('a policy takes long to compile; what is ready serves meanwhile', { name });
      await this.serveInterim(interim());
    }
    if (first === 'late') first = await Promise.race([planned, newer]);
    if (first !== 'newer') return first as PlanOutcome;
    planned.catch(() => undefined);
    throw superseded();
  }

  /** Not after a quick start, whose policies are built when they are asked for. */
  private async serveInterim(routes: RoutesConfig): Promise<void> {
    const { whenAsked = false } = (this.routes.inspection ?? {}) as Partial<InspectionConfig>;
    if (whenAsked || this.threads === null) return;
    this.routes = routes;
    await this.threads.apply(routes);
    this.prober.watch(upstreamsOf(routes));
  }

  /** Of a kept bundle that has to be compiled: its sites get 503 until their policies are ready. */
  private async finishFirst(verified: VerifiedBundle): Promise<void> {
    try {
      await this.swap(verified, await this.plan(verified));
    } catch (thrown) {
      const { code, message } = toAppError(thrown);
      if (this.stopping || code === supersededCode) return;
      this.log.error('the kept bundle cannot be served', { reason: message });
    }
  }

  /** A bundle from a file is compiled before anything listens: who names one waits for it. */
  private async firstRoutes(first: VerifiedBundle, planned: boolean): Promise<RoutesConfig> {
    if (planned) return this.unplanned(first);
    if (this.options.bundle !== null) return this.plan(first);
    return interimRoutes(routesOf(toRuntimeConfig(first), this.files), noRoutes, new Map());
  }

  /** Whether this bundle served in an earlier run: its policies compile, its databases are kept. */
  private wasPlanned(verified: VerifiedBundle): boolean {
    const { bundle, inspection } = this.options;
    if (bundle !== null || inspection === 'pool') return false;
    return readPlannedMark(this.plannedMark) === verified.sha256;
  }

  /** Routes whose policies are built when the first request asks for them. */
  private unplanned(verified: VerifiedBundle): RoutesConfig {
    const routes = routesOf(toRuntimeConfig(verified), this.files);
    const inspection = routes.inspection as InspectionConfig;
    return { ...routes, inspection: { ...inspection, whenAsked: true, shared: this.ahead } };
  }

  private settleLater(verified: VerifiedBundle, routes: RoutesConfig): void {
    const { policies } = routes.inspection as InspectionConfig;
    for (const { key } of policies) this.sound.add(key);
    this.settled = false;
    this.wanted = verified.sha256;
    void this.settle(verified, policies);
  }

  /**
   * After a start that built nothing: plans and builds all policies while requests are served.
   * Gives up when another configuration serves meanwhile, which is settled in its turn.
   */
  private async settle(verified: VerifiedBundle, policies: readonly KeyedPolicy[]): Promise<void> {
    const stale = (): boolean => this.wanted !== verified.sha256;
    try {
      for (const policy of policies) {
        if (stale()) return;
        await this.planAhead(policy);
      }
      const routes = await this.plan(verified);
      if (stale()) return;
      await this.swap(verified, routes);
      this.settled = true;
    } catch (thrown) {
      if (this.stopping || toAppError(thrown).code === supersededCode) return;
      this.log.error('the policies of the kept bundle could not all be built ahead', {
        reason: toAppError(thrown).message,
      });
    }
  }

  /** Errors: PolicyError, planner_failed. */
  private async planAhead(policy: KeyedPolicy): Promise<void> {
    const outcome = await this.planner.plan(policy);
    if (!outcome.ok) throw new PolicyError([faultOf(policy.source, outcome.diagnostics)]);
    for (const [key, group] of outcome.shared) this.ahead.set(key, group);
    this.planner.use(this.ahead);
    // Requests that ask for the policy from now on attach to what all threads share.
    this.threads?.tell(this.ahead);
  }

  /** A change right after a quick start waits for the policies that are new, not for all. */
  private async apply(verified: VerifiedBundle): Promise<void> {
    this.wanted = verified.sha256;
    if (this.settled) return this.swap(verified, await this.plan(verified));
    const routes = this.unplanned(verified);
    const { policies } = routes.inspection as InspectionConfig;
    for (const policy of policies) if (!this.sound.has(policy.key)) await this.planAhead(policy);
    this.placeGeo(verified);
    await this.threads!.apply(routes);
    this.noteServing(verified, routes);
    this.settleLater(verified, routes);
  }

  private async swap(verified: VerifiedBundle, routes: RoutesConfig): Promise<void> {
    this.placeGeo(verified);
    await this.threads!.apply(routes);
    this.noteServing(verified, routes);
    keepPlannedMark(this.plannedMark, verified.sha256);
  }

  /** Errors: AppError geo_unreadable; the configuration then changes nothing. */
  private placeGeo({ bundle }: VerifiedBundle): void {
    const country = bundle.geoDatabases.find(({ kind }) => kind === 'country');
    placeCountryDatabase(this.settings.countryFile, country?.content ?? null);
  }

  /** Samples are asked of every thread; what comes back is cut to what was asked for. */
  private senderAnswers(): SenderAnswers {
    return {
      sampleClients: (siteId, count, end) => {
        if (end) this.senders.end(siteId);
        else if (count > 0) this.senders.begin(siteId, count);
        if (end || count > 0) this.threads?.sample(siteId, end ? 0 : count);
        return this.senders.collected(siteId) ?? { samples: [], active: false };
      },
      spoofNotes: () => this.senders.warnings(Date.now()),
    };
  }

  /** Every probe is made once, here; threads and control are told what it found. */
  private noteHealth(health: readonly AddressHealth[]): void {
    this.threads?.setUnhealthy(unhealthyOf(health));
    this.link?.reportHealth();
  }

  private noteServing(verified: VerifiedBundle, routes: RoutesConfig): void {
    this.routes = routes;
    this.prober.watch(upstreamsOf(routes));
    this.planner.use((routes.inspection as InspectionConfig).shared);
    this.serving.revision = String(verified.bundle.revision);
    this.serving.sha256 = verified.sha256;
  }

  private async connect(socketPath: string): Promise<void> {
    const parts = threadParts('engine', this.settings);
    const handler = createEvaluator({
      planner: this.planner,
      files: this.files,
      build: parts.build,
      senders: this.senderAnswers(),
      status: () => ({
        ...this.serving,
        version,
        uptimeMs: Math.round(performance.now() - this.startedMs),
      }),
    });
    const service = await serveEngineService({
      socketPath: join(this.options.data, 'engine.sock'),
      handler,
      logger: this.log,
    });
    this.closers.push(() => service.close());
    const spools = this.openSpools();
    this.link = startControllerLink({
      socketPath,
      agentId: 'local',
      version,
      bundles: this.bundles,
      configHash: () => this.serving.sha256,
      health: () => this.prober.health(),
      connections: () => this.threads?.connections ?? 0,
      frontThreads: this.options.workers,
      apply: (verified) => this.apply(verified),
      newerCame: () => {
        this.turn++;
        this.giveWay();
      },
      logger: this.log,
      ...(spools === null ? {} : { spools }),
    });
    this.link.count(this.early.splice(0));
    this.link.rank(this.earlyRankings.splice(0));
  }

  /** Null when the disk has no room for a spool: serving matters more than what is told of it. */
  private openSpools(): SpoolStores | null {
    try {
      const files = openSpoolFiles(join(this.options.data, 'engine', 'spool'), this.log);
      this.closers.push(() => files.close());
      return { facts: files.store('facts'), counters: files.store('counters') };
    } catch (thrown) {
      const { message } = toAppError(thrown);
      this.log.error('observations wait in memory only', { reason: message });
      return null;
    }
  }

  private observe(events: readonly RequestEvent[], dropped: number): void {
    if (dropped > 0) this.log.warn('finished requests were not reported', { dropped });
    for (const event of events) this.link?.observe(event);
    this.events?.write(events);
  }
}

/** Every upstream of a generation. */
function* upstreamsOf({ sites }: RoutesConfig): Generator<UpstreamConfig> {
  for (const { upstream, routes = [] } of sites) {
    yield upstream;
    for (const route of routes) yield route.upstream;
  }
}

/** Errors: `bundle_unreadable`, or why the file is no bundle; each names the file. */
function readNamedBundle(path: string): VerifiedBundle {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const message = `the bundle file ${path} cannot be read (${code})`;
    throw new AppError('bundle_unreadable', message, { source: 'config', cause });
  }
  try {
    return readSignedBundle(bytes);
  } catch (cause) {
    const { code, message } = toAppError(cause);
    throw new AppError(code, `${path} is no bundle that can be served: ${message}`, {
      source: 'config',
      cause,
    });
  }
}

/** The SHA-256 in the mark; '' when there is none. */
function readPlannedMark(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** A mark that cannot be written only makes the next start slower. */
function keepPlannedMark(path: string, sha256: string): void {
  try {
    writeFileSync(path, sha256, { mode: 0o600 });
  } catch {
    rmSync(path, { force: true });
  }
}

/** A module beside this one, compiled or not. */
function sibling(name: string): URL {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return new URL(`./${name}${ending}`, import.meta.url);
}

surviveClosedOutput();
try {
  const engine = new Engine(readOptions(process.argv.slice(2)));
  onStopAsked(() => {
    setTimeout(() => process.exit(1), engineLimits.stopDeadlineMs).unref();
    void engine.stop().then(() => process.exit(0));
  });
  await engine.start();
} catch (thrown) {
  const { code, message } = toAppError(thrown);
  tellSupervisor({ type: 'fatal', message });
  // A supervisor says it.
  if (process.send === undefined) process.stderr.write(`engine: ${message} (${code})\n`);
  process.exit(1);
}

/** What an engine is made of, and who calls whom on a change. Wires rooms; holds no logic. */

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readBuildInfo } from '../base/build-info.ts';
import { systemClock } from '../base/clock.ts';
import { rateLimits } from '../base/guard-limits.ts';
import { engineLimits } from './base/limits.ts';
import { createLogger, type Logger } from '../base/log.ts';
import { notifySupervisor } from '../base/supervisor-channel.ts';
import { BundleKeeper } from './bundle/bundle-keeper.ts';
import { IpSets } from './bundle/ip-set.ts';
import { toRuntimeConfig } from './bundle/runtime-config.ts';
import type { VerifiedBundle } from './bundle/signed-bundle.ts';
import type { RunTally } from './contract/run-tally.ts';
import type { RedisAddress } from './contract/rate-limit.ts';
import { standardLogging } from './contract/logging.ts';
import { ClientMemory } from './front/facts/client-memory.ts';
import type { FrontThreads } from './front/threads/threads.ts';
import { placeCountryDatabase } from './guard/geo.ts';
import { Challenges } from './guard/bot/challenges.ts';
import { RateTable, randomSeed, shareRates } from './guard/rate-table.ts';
import { RateExchange } from './state/rate-exchange.ts';
import { tryOpenRateFiles, type RateFiles } from './state/rate-files.ts';
import type { ControllerLink } from './link/controller-link.ts';
import { routesOf, SharedFiles } from './policies/keyed-policies.ts';
import { linearPattern } from './match/linear-pattern.ts';
import { OverloadReport } from './overload/overload-report.ts';
import { AccessLog } from './process/access-log.ts';
import { ErrorLines } from './process/error-lines.ts';
import { EventFile } from './process/event-file.ts';
import { trimThisProcess } from './process/memory-care.ts';
import type { EngineOptions } from './process/options.ts';
import { sharedSeed } from './process/redis-option.ts';
import { Planner } from './rollout/planner.ts';
import { Rollouts, type Candidate } from './rollout/rollouts.ts';
import { SiteGuards } from './simulate/site-guards.ts';
import { SiteSchemas } from './simulate/site-schemas.ts';
import { makeEngineFolder } from './state/data-folder.ts';
import { PlannedMark } from './state/planned-mark.ts';
import { TicketKeys } from './tls/ticket-keys.ts';
import { threadSettings, type ThreadSettings } from './threads/thread-settings.ts';
import { OriginHealth } from './upstream/origin-health.ts';
import { threadEntry } from './threads/thread-entry.ts';

const { version } = readBuildInfo();

/** All parts; `threads` are there once traffic is served. */
export class EngineParts {
  readonly options: EngineOptions;
  readonly log: Logger;
  readonly folder: string;
  readonly settings: ThreadSettings;
  readonly trim = trimThisProcess();
  readonly files = new SharedFiles();
  countryOf: (ip: string) => string = () => '';
  readonly rates: RateFiles | null;
  /** Null where each node counts for itself. */
  readonly rateExchange: RateExchange | null;
  readonly guards: SiteGuards;
  readonly schemas = new SiteSchemas(linearPattern);
  readonly ipSets = new IpSets();
  readonly clientMemory = new ClientMemory();
  readonly origins: OriginHealth;
  readonly overload: OverloadReport;
  readonly planner: Planner;
  readonly bundles: BundleKeeper;
  readonly rollouts: Rollouts;
  readonly events: EventFile | null;
  readonly accessLog: AccessLog | null;
  readonly errorLines: ErrorLines;
  readonly tickets = new TicketKeys();
  readonly startedMs = performance.now();
  /** Null without control. */
  link: ControllerLink | null = null;
  /** Null without control, or where the disk refuses. */
  tally: RunTally | null = null;
  threads: FrontThreads | null = null;
  readonly closers: (() => Promise<unknown>)[] = [];

  constructor(options: EngineOptions) {
    this.options = options;
    this.log = createLogger('engine', options.logLevel);
    this.origins = new OriginHealth({
      logger: this.log,
      onUnhealthy: (unhealthy) => this.threads?.setUnhealthy(unhealthy),
      onFailing: (failing) => this.threads?.setFailing(failing),
      onChange: () => this.link?.reportHealth(),
    });
    this.overload = new OverloadReport(this.log, (fault) => {
      if (fault !== null) this.link?.fault(fault);
      this.link?.reportLoad();
    });
    this.folder = makeEngineFolder(options.data);
    const { rateLimitRedis: redis } = options;
    const seed = redis && sharedSeed(redis);
    this.rates = tryOpenRateFiles(join(this.folder, 'rates'), systemClock, this.log, seed);
    const setSeed = this.rates?.seed ?? seed ?? randomSeed();
    const shared = shareRates(setSeed, rateLimits.sets, redis !== null);
    const rates = new RateTable(shared);
    this.rates?.follow(rates);
    const nodeId = this.rates?.nodeId ?? randomBytes(8).toString('hex');
    this.rateExchange = redis && this.shareRates(rates, redis, nodeId);
    const uses = this.rateExchange;
    const challengeKey = randomBytes(32);
    const node = uses === null ? {} : { challengeNode: nodeId };
    this.settings = {
      ...threadSettings(options, this.folder),
      rates: shared,
      challengeKey,
      ...node,
    };
    const sharing = uses && { node: nodeId, uses };
    const challenges = new Challenges(rates, challengeKey, sharing);
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
  }

  private shareRates(rates: RateTable, address: RedisAddress, nodeId: string): RateExchange {
    return new RateExchange(rates, {
      address,
      nodeId,
      clock: systemClock,
      log: this.log,
      onFault: (fault) => this.link?.fault(fault),
    });
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
        this.schemas.use(routes);
        const { evidence } = (routes.logging ?? standardLogging).standard;
        if (evidence !== null) this.link?.boundEvidence(evidence.queueBytesMax);
      },
      onInterim: (interim) => this.link?.reportInterim(interim),
      isPlanned: (sha256) => !eager && mark.names(sha256),
      keepPlanned: (sha256) => mark.keep(sha256),
      interimDelay: () => delay(engineLimits.interimAfterMs, undefined, { ref: false }),
      log: this.log,
    });
  }
}

/** A bundle as the rollouts take it. */
export function candidateOf(parts: EngineParts, verified: VerifiedBundle): Candidate {
  const { bundle, sha256 } = verified;
  const country = bundle.geoDatabases.find(({ kind }) => kind === 'country');
  return {
    revision: String(bundle.revision),
    sha256,
    routes: routesOf(toRuntimeConfig(verified, parts.ipSets), parts.files),
    placeFiles: () => placeCountryDatabase(parts.settings.countryFile, country?.content ?? null),
  };
}

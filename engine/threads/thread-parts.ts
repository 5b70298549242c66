/** Owns what every thread that builds policies wires up in the same way: cache, ports, builder. */

import { systemClock } from '../base/clock.ts';
import { engineLimits } from '../base/limits.ts';
import { FailureLog } from '../base/failure-log.ts';
import { createLogger } from '../base/log.ts';
import type { Logger } from '../base/log.ts';
import { runInSlices } from '../base/steps.ts';
import type { PolicySource } from '../contract/policy.ts';
import { DnsBlockLists } from '../guard/block-lists.ts';
import { FollowedCountryDatabase } from '../guard/geo.ts';
import type { SharedGroup, SharedGroups } from '../contract/databases.ts';
import { buildEngine, buildEngineInSteps } from '../policies/policy-build.ts';
import type { RulePorts } from '../rules/transaction/ports.ts';
import type { DatabaseCache } from '../rules/plan/databases.ts';
import type { ThreadSettings } from './thread-settings.ts';
import type { PolicyEngine } from '../rules/run/policy-engine.ts';
import { Collections } from '../state/collections.ts';
import { DatabaseFiles } from '../state/database-files.ts';

/** What every inspecting thread is made of. */
export interface ThreadParts {
  readonly log: Logger;
  /** Databases in shared memory that the next builds may attach to. */
  useShared(groups: SharedGroups): void;
  /** Those that builds have attached to since the last call. */
  takeAttached(): SharedGroups;
  readonly cache: DatabaseCache;
  readonly ports: RulePorts & Required<Pick<RulePorts, 'reportFailure'>>;
  readonly build: (source: PolicySource) => PolicyEngine;
  /** As `build`, for threads that serve meanwhile. */
  readonly buildInSlices: (source: PolicySource) => Promise<PolicyEngine>;
}

/** Wires one thread; `component` names it in the log. */
export function threadParts(component: string, settings: ThreadSettings): ThreadParts {
  const log = createLogger(component, settings.logLevel);
  const files = new DatabaseFiles(settings.cacheFolder, log);
  let shared: SharedGroups = new Map();
  let attached = new Map<string, SharedGroup>();
  const cache: DatabaseCache = {
    get: (key) => files.get(key),
    put: (key, bytes) => files.put(key, bytes),
    shared: (key) => {
      const group = shared.get(key);
      if (group !== undefined) attached.set(key, group);
      return group ?? null;
    },
  };
  const { rblZones = [] } = settings;
  const failures = new FailureLog(log, systemClock);
  const ports: ThreadParts['ports'] = {
    reportFailure: (thrown) => failures.report(thrown),
    clock: systemClock,
    collections: new Collections(settings.collectionsFolder, systemClock, log),
    geo: lazyGeo(settings, log),
    rbl: rblZones.length === 0 ? null : new DnsBlockLists(rblZones, systemClock),
    env: new Map(),
  };
  const useShared = (groups: typeof shared): void => void (shared = groups);
  const takeAttached = (): typeof shared => {
    const taken = attached;
    attached = new Map();
    return taken;
  };
  const options = { cache, log, ports };
  const build = (source: PolicySource): PolicyEngine => buildEngine(source, options);
  const buildInSlices = (source: PolicySource): Promise<PolicyEngine> =>
    runInSlices(buildEngineInSteps(source, options), engineLimits.buildSliceMs);
  return { log, useShared, takeAttached, cache, ports, build, buildInSlices };
}

/** Eight megabytes that most policies never look at: read at the first look-up. */
function lazyGeo(settings: ThreadSettings, log: Logger): RulePorts['geo'] {
  return new FollowedCountryDatabase(settings.countryFile, systemClock, (thrown) => {
    log.error('no country database; @geoLookup finds nothing', { reason: String(thrown) });
  });
}

/** What every thread that builds policies wires up in the same way: cache, ports, builder. */

import { systemClock } from '../../base/clock.ts';
import { engineLimits } from '../base/limits.ts';
import { FailureLog } from '../base/failure-log.ts';
import { createLogger } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { runAtOnce, runInSlices } from '../../base/steps.ts';
import { DnsBlockLists } from '../guard/block-lists.ts';
import { FollowedCountryDatabase } from '../guard/geo.ts';
import { planName, type SharedImage, type SharedImages } from '../contract/shared-images.ts';
import type { KeyedPolicy } from '../contract/policy.ts';
import { buildEngineInSteps, keptPlanOf } from '../policies/policy-build.ts';
import type { RulePorts } from '../rules/transaction/ports.ts';
import { IdleTransactions } from '../rules/run/idle-transactions.ts';
import { SharedRules } from '../rules/program/shared-rules.ts';
import type { DatabaseCache } from '../rules/plan/databases.ts';
import { planningBuild } from './planning-build.ts';
import type { ThreadSettings } from './thread-settings.ts';
import type { PolicyEngine } from '../rules/run/policy-engine.ts';
import { Collections } from '../state/collections.ts';
import { DatabaseFiles } from '../state/database-files.ts';

/** What every inspecting thread is made of. */
export interface ThreadParts {
  readonly log: Logger;
  /** Plans and databases in shared memory that the next builds may attach to. */
  useShared(images: SharedImages): void;
  /** Those that builds have attached to since the last call. */
  takeAttached(): SharedImages;
  readonly cache: DatabaseCache;
  readonly ports: RulePorts & Required<Pick<RulePorts, 'reportFailure'>>;
  /** Countries of addresses. */
  readonly countries: FollowedCountryDatabase;
  readonly build: (policy: KeyedPolicy) => PolicyEngine;
  /** As `build`, for threads that serve meanwhile. */
  readonly buildInSlices: (policy: KeyedPolicy) => Promise<PolicyEngine>;
}

/** Wires one thread; `component` names it in the log, `own` are ports that others do not have. */
export function threadParts(
  component: string,
  settings: ThreadSettings,
  own: Pick<RulePorts, 'workedUs'> = {},
): ThreadParts {
  const log = createLogger(component, settings.logLevel);
  const files = new DatabaseFiles(settings.cacheFolder, log);
  let shared: SharedImages = new Map();
  let attached: SharedImages = new Map();
  const take = (key: string): SharedImage | null => {
    const image = shared.get(key);
    if (image !== undefined) attached = new Map([...attached, [key, image]]);
    return image ?? null;
  };
  const cache: DatabaseCache = {
    get: (key) => files.get(key),
    put: (key, bytes) => files.put(key, bytes),
    shared: (key) => {
      const image = take(key);
      return image && 'tiers' in image ? image : null;
    },
  };
  const planOf = ({ key }: KeyedPolicy): SharedArrayBuffer | null => {
    const image = take(planName(key));
    return image && 'plan' in image ? image.plan : null;
  };
  const countries = lazyGeo(settings, log);
  const { rblZones = [] } = settings;
  const failures = new FailureLog(log, systemClock);
  const ports: ThreadParts['ports'] = {
    reportFailure: (thrown) => failures.report(thrown),
    clock: systemClock,
    collections: new Collections(settings.collectionsFolder, systemClock, log),
    geo: countries,
    rbl: rblZones.length === 0 ? null : new DnsBlockLists(rblZones, systemClock),
    env: new Map(),
    ...own,
  };
  const useShared = (images: SharedImages): void => void (shared = images);
  const takeAttached = (): SharedImages => {
    const taken = attached;
    attached = new Map();
    return taken;
  };
  const transactions = new IdleTransactions();
  const options = { cache, log, ports, rules: new SharedRules(), transactions };
  // After a start requests are there before the planner has laid the plan in shared memory.
  const build = (policy: KeyedPolicy): PolicyEngine => {
    const plan = planOf(policy) ?? keptPlanOf(policy.key, { ...options, build: planningBuild });
    return runAtOnce(buildEngineInSteps(policy.source, options, plan));
  };
  const buildInSlices = (policy: KeyedPolicy): Promise<PolicyEngine> =>
    runInSlices(
      buildEngineInSteps(policy.source, options, planOf(policy)),
      engineLimits.buildSliceMs,
    );
  return { log, useShared, takeAttached, cache, ports, countries, build, buildInSlices };
}

/** Eight megabytes that most policies never look at: read at the first look-up. */
function lazyGeo(settings: ThreadSettings, log: Logger): FollowedCountryDatabase {
  return new FollowedCountryDatabase(settings.countryFile, systemClock, (thrown) => {
    log.error('no country database; @geoLookup finds nothing', { reason: String(thrown) });
  });
}

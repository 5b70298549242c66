/** Composition root of one front thread: a front with policy engines, inline or in a pool. */

import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import { AppError, policyAbsent } from '../../base/errors.ts';
import { collectGarbage } from '../../base/garbage.ts';
import { poolLimits } from '../base/limits.ts';
import type { RequestEvent } from '../contract/events.ts';
import type { Inspector } from '../contract/inspection.ts';
import type { RoutesConfig, SiteConfig } from '../contract/site.ts';
import { isIncomplete } from '../contract/verdict.ts';
import type { FrontThreadData } from '../front/threads/thread-messages.ts';
import { linearPattern } from '../match/linear-pattern.ts';
import { ThreadUses } from '../front/threads/thread-uses.ts';
import { runFrontWorker, type PreparedInspection } from '../front/threads/worker.ts';
import { Challenges } from '../guard/bot/challenges.ts';
import { Verifiers } from '../guard/bot/verifiers.ts';
import { DnsCrawlers } from '../guard/bot/crawlers.ts';
import { RateTable } from '../guard/rate-table.ts';
import { noInspection } from '../contract/policy.ts';
import { listenReusePort } from '../system/sockets.ts';
import { easeThisThread } from '../process/memory-care.ts';
import { PolicyWaits } from '../policies/policy-waits.ts';
import { PolicyRegistry, lazyInspector, recordOnly } from '../policies/policy-registry.ts';
import { shadowInspector } from '../policies/shadow-inspector.ts';
import { ShadowTally } from '../policies/shadow-tally.ts';
import { placeInspector, Pool } from '../pool/dispatch.ts';
import { threadParts } from './thread-parts.ts';
import type { ThreadSettings } from './thread-settings.ts';

const data = workerData as FrontThreadData;
const settings = data.extra as ThreadSettings;
const parts = threadParts('front', settings);
const pool = new Pool({
  workerFile: new URL(
    `./pool-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
    import.meta.url,
  ),
  workerData: settings,
  clock: systemClock,
  log: parts.log,
  deadlineMs: poolLimits.deadlineMs,
  threads: settings.poolThreads,
});
const registry = new PolicyRegistry(parts, settings.place === 'inline' ? null : pool);
const waits = new PolicyWaits();
const shadows = new ShadowTally();

let started = false;

/** Builds a generation's policies in slices, so that running requests get their share between. */
async function prepare(routes: RoutesConfig): Promise<PreparedInspection> {
  const { policies, lazy, shared } = routes.inspection;
  const release = (held: readonly string[]): void => {
    registry.releaseAll(held);
    easeThisThread();
  };
  if (lazy) {
    parts.useShared(shared);
    const held = registry.holdUnbuilt(policies);
    startPool();
    return prepared(routes, true, () => release(held));
  }
  parts.useShared(shared);
  const held = await registry.holdAll(policies);
  parts.useShared(noInspection.shared);
  startPool();
  // Parsing leaves some 50 MB of garbage; before the first request the pause harms nobody.
  if (!started) collectGarbage();
  started = true;
  // Linking a policy leaves some 20 MB of garbage.
  easeThisThread();
  return prepared(routes, false, () => release(held));
}

/** What waited for one of its policies continues once it serves: before the next turn. */
function prepared(
  { sites, inspection }: RoutesConfig,
  unbuilt: boolean,
  release: () => void,
): PreparedInspection {
  const { keyOfSite, shadowKeyOfSite, compiling } = inspection;
  // Nobody waits for a second policy to be built.
  const shadowKey = ({ id }: SiteConfig) => (unbuilt ? undefined : shadowKeyOfSite?.get(id));
  const find = (site: SiteConfig): Inspector =>
    compiling?.has(site.id) === true
      ? waits.inspector
      : shadowed(site, inspectorOf(site, keyOfSite.get(site.id), unbuilt), shadowKey(site));
  setImmediate(() =>
    waits.use((siteId) => {
      if (compiling?.has(siteId) === true) return null;
      const site = sites.find(({ id }) => id === siteId);
      return site === undefined ? withoutPolicy : find(site);
    }),
  );
  return { inspectorOf: find, release };
}

/** Where every request goes to the pool, its threads load policies before anybody asks them. */
function startPool(): void {
  if (settings.place === 'pool') pool.start();
}

function inspectorOf(site: SiteConfig, key: string | undefined, unbuilt: boolean): Inspector {
  if (key === undefined) return withoutPolicy;
  const records = site.waf.mode === 'detection';
  const inline = unbuilt ? lazyInspector(registry, key, records) : builtInspector(key, records);
  return placeInspector(settings.place, inline, pool, {
    policy: key,
    recordOnly: records,
  });
}

/** The inspector of a site, with a second policy beside it where a shadow run is on. */
function shadowed({ waf }: SiteConfig, inner: Inspector, key: string | undefined): Inspector {
  if (key === undefined || waf.shadow === undefined) return inner;
  const engine = registry.engine(key);
  const { shadow } = waf;
  const parts = { shadow, engine, tally: shadows, clock: systemClock, random: Math.random };
  return shadowInspector(inner, parts);
}

/**
 * Of a site whose policy control holds back, or that is gone: inspection fails, so that its fail
 * policy answers.
 */
const withoutPolicy: Inspector = {
  open: () => {
    throw new AppError(policyAbsent, 'no policy serves the site yet', { source: 'config' });
  },
};

function builtInspector(key: string, records: boolean): Inspector {
  const engine = registry.engine(key);
  return records ? recordOnly(engine) : engine;
}

/** Requests that become events: a rule matched, a guard decided, we or the origin failed. */
function isNotable({ transaction, outcome, guards }: RequestEvent): boolean {
  if (guards !== undefined) return true;
  if (transaction !== null) {
    if (transaction.matchedRules.length > 0 || isIncomplete(transaction)) return true;
  }
  return outcome !== 'served' && outcome !== 'client_abort' && outcome !== 'unrouted';
}

const rates = settings.rates === undefined ? null : new RateTable(settings.rates);
const { challengeKey, challengeNode } = settings;
const uses = new ThreadUses((question) => parentPort!.postMessage(question));
const sharing = challengeNode === undefined ? null : { node: challengeNode, uses };
const verifiers = new Verifiers((fault) =>
  parts.log.warn('a verifier of people fails; it is left alone for a while', fault),
);

await runFrontWorker(parentPort!, data, {
  prepare,
  guardServices: {
    countryOf: (ip) => parts.countries.codeOf(ip),
    rates,
    crawlers: new DnsCrawlers(),
    ...(rates === null || challengeKey === undefined
      ? {}
      : { challenges: new Challenges(rates, challengeKey, sharing, verifiers) }),
  },
  uses,
  poolWaitMs: () => pool.takeWaitMs(),
  drainShadows: () => shadows.drain(),
  schemaServices: {
    pattern: linearPattern,
    onFault: (siteId, fault) =>
      parts.log.error('the API checks of a site cannot be used', { siteId, fault }),
  },
  takeDatabases: (groups) => parts.useShared(groups),
  wantsEvent: (event) => {
    return settings.events === 'all' || (settings.events === 'notable' && isNotable(event));
  },
  samples: settings.samples === true,
  openSocket: settings.sharedSocket ? listenReusePort : null,
});
await pool.close();
process.exit(0);

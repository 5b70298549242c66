/** Owns what every thread that builds policies wires up in the same way: cache, ports, builder. */

import { systemClock } from './base/clock.ts';
import { createLogger } from './base/log.ts';
import type { Logger } from './base/log.ts';
import type { PolicySource } from './contract/policy.ts';
import { CountryDatabase } from './guard/geo.ts';
import type { ThreadSettings } from './inspection-config.ts';
import { buildEngine } from './policy-build.ts';
import type { RulePorts } from './rules/catalog/ports.ts';
import type { DatabaseCache } from './rules/plan/databases.ts';
import type { PolicyEngine } from './rules/run/policy-engine.ts';
import { Collections } from './state/collections.ts';
import { DatabaseFiles } from './state/database-files.ts';

/** What every inspecting thread is made of. */
export interface ThreadParts {
  readonly log: Logger;
  readonly cache: DatabaseCache;
  readonly ports: RulePorts;
  readonly build: (source: PolicySource) => PolicyEngine;
}

/** Wires one thread; `component` names it in the log. */
export function threadParts(component: string, settings: ThreadSettings): ThreadParts {
  const log = createLogger(component, settings.logLevel);
  const cache = new DatabaseFiles(settings.cacheFolder, log);
  const ports: RulePorts = {
    clock: systemClock,
    collections: new Collections(settings.collectionsFolder, systemClock, log),
    geo: lazyGeo(log),
    rbl: null,
    env: new Map(),
  };
  return { log, cache, ports, build: (source) => buildEngine(source, { cache, log, ports }) };
}

/** Eight megabytes that most policies never look at: read at the first look-up. */
function lazyGeo(log: Logger): RulePorts['geo'] {
  let database: CountryDatabase | null = null;
  let failed = false;
  return {
    find: (ip) => {
      if (database === null && !failed) {
        try {
          database = new CountryDatabase();
        } catch (thrown) {
          failed = true;
          log.error('no country database; @geoLookup finds nothing', { reason: String(thrown) });
        }
      }
      return database?.find(ip) ?? null;
    },
  };
}

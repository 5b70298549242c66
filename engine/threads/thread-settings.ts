/** What every thread that inspects is started with. Plain, cloneable data. */

import { join } from 'node:path';
import type { InspectionPlace } from '../contract/inspection.ts';
import type { SharedRates } from '../guard/rate-table.ts';
import type { EngineOptions } from '../process/options.ts';

/** What every thread of the engine needs to build policies. */
export interface ThreadSettings {
  readonly place: InspectionPlace;
  readonly poolThreads: number;
  readonly sharedSocket: boolean;
  /** Which finished requests are reported: all, those with something to tell, or none. */
  readonly events: 'all' | 'notable' | 'none';
  /** Requests are kept by the log policy: somebody takes them. */
  readonly samples?: boolean;
  readonly cacheFolder: string;
  readonly collectionsFolder: string;
  /** Country database in place of the one that comes with the product; it may be missing. */
  readonly countryFile: string;
  /** DNS block lists that `@rbl` may ask; none when absent. */
  readonly rblZones?: readonly string[];
  /** Counts of rate limits; absent where nothing is limited. */
  readonly rates?: SharedRates;
  /** Seals challenges of sites that no control gave keys; absent where nothing is challenged. */
  readonly challengeKey?: Uint8Array;
  /** Stands for this node where nodes share which challenges were used; absent where none do. */
  readonly challengeNode?: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

/** The settings of an engine with these options and this folder of its own. */
export function threadSettings(options: EngineOptions, folder: string): ThreadSettings {
  return {
    place: options.inspection,
    poolThreads: options.poolThreads,
    sharedSocket: options.workers > 1,
    events: eventsWanted(options),
    samples: options.controller !== null || options.identity !== null,
    cacheFolder: join(folder, 'databases'),
    collectionsFolder: join(folder, 'collections'),
    countryFile: join(folder, 'geo', 'country.mmdb'),
    rblZones: options.rblZones,
    logLevel: options.logLevel,
  };
}

function eventsWanted({ events, accessLog, controller }: EngineOptions): ThreadSettings['events'] {
  if (events !== null || accessLog !== null) return 'all';
  return controller === null ? 'none' : 'notable';
}

/** The one signature of guards: compiled per site, asked per request. No behavior. */

import type { GuardName, GuardVerdict } from '../contract/guard.ts';
import type { SiteConfig } from '../contract/site.ts';
import type { Challenges } from './bot/challenges.ts';
import type { CrawlerCheck } from './bot/crawlers.ts';
import type { RateTable } from './rate-table.ts';
import type { RequestView } from './request-view.ts';

/** A guard of one site, compiled from its configuration. */
export interface Guard {
  readonly name: GuardName;
  /**
   * Decides on a request; null for nothing to say. Answers come from memory: no file, no network
   * (but for the solution of a challenge, see `GuardVerdict.later`). Counts nothing where
   * `view.trial` is set. What it throws ends in the fail policy of the site.
   */
  decide(view: RequestView): GuardVerdict | null;
  /** What it looks at, in a few words for people; called for traces only. */
  describe(view: RequestView): string;
}

/** What all guards of a thread share beside the configuration. */
export interface GuardServices {
  /** ISO 3166-1 alpha-2 code of an address; '' when it is not known. */
  readonly countryOf: (ip: string) => string;
  /** Counts of requests; null where nothing is limited. */
  readonly rates: RateTable | null;
  /** Counts that a binding of an IP list decided about an address in it; absent: not counted. */
  readonly countListHit?: (bindingId: string, address: string) => void;
  /** Challenges of the thread; absent: each site's guards have their own. */
  readonly challenges?: Challenges;
  /** Who knows crawlers; absent: nobody does. */
  readonly crawlers?: CrawlerCheck;
}

/** Knows nothing: for tests and for fronts without data. */
export const noGuardServices: GuardServices = { countryOf: () => '', rates: null };

/** A kind of guard: what stands in the list. */
export interface GuardKind {
  readonly name: GuardName;
  /** The guard of a site; null when nothing is configured, so that requests do not ask it. */
  compile(site: SiteConfig, services: GuardServices): Guard | null;
}

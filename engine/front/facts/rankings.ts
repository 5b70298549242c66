/**
 * Counts which paths, programs, methods and protocols the requests of each site have, in one front
 * thread and in bounded memory. Counts as many as came; which rare ones is left open.
 */

import { frontLimits } from '../../../base/delivery-limits.ts';
import { TopCounts } from '../../../base/top-counts.ts';
import {
  rankedDimensions,
  type RankedDimension,
  type RankingDelta,
} from '../../contract/counters.ts';
import type { RequestEvent } from '../../contract/events.ts';

/** The transport of requests without TLS, as events name it. */
const plaintext = 'PLAINTEXT';

type SiteTops = Readonly<Record<RankedDimension, TopCounts>>;

/** Rankings of one thread since the last `drain`. Cost of `add`: five look-ups, no new object. */
export class FrontRankings {
  #sites = new Map<string, SiteTops>();

  /** Counts a request; the query is no part of its path. */
  add({ siteId, target, userAgent, method, httpVersion, tls, blocked }: RequestEvent): void {
    let tops = this.#sites.get(siteId);
    if (tops === undefined) this.#sites.set(siteId, (tops = emptyTops()));
    const query = target.indexOf('?');
    const stopped = blocked ? 1 : 0;
    count(tops.path, target, query < 0 ? target.length : query, stopped);
    count(tops.user_agent, userAgent, userAgent.length, stopped);
    count(tops.method, method, method.length, stopped);
    count(tops.http_version, httpVersion, httpVersion.length, stopped);
    const transport = tls?.version ?? plaintext;
    count(tops.transport_version, transport, transport.length, stopped);
  }

  /** What was counted since the last call; [] when there was nothing. */
  drain(): RankingDelta[] {
    const sites = this.#sites;
    this.#sites = new Map();
    return [...sites].flatMap(([siteId, tops]) =>
      rankedDimensions.map((dimension) => ({
        siteId,
        dimension,
        entries: tops[dimension].list().map(({ key, total, blocked }) => ({ key, total, blocked })),
      })),
    );
  }
}

function emptyTops(): SiteTops {
  const { rankedValuesMax, rankedNamesMax } = frontLimits;
  return {
    path: new TopCounts(rankedValuesMax),
    user_agent: new TopCounts(rankedValuesMax),
    method: new TopCounts(rankedNamesMax),
    http_version: new TopCounts(rankedNamesMax),
    transport_version: new TopCounts(rankedNamesMax),
  };
}

function count(top: TopCounts, text: string, length: number, blocked: number): void {
  top.add(text, Math.min(length, frontLimits.rankedCharactersMax), 1, blocked);
}

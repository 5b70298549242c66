/**
 * Owns the exact counters of the traffic path: every finished request is counted once per site,
 * before anything is sampled. Threads count for themselves and hand over the difference.
 */

import type { RequestEvent } from '../contract/events.ts';

/** Counts since the last hand-over (a delta) or since the start (a total). */
export interface SiteCounters {
  requests: number;
  blocked: number;
  refused: number;
  originErrors: number;
  clientAborts: number;
  inspectionFailures: number;
  /** Requests that matched at least one logged rule. */
  matched: number;
  bytesIn: number;
  bytesOut: number;
  inspectionUs: number;
  durationUs: number;
  status2xx: number;
  status3xx: number;
  status4xx: number;
  status5xx: number;
}

/** By site id; the empty id holds what never reached a site. */
export type CounterDelta = Record<string, SiteCounters>;

/** A set of counters at zero. */
export function zeroCounters(): SiteCounters {
  return {
    requests: 0,
    blocked: 0,
    refused: 0,
    originErrors: 0,
    clientAborts: 0,
    inspectionFailures: 0,
    matched: 0,
    bytesIn: 0,
    bytesOut: 0,
    inspectionUs: 0,
    durationUs: 0,
    status2xx: 0,
    status3xx: 0,
    status4xx: 0,
    status5xx: 0,
  };
}

/** Counts in one thread. */
export class Counters {
  private sites = new Map<string, SiteCounters>();

  /** Adds one finished request. Cost: no allocation for a known site. */
  add(event: RequestEvent): void {
    let site = this.sites.get(event.siteId);
    if (!site) this.sites.set(event.siteId, (site = zeroCounters()));
    site.requests++;
    if (event.blocked) site.blocked++;
    countOutcome(site, event);
    countStatus(site, event.status);
    site.bytesIn += event.bytesIn;
    site.bytesOut += event.bytesOut;
    site.durationUs += event.durationUs;
    const { transaction } = event;
    if (transaction === null) return;
    site.inspectionUs += transaction.inspectionUs;
    if (transaction.failure !== undefined) site.inspectionFailures++;
    if (transaction.matchedRules.length > 0) site.matched++;
  }

  /** Everything counted since the last call; null when nothing was. */
  take(): CounterDelta | null {
    if (this.sites.size === 0) return null;
    const delta = Object.fromEntries(this.sites);
    this.sites = new Map();
    return delta;
  }
}

/** Adds a delta to totals in place. */
export function addDelta(totals: Map<string, SiteCounters>, delta: CounterDelta): void {
  for (const [siteId, counts] of Object.entries(delta)) {
    let site = totals.get(siteId);
    if (!site) totals.set(siteId, (site = zeroCounters()));
    for (const name of Object.keys(counts) as (keyof SiteCounters)[]) site[name] += counts[name];
  }
}

function countOutcome(site: SiteCounters, event: RequestEvent): void {
  switch (event.outcome) {
    case 'refused':
    case 'unrouted':
      site.refused++;
      break;
    case 'origin_error':
      site.originErrors++;
      break;
    case 'client_abort':
      site.clientAborts++;
      break;
    default:
  }
}

function countStatus(site: SiteCounters, status: number): void {
  if (status >= 500) site.status5xx++;
  else if (status >= 400) site.status4xx++;
  else if (status >= 300) site.status3xx++;
  else if (status >= 200) site.status2xx++;
}

/**
 * Learns the endpoints of sites from what origins answered well, in one front thread, in bounded
 * memory and time: of a busy thread's requests only some are looked at.
 */

import { anySegment, EndpointTree, variableSegment } from '../../../base/endpoint-tree.ts';
import { endpointLimits } from '../../../base/schema-limits.ts';
import type { EndpointDelta } from '../../contract/api-counts.ts';
import type { RequestEvent } from '../../contract/events.ts';

/** Endpoints of one thread. Cost of `add`: a comparison past the requests of an interval. */
export class FrontEndpoints {
  readonly #sites = new Map<string, EndpointTree>();
  /** Requests of sites past those that are learned, by site. */
  readonly #omitted = new Map<string, number>();
  #left: number = endpointLimits.learnedPerInterval;

  /** Looks at a request. What origins refuse is no endpoint: scans leave nothing. */
  add({ siteId, outcome, status, method, host, target }: RequestEvent): void {
    if (this.#left === 0 || outcome !== 'served' || status < 200 || status > 399) return;
    this.#left--;
    let tree = this.#sites.get(siteId);
    if (tree === undefined) {
      if (this.#sites.size >= endpointLimits.sitesMax) {
        this.#omitted.set(siteId, (this.#omitted.get(siteId) ?? 0) + 1);
        return;
      }
      this.#sites.set(siteId, (tree = new EndpointTree()));
    }
    tree.add(method, hostOf(host), pathOf(target), 1);
  }

  /** What became known since the last call, and the next interval begins. */
  drain(): EndpointDelta[] {
    this.#left = endpointLimits.learnedPerInterval;
    const deltas: EndpointDelta[] = [];
    for (const [siteId, tree] of this.#sites) {
      const endpoints = tree.drain(endpointLimits.reportedFrom);
      const omitted = tree.drainOmitted();
      if (endpoints.length > 0 || omitted > 0) deltas.push({ siteId, endpoints, omitted });
    }
    for (const [siteId, omitted] of this.#omitted) deltas.push({ siteId, endpoints: [], omitted });
    this.#omitted.clear();
    return deltas;
  }

  /** Forgets all other sites, so that those of a new configuration find a place. */
  keep(siteIds: ReadonlySet<string>): void {
    for (const siteId of this.#sites.keys()) if (!siteIds.has(siteId)) this.#sites.delete(siteId);
  }
}

function hostOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '');
}

/** The path of a target in origin or absolute form. */
function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  const path = end < 0 ? target : target.slice(0, end);
  const bare = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') || '/';
  // The mark of a merged place is the tree's own.
  return bare.includes(anySegment) ? bare.replaceAll(anySegment, variableSegment) : bare;
}

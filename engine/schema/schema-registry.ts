/**
 * Holds the compiled checks of a thread's sites from one configuration to the next, so that what
 * did not change is not evaluated again.
 */

import type { ApiChecks } from '../contract/api-checks.ts';
import type { ApiCountDelta } from '../contract/api-counts.ts';
import type { ArrayNames } from '../contract/array-names.ts';
import type { SiteConfig } from '../contract/site.ts';
import { CheckCounts } from './check-counts.ts';
import { SiteChecks, type PatternMaker } from './site-checks.ts';

/** What checks of API documents need of a thread. */
export interface SchemaServices {
  /** Makes a matcher that runs in linear time. */
  readonly pattern: PatternMaker;
  /** The checks of a site cannot be used; its enforced operations answer 403 until they can. */
  readonly onFault: (siteId: string, fault: string) => void;
}

/** The checks of one thread. */
export class SchemaRegistry {
  private readonly services: SchemaServices;
  private readonly counts = new CheckCounts();
  private known = new Map<string, SiteChecks>();

  constructor(services: SchemaServices) {
    this.services = services;
  }

  /** The checks of the sites of a new configuration, by site; those of earlier ones are let go. */
  prepare(sites: readonly SiteConfig[]): ReadonlyMap<string, SiteChecks> {
    const next = new Map<string, SiteChecks>();
    const bySite = new Map<string, SiteChecks>();
    for (const { id, api, apiCode, arrayNames = 'none' } of sites) {
      if (api === undefined) continue;
      const key = `${keyOf(api)} ${arrayNames}`;
      const checks = this.known.get(key) ?? this.compile(id, api, apiCode, arrayNames);
      next.set(key, checks);
      bySite.set(id, checks);
    }
    this.known = next;
    return bySite;
  }

  /** What was counted since the last call. */
  drain(): ApiCountDelta[] {
    return this.counts.drain();
  }

  private compile(
    siteId: string,
    api: ApiChecks,
    code: Uint8Array | undefined,
    arrayNames: ArrayNames,
  ): SiteChecks {
    const text = code === undefined ? api.code : textOf(code);
    const { pattern } = this.services;
    const checks = new SiteChecks(api, pattern, this.counts, text, arrayNames);
    if (checks.fault !== '') this.services.onFault(siteId, checks.fault);
    return checks;
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** The approved change names all that is in the checks, but for what comes from the policy. */
function keyOf({ siteId, intentId, controlRevision, snapshotSha256, ...more }: ApiChecks): string {
  const { policySha256 } = more.bodyControls;
  return [siteId, intentId, controlRevision, snapshotSha256, policySha256].join(' ');
}

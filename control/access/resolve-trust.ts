/** The profile that a site goes by, and its lists with their present content. */

import type {
  ResolvedTrustProfileJson,
  TrustProfileJson,
} from '../../proto/gen/waf/v1/trust_pb.ts';
import { textOfKey } from '../../base/ip-address.ts';
import { trustLimits } from '../../base/guard-limits.ts';
import { allEntries, countOf } from '../domain/access/ip-list-content.ts';
import {
  checkTrustProfile,
  globalTrustId,
  type TrustIssue,
  type TrustRecord,
} from '../domain/site/trust.ts';
import { ipLists, trustProfiles } from '../store/collections.ts';
import type { ReadStore } from '../store/store.ts';
import { chunkReader, contentOf } from './list-contents.ts';

/** The profile that honors nothing. */
export const emptyProfile: TrustProfileJson = {};

/** What is saved for a site, or for the deployment ('' as the site). */
export function savedTrust(
  store: ReadStore,
  siteId: string,
  tenantId: string,
): TrustRecord | undefined {
  const found = store.get(trustProfiles, siteId === '' ? globalTrustId : siteId);
  return found?.tenantId === tenantId ? found : undefined;
}

/** The profile that requests of a site go by: its own, else that of the deployment. */
export function profileFor(store: ReadStore, siteId: string, tenantId: string): TrustProfileJson {
  const own = siteId === '' ? undefined : savedTrust(store, siteId, tenantId);
  return (own ?? savedTrust(store, '', tenantId))?.profile ?? emptyProfile;
}

/** Everything that is wrong with a profile, the size of its lists included. */
export function issuesOf(
  store: ReadStore,
  tenantId: string,
  profile: TrustProfileJson,
  force: boolean,
  at: string,
): TrustIssue[] {
  const listExists = (id: string): boolean => store.get(ipLists, id)?.tenantId === tenantId;
  const issues = checkTrustProfile(profile, { force, listExists }, at);
  const ids = (profile.nodes ?? []).flatMap((node) => node.trust?.ipListIds ?? []);
  const ranges = ids.reduce((sum, id) => sum + countOf(contentOf(store, id)), 0);
  if (ranges > trustLimits.trustRangesMax) {
    const message = `the lists have more than ${trustLimits.trustRangesMax} entries together`;
    issues.push({ field: `${at}.nodes`, code: 'too_many_ranges', message });
  }
  return issues;
}

/** A profile with the content of its lists. */
export function resolveTrust(
  store: ReadStore,
  profile: TrustProfileJson,
): ResolvedTrustProfileJson {
  return {
    nodes: (profile.nodes ?? []).map(({ trust, ...node }) => {
      const ipListIds = trust?.ipListIds ?? [];
      const ranges = ipListIds.flatMap((id) =>
        [...allEntries(contentOf(store, id), chunkReader(store))].map(({ key }) => textOfKey(key)),
      );
      return { ...node, trust: { ipListIds: [...ipListIds], ranges } };
    }),
    edges: [...(profile.edges ?? [])],
    extractionRules: [...(profile.extractionRules ?? [])],
  };
}

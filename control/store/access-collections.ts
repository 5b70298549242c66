/** The collections of access: lists and what fills them, bindings, country and rate rules. */

import type { CountryRuleRecord } from '../domain/access/country-access.ts';
import type { IpListChunk, IpListContent } from '../domain/access/ip-list-content.ts';
import type {
  IpListBinding,
  IpListGarbageRecord,
  IpListRecord,
  IpListRunRecord,
  IpListSecretRecord,
} from '../domain/access/ip-list.ts';
import type { RateLimitRecord } from '../domain/access/rate-limit.ts';
import type { TrustRecord } from '../domain/site/trust.ts';
import type { Collection } from './collection.ts';

/** IP lists, found by name. */
export const ipLists: Collection<IpListRecord> = {
  name: 'ip-lists',
  indexes: { name: (list) => [list.name.toLowerCase()] },
};
/** Directories of entries; the id is the list's. */
export const ipListContents: Collection<IpListContent> = { name: 'ip-list-contents', indexes: {} };
/** Entries; chunks are replaced, never changed. */
export const ipListChunks: Collection<IpListChunk> = {
  name: 'ip-list-chunks',
  indexes: {},
  cached: false,
};
/** Chunks that are to go. */
export const ipListGarbage: Collection<IpListGarbageRecord> = {
  name: 'ip-list-garbage',
  indexes: {},
};
/** Values of secret headers. */
export const ipListSecrets: Collection<IpListSecretRecord> = {
  name: 'ip-list-secrets',
  indexes: {},
};
/** Fetches of subscriptions, found by list. */
export const ipListRuns: Collection<IpListRunRecord> = {
  name: 'ip-list-runs',
  indexes: { list: (run) => [run.ipListId] },
};
/** Where lists decide, found by list, policy, site and scope. */
export const ipListBindings: Collection<IpListBinding> = {
  name: 'ip-list-bindings',
  indexes: {
    list: (binding) => [binding.ipListId],
    policy: (binding) => [binding.policyId],
    site: (binding) => [binding.siteId],
    scope: (binding) => [binding.scope],
  },
};
/** Decisions by country. */
export const countryRules: Collection<CountryRuleRecord> = { name: 'country-rules', indexes: {} };
/** Rate limits, found by policy and site. */
export const rateLimits: Collection<RateLimitRecord> = {
  name: 'rate-limits',
  indexes: { policy: (limit) => [limit.policyId], site: (limit) => [limit.siteId] },
};
/** Trust profiles; the id is the site's, or `global`. */
export const trustProfiles: Collection<TrustRecord> = { name: 'trust-profiles', indexes: {} };

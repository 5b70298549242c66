/** The collections of enrollment: tokens, their uses, and what nodes prove themselves with. */

import type {
  AgentIdentityRecord,
  EnrollmentRecord,
  EnrollmentTokenRecord,
  NodeAuthorityRecord,
} from '../domain/release/enrollment.ts';
import type { SeenIndexRecord } from '../domain/release/release-index.ts';
import type { UpgradeRunRecord } from '../domain/release/upgrade-run.ts';
import type { Collection } from './collection.ts';

/** Tokens with which nodes enroll. */
export const enrollmentTokens: Collection<EnrollmentTokenRecord> = {
  name: 'enrollment-tokens',
  indexes: {},
};
/** Which nodes enrolled with which token, found by either. */
export const enrollments: Collection<EnrollmentRecord> = {
  name: 'enrollments',
  indexes: { token: ({ tokenId }) => [tokenId], agent: ({ agentId }) => [agentId] },
  counted: ['token'],
};
/** Hashes of what enrolled nodes prove themselves with; the id is the node's. */
export const agentIdentities: Collection<AgentIdentityRecord> = {
  name: 'agent-identities',
  indexes: {},
};
/** Authorities of the deployment that sign certificates of nodes. */
export const nodeAuthorities: Collection<NodeAuthorityRecord> = {
  name: 'node-authorities',
  indexes: {},
};
/** The newest index of releases that was seen: an older one stays refused after a restart. */
export const seenIndexes: Collection<SeenIndexRecord> = {
  name: 'seen-release-indexes',
  indexes: {},
};
/** Roll-outs of releases over nodes. */
export const upgradeRuns: Collection<UpgradeRunRecord> = { name: 'upgrade-runs', indexes: {} };

/** Collections of the assistant. */

import type {
  AiProposalRecord,
  AiSecretRecord,
  AiUseRecord,
} from '../domain/settings/ai-records.ts';
import type { Collection } from './collection.ts';

/** Suggested changes, found by the policy that they are for. */
export const aiProposals: Collection<AiProposalRecord> = {
  name: 'ai-proposals',
  indexes: { policy: (proposal) => [proposal.policyId] },
};
/** The key of the provider; one record. */
export const aiSecrets: Collection<AiSecretRecord> = { name: 'ai-secrets', indexes: {} };
/** What was asked lately; one record. */
export const aiUse: Collection<AiUseRecord> = { name: 'ai-use', indexes: {} };
/** Id of the one record of secrets, and of use. */
export const aiRecordId = 'assistant';

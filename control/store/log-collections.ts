/** Collections of log policies. */

import type { LogEmergencyRecord, LogPolicyRecord } from '../domain/log-policy.ts';
import type { Collection } from './collection.ts';

/** What is recorded of requests; the id is a site's, or `global`. */
export const logPolicies: Collection<LogPolicyRecord> = { name: 'log-policies', indexes: {} };
/** Whether storage pressure takes details away: one record. */
export const logEmergencies: Collection<LogEmergencyRecord> = {
  name: 'log-emergencies',
  indexes: {},
};

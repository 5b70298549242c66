/** Collections of log policies. */

import type { LogEmergencyRecord, LogPolicyRecord } from '../domain/settings/log-policy.ts';
import type { TracingSettings } from '../domain/settings/tracing-settings.ts';
import type { Collection } from './collection.ts';

/** Which requests are sampled for traces: one record, as this process was started with. */
export interface TracingRecord extends TracingSettings {
  readonly id: string;
}

/** What is recorded of requests; the id is a site's, or `global`. */
export const logPolicies: Collection<LogPolicyRecord> = { name: 'log-policies', indexes: {} };
/** Whether storage pressure takes details away: one record. */
export const logEmergencies: Collection<LogEmergencyRecord> = {
  name: 'log-emergencies',
  indexes: {},
};

/** Traces; no record where none are sent. */
export const tracingSettings: Collection<TracingRecord> = { name: 'tracing', indexes: {} };

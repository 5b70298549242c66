/**
 * Decides what is recorded of requests and for how long: the policy of the deployment, what a site
 * changes in it, and what storage pressure takes from both. Pure.
 */

import type {
  LogPolicyJson,
  LogPolicySourceJson,
  LogPolicySourcesJson,
  SiteLogPolicyOverrideJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { logPolicyLimits } from '../../limits/log-policy-limits.ts';
import { invalidField } from '../errors.ts';

/** A policy with every field set. */
export type FullLogPolicy = Required<LogPolicyJson>;

/** A policy as it is kept; the id is `global` or a site's. */
export interface LogPolicyRecord {
  readonly id: string;
  readonly revision: string;
  /** RFC 3339. */
  readonly updatedAt: string;
  /** Of the deployment. */
  readonly policy?: FullLogPolicy;
  /** Of a site; null once it was removed: the revision continues from there. */
  readonly override?: SiteLogPolicyOverrideJson | null;
}

/** Whether storage pressure takes details away now. */
export interface LogEmergencyRecord {
  readonly id: string;
  readonly active: boolean;
  /** Rises with every change of `active`. */
  readonly epoch: string;
}

/** Id of the policy of the deployment. */
export const globalLogPolicyId = 'global';
/** Id of the one emergency record. */
export const logEmergencyId = 'emergency';
/** Revision of the policy of a deployment that never changed it. */
export const firstLogPolicyRevision = '1';

/** The policy of a deployment that never changed it. */
export const standardLogPolicy: FullLogPolicy = {
  accessMode: 'LOG_DETAIL_MODE_EXEMPLARS',
  securityMode: 'LOG_DETAIL_MODE_ALL',
  accessFullRetentionDays: 7,
  securityFullRetentionDays: 7,
  exemplarRetentionDays: 30,
  securityFactRetentionDays: 90,
  evidencePairing: true,
  statusExemplarK: 10,
  apiExemplarK: 10,
  securityExemplarK: 10,
  sampleWindowSeconds: 60,
  pressurePolicy: 'LOG_PRESSURE_POLICY_PROTECT_TRAFFIC',
  requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_SECURITY_ONLY',
  requestEvidenceHeaderMaxBytes: 16 * 1024,
  requestEvidenceBodyMode: 'REQUEST_EVIDENCE_BODY_MODE_OFF',
  requestEvidenceBodyMaxBytes: 64 * 1024,
  requestEvidenceRetentionDays: 3,
  requestEvidenceInflightMaxBytes: String(64 * 1024 * 1024),
  requestEvidenceFinalizedQueueMaxBytes: String(256 * 1024 * 1024),
  schemaViolationDetails: false,
};

/** Fields of which 0, or nothing, means the standard value: it is no value of theirs. */
const zeroIsStandard = [
  ...(['accessMode', 'securityMode', 'pressurePolicy'] as const),
  ...(['accessFullRetentionDays', 'securityFullRetentionDays'] as const),
  ...(['exemplarRetentionDays', 'securityFactRetentionDays', 'sampleWindowSeconds'] as const),
  ...(['requestEvidenceMode', 'requestEvidenceHeaderMaxBytes'] as const),
  ...(['requestEvidenceBodyMode', 'requestEvidenceRetentionDays'] as const),
  ...(['requestEvidenceInflightMaxBytes', 'requestEvidenceFinalizedQueueMaxBytes'] as const),
] satisfies (keyof LogPolicyJson)[];

const zeros: FullLogPolicy = {
  ...standardLogPolicy,
  evidencePairing: false,
  statusExemplarK: 0,
  apiExemplarK: 0,
  securityExemplarK: 0,
  requestEvidenceBodyMaxBytes: 0,
  schemaViolationDetails: false,
};

/** Fields that a site can change. */
const siteFields = [
  'accessMode',
  'securityMode',
  'accessFullRetentionDays',
  'securityFullRetentionDays',
  'exemplarRetentionDays',
  'evidencePairing',
  'requestEvidenceMode',
  'schemaViolationDetails',
] as const satisfies (keyof SiteLogPolicyOverrideJson & keyof LogPolicyJson)[];

/** A policy as it was sent, with every field set. Errors: invalid_argument naming the field. */
export function readLogPolicy(sent: LogPolicyJson): FullLogPolicy {
  const stated: LogPolicyJson = { ...sent };
  for (const field of zeroIsStandard) if (isNothing(stated[field])) delete stated[field];
  const full = { ...zeros, ...stated };
  checkBytes('requestEvidenceInflightMaxBytes', full, logPolicyLimits.evidenceInflightBytesMax);
  checkBytes('requestEvidenceFinalizedQueueMaxBytes', full, logPolicyLimits.evidenceQueueBytesMax);
  return full;
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === 0 || value === '0') return true;
  return typeof value === 'string' && value.endsWith('_UNSPECIFIED');
}

function checkBytes(
  field: 'requestEvidenceInflightMaxBytes' | 'requestEvidenceFinalizedQueueMaxBytes',
  policy: FullLogPolicy,
  max: number,
): void {
  const bytes = Number(policy[field]);
  const min = logPolicyLimits.evidenceBufferBytesMin;
  if (bytes >= min && bytes <= max) return;
  throw invalidField(`policy.${field}`, `must be 0 for the standard, or ${min} to ${max} bytes`);
}

/** What a site changes, without what says nothing. */
export function readSiteOverride(sent: SiteLogPolicyOverrideJson): SiteLogPolicyOverrideJson {
  const kept: Record<string, unknown> = {};
  for (const field of siteFields) {
    const value = sent[field];
    const unstated = typeof value === 'string' && value.endsWith('_UNSPECIFIED');
    if (value !== undefined && !unstated) kept[field] = value;
  }
  return kept;
}

/** The policy of a site at every stage. */
export interface ResolvedPolicy {
  readonly inherited: FullLogPolicy;
  readonly configured: FullLogPolicy;
  readonly effective: FullLogPolicy;
  readonly configuredSources: LogPolicySourcesJson;
  readonly effectiveSources: LogPolicySourcesJson;
}

/** Resolves a policy; `override` is null for none, `emergency` while storage is under pressure. */
export function resolveLogPolicy(
  inherited: FullLogPolicy,
  override: SiteLogPolicyOverrideJson | null,
  emergency: boolean,
): ResolvedPolicy {
  const own = readSiteOverride(override ?? {});
  const configured: FullLogPolicy = { ...inherited, ...own };
  const taken = emergency ? underPressure(configured) : {};
  const sourcesOf = (emergencies: object): LogPolicySourcesJson => {
    const sources: Record<string, LogPolicySourceJson> = {};
    for (const field of Object.keys(inherited)) {
      sources[field] =
        field in emergencies
          ? 'LOG_POLICY_SOURCE_EMERGENCY'
          : field in own
            ? 'LOG_POLICY_SOURCE_SITE'
            : 'LOG_POLICY_SOURCE_GLOBAL';
    }
    return sources;
  };
  return {
    inherited,
    configured,
    effective: { ...configured, ...taken },
    configuredSources: sourcesOf({}),
    effectiveSources: sourcesOf(taken),
  };
}

/** What a full disk changes: facts and counts stay, details and evidence stop. */
function underPressure(policy: FullLogPolicy): Partial<FullLogPolicy> {
  if (policy.pressurePolicy === 'LOG_PRESSURE_POLICY_REPORT_ONLY') return {};
  const wanted: Partial<FullLogPolicy> = {
    accessMode: 'LOG_DETAIL_MODE_NONE',
    securityMode: 'LOG_DETAIL_MODE_NONE',
    requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_OFF',
    schemaViolationDetails: false,
  };
  const changed = Object.entries(wanted).filter(
    ([field, value]) => policy[field as keyof FullLogPolicy] !== value,
  );
  return Object.fromEntries(changed);
}

/** Combinations that can fill the disk, in words. */
export function storageRisks(policy: FullLogPolicy): string[] {
  const risks: string[] = [];
  if (policy.requestEvidenceMode === 'REQUEST_EVIDENCE_MODE_OFF') return risks;
  if (policy.requestEvidenceBodyMode === 'REQUEST_EVIDENCE_BODY_MODE_FULL') {
    risks.push('whole request bodies are kept');
  }
  if (
    policy.requestEvidenceMode === 'REQUEST_EVIDENCE_MODE_RETAINED_LOGS' &&
    policy.accessMode === 'LOG_DETAIL_MODE_ALL'
  ) {
    risks.push('evidence is kept for every access row');
  }
  return risks;
}

/** Errors: invalid_argument for risks that nobody acknowledged. */
export function requireAcknowledged(risks: readonly string[], acknowledged: boolean): void {
  if (acknowledged || risks.length === 0) return;
  throw invalidField(
    'acknowledgeStorageRisk',
    `must be true, because ${risks.join(' and ')}; that can fill the disk`,
  );
}

/** For how many days something of each site is kept. */
export interface SiteDays {
  /** Of sites that are not named. */
  readonly standard: number;
  readonly sites: ReadonlyMap<string, number>;
}

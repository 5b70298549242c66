/** The piece of a bundle that says what is recorded of requests, and the policies that it holds. */

import { isDeepStrictEqual } from 'node:util';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  RuntimeLogPolicy,
  RuntimeLogPolicySchema,
} from '../../../proto/gen/waf/runtime/v1/logging_pb.ts';
import {
  firstLogPolicyRevision,
  globalLogPolicyId,
  logEmergencyId,
  resolveLogPolicy,
  standardLogPolicy,
  type FullLogPolicy,
  type LogPolicyRecord,
  type ResolvedPolicy,
  type SiteDays,
} from '../../domain/settings/log-policy.ts';
import { wantsAnswerBodies, wantsEveryRequest } from '../../domain/settings/siem-settings.ts';
import type { TracingSettings } from '../../domain/settings/tracing-settings.ts';
import {
  logEmergencies,
  logPolicies,
  settingsId,
  systemSettings,
  tracingSettings,
  type TracingRecord,
} from '../../store/collections.ts';
import type { ReadStore, Store } from '../../store/store.ts';
import type { PartKind } from './part-kind.ts';

/** Log policies; none while nobody changed one, for nodes know the standard. */
export const logPolicyKind: PartKind = {
  name: 'log-policy',
  collections: ['log-policies', 'log-emergencies', 'settings', 'tracing'],
  plan: (store) => {
    const emergency = store.get(logEmergencies, logEmergencyId);
    const stored = store.list(logPolicies);
    const exported = exportedBeside(store);
    const nothingExported = !exported.exportAccess && !exported.exportAnswerBodies;
    const tracing = store.get(tracingSettings, tracingId);
    const standard = stored.length === 0 && emergency?.active !== true;
    if (standard && nothingExported && tracing === undefined) return [];
    const inputs = [...stored, emergency, exported, tracing];
    return [{ id: '', inputs, build: () => buildPolicies(store) }];
  },
};

const tracingId = 'tracing';

/** Keeps which requests are sampled for traces, null for none; nodes get it. */
export async function keepTracing(store: Store, settings: TracingSettings | null): Promise<void> {
  const known = store.get(tracingSettings, tracingId);
  if (settings === null) {
    if (known !== undefined) await store.write((tx) => tx.remove(tracingSettings, tracingId));
    return;
  }
  const { ratio, parents, perSecond } = settings;
  const record: TracingRecord = { id: tracingId, ratio, parents, perSecond };
  if (isDeepStrictEqual(known, record)) return;
  await store.write((tx) => tx.put(tracingSettings, record));
}

/** The policy of the deployment with its revision. */
export function globalLogPolicy(store: ReadStore): LogPolicyRecord & { policy: FullLogPolicy } {
  const stored = store.get(logPolicies, globalLogPolicyId);
  const revision = stored?.revision ?? firstLogPolicyRevision;
  const policy = { ...standardLogPolicy, ...stored?.policy };
  return { id: globalLogPolicyId, revision, updatedAt: stored?.updatedAt ?? '', policy };
}

/** The policy of a site, or with '' of the deployment, at every stage. */
export function resolvedLogPolicy(store: ReadStore, siteId: string): ResolvedPolicy {
  const override = siteId === '' ? null : (store.get(logPolicies, siteId)?.override ?? null);
  const emergency = store.get(logEmergencies, logEmergencyId)?.active === true;
  return resolveLogPolicy(globalLogPolicy(store).policy, override, emergency);
}

/** Sites that change the policy. */
export function sitesWithLogPolicy(store: ReadStore): string[] {
  const own = store.list(logPolicies).filter(({ override }) => (override ?? null) !== null);
  return own.map(({ id }) => id);
}

/**
 * For how many days the events of each lane are kept, and for how many the details of security
 * events. Errors, of which the policy does not speak, are kept like exemplars.
 */
export function retentionDays(store: ReadStore) {
  const standard = resolvedLogPolicy(store, '').configured;
  const own = sitesWithLogPolicy(store).map(
    (siteId) => [siteId, resolvedLogPolicy(store, siteId).configured] as const,
  );
  const days = (daysOf: (policy: FullLogPolicy) => number): SiteDays => ({
    standard: daysOf(standard),
    sites: new Map(own.map(([siteId, policy]) => [siteId, daysOf(policy)])),
  });
  const exemplars = days((policy) => policy.exemplarRetentionDays);
  return {
    security: days((policy) => policy.securityFactRetentionDays),
    securityDetails: days((policy) => policy.securityFullRetentionDays),
    access: days((policy) => policy.accessFullRetentionDays),
    access_sample: exemplars,
    error: exemplars,
  };
}

/** Fields of a policy as it travels. */
type PolicyInit = Exclude<MessageInitShape<typeof RuntimeLogPolicySchema>, RuntimeLogPolicy>;

function buildPolicies(store: ReadStore) {
  const revision = BigInt(globalLogPolicy(store).revision);
  const exported = exportedBeside(store);
  const places = ['', ...sitesWithLogPolicy(store)];
  const tracing = runtimeTracing(store);
  return {
    logPolicies: places.map((siteId) => ({
      ...toRuntimeLogPolicy(siteId, revision, resolvedLogPolicy(store, siteId).effective),
      ...(siteId === '' ? { ...exported, ...tracing } : {}),
    })),
  };
}

function runtimeTracing(store: ReadStore): Pick<PolicyInit, 'tracing'> {
  const record = store.get(tracingSettings, tracingId);
  if (record === undefined) return {};
  const { ratio, parents, perSecond } = record;
  return { tracing: { ratio, parents, perSecond } };
}

/** What SIEM targets take beside what is kept: every request, bodies of answers. */
function exportedBeside(
  store: ReadStore,
): Required<Pick<PolicyInit, 'exportAccess' | 'exportAnswerBodies'>> {
  const values = store.get(systemSettings, settingsId)?.values ?? {};
  return {
    exportAccess: wantsEveryRequest(values),
    exportAnswerBodies: wantsAnswerBodies(values),
  };
}

const detailModes = ['UNSPECIFIED', 'NONE', 'EXEMPLARS', 'ALL'] as const;
const evidenceModes = ['UNSPECIFIED', 'OFF', 'SECURITY_ONLY', 'RETAINED_LOGS'] as const;
const bodyModes = ['UNSPECIFIED', 'OFF', 'PREFIX', 'FULL'] as const;

/** A policy as it travels. */
export function toRuntimeLogPolicy(
  siteId: string,
  revision: bigint,
  policy: FullLogPolicy,
): PolicyInit {
  const mode = numberOf(evidenceModes, policy.requestEvidenceMode);
  const evidence = {
    mode,
    headerBytesMax: policy.requestEvidenceHeaderMaxBytes,
    bodyMode: numberOf(bodyModes, policy.requestEvidenceBodyMode),
    bodyBytesMax: policy.requestEvidenceBodyMaxBytes,
    inflightBytesMax: BigInt(policy.requestEvidenceInflightMaxBytes),
    queueBytesMax: BigInt(policy.requestEvidenceFinalizedQueueMaxBytes),
  };
  return {
    siteId,
    revision,
    accessMode: numberOf(detailModes, policy.accessMode),
    securityMode: numberOf(detailModes, policy.securityMode),
    pairing: policy.evidencePairing,
    statusK: policy.statusExemplarK,
    apiK: policy.apiExemplarK,
    securityK: policy.securityExemplarK,
    windowSeconds: policy.sampleWindowSeconds,
    ...(mode > 1 ? { evidence } : {}),
  };
}

/** The number of an enum's value, by the last words of its name. */
function numberOf(words: readonly string[], name: string): number {
  return words.findIndex((word) => name.endsWith(`_MODE_${word}`));
}

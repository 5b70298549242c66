/** Reads and changes log policies: of the deployment, and of sites. */

import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  LogPolicySchema,
  LogStorageHealthSchema,
  ResolvedLogPolicySchema,
  SiteLogPolicyOverrideSchema,
  type LogPolicyJson,
  type LogService,
  type SiteLogPolicyOverrideJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import {
  globalLogPolicyId,
  logEmergencyId,
  readLogPolicy,
  readSiteOverride,
  requireAcknowledged,
  resolveLogPolicy,
  storageRisks,
  type FullLogPolicy,
  type LogPolicyRecord,
} from '../../domain/settings/log-policy.ts';
import { globalLogPolicy, resolvedLogPolicy } from '../../publish/parts/log-parts.ts';
import { logEmergencies, logPolicies } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, nextRevision, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep, keepNoted, type Kept, type RowExtras } from '../resource/owned.ts';
import { pendingBytesOf } from './coverage.ts';
import { storedSite } from '../site-service/stored-site.ts';

/** Policies of the deployment and of sites. */
const logPolicyKind: Kept<LogPolicyRecord> = {
  collection: logPolicies,
  audit: 'log_policy',
  nameOf: ({ id }) => id,
  audited: ({ policy, override }) => policy ?? override ?? {},
};

/** The policy of the deployment. */
export function getGlobalLogPolicy(
  parts: Uses<'store' | 'storage' | 'nodes'>,
): Method<typeof LogService, 'getGlobalLogPolicy'> {
  return () => ({ policy: showGlobal(parts.store), storageHealth: showHealth(parts) });
}

/** Replaces the policy of the deployment. */
export function updateGlobalLogPolicy(
  parts: Uses<'store' | 'clock' | 'storage' | 'nodes'>,
): Method<typeof LogService, 'updateGlobalLogPolicy'> {
  return async ({ policy, expectedRevision, acknowledgeStorageRisk }, context) => {
    const caller = callerOf(context);
    if (policy === undefined) throw invalidField('policy', 'is required');
    const wanted = readLogPolicy(toRecord<LogPolicyJson>(LogPolicySchema, policy));
    await parts.store.write((tx) => {
      const before = globalLogPolicy(tx);
      requireExpected(expectedRevision, before.revision);
      const risks = [...storageRisks(wanted), ...newRisksOfSites(tx, before.policy, wanted)];
      requireAcknowledged(risks, acknowledgeStorageRisk);
      const after = {
        id: globalLogPolicyId,
        revision: nextRevision(before.revision),
        updatedAt: isoNow(parts.clock),
        policy: wanted,
      };
      keep(tx, caller, logPolicyKind, { ...after, policy: before.policy }, after, noted(risks));
    });
    return { policy: showGlobal(parts.store), storageHealth: showHealth(parts) };
  };
}

/** The policy of a site at every stage. */
export function getSiteLogPolicy(
  parts: Uses<'store'>,
): Method<typeof LogService, 'getSiteLogPolicy'> {
  return ({ siteId }, context) => {
    const { store } = parts;
    storedSite(store, callerOf(context), siteId, 'siteId');
    return { policy: showResolved(store, siteId), ...showOverride(store, siteId) };
  };
}

/** Sets what a site changes; fields that are left out are inherited. */
export function upsertSiteLogPolicyOverride(
  parts: Uses<'store' | 'clock'>,
): Method<typeof LogService, 'upsertSiteLogPolicyOverride'> {
  return async ({ override, expectedRevision, acknowledgeStorageRisk }, context) => {
    const caller = callerOf(context);
    if (override === undefined) throw invalidField('override', 'is required');
    const { siteId } = override;
    const sent = toRecord<SiteLogPolicyOverrideJson>(SiteLogPolicyOverrideSchema, override);
    const wanted = readSiteOverride(sent);
    await parts.store.write((tx) => {
      const site = storedSite(tx, caller, siteId, 'override.siteId');
      const stored = tx.get(logPolicies, siteId);
      requireExpected(expectedRevision, stored?.revision ?? '0');
      const inherited = globalLogPolicy(tx).policy;
      const { configured } = resolveLogPolicy(inherited, wanted, false);
      const known = storageRisks(inherited);
      const risks = storageRisks(configured).filter((risk) => !known.includes(risk));
      requireAcknowledged(risks, acknowledgeStorageRisk);
      const before = stored ?? { id: site.id, revision: '0', updatedAt: '' };
      const extras = { action: 'set', ...noted(risks) };
      keep(tx, caller, logPolicyKind, before, changedOverride(parts, before, wanted), extras);
    });
    return {
      policy: showResolved(parts.store, siteId),
      ...showOverride(parts.store, siteId),
    };
  };
}

/** Lets a site use the policy of the deployment. */
export function deleteSiteLogPolicyOverride(
  parts: Uses<'store' | 'clock'>,
): Method<typeof LogService, 'deleteSiteLogPolicyOverride'> {
  return async ({ siteId, expectedRevision }, context) => {
    const caller = callerOf(context);
    await parts.store.write((tx) => {
      storedSite(tx, caller, siteId, 'siteId');
      const stored = tx.get(logPolicies, siteId);
      const before = stored?.override ?? null;
      if (stored === undefined || before === null) {
        throw refusal('not_found', 'This site does not override the log policy.');
      }
      requireExpected(expectedRevision, stored.revision);
      const after = changedOverride(parts, stored, null);
      keepNoted(tx, caller, logPolicyKind, after, 'reset', { before });
    });
    return { policy: showResolved(parts.store, siteId) };
  };
}

/** The revision continues over removals, so that a stale one never fits again. */
function changedOverride(
  parts: Uses<'clock'>,
  { id, revision }: Pick<LogPolicyRecord, 'id' | 'revision'>,
  override: SiteLogPolicyOverrideJson | null,
): LogPolicyRecord {
  return { id, revision: nextRevision(revision), updatedAt: isoNow(parts.clock), override };
}

/** Errors: aborted when the policy has moved on. */
function requireExpected(sent: bigint, stored: string): void {
  if (String(sent) === stored) return;
  throw refusal(
    'aborted',
    `expectedRevision: the policy changed since; it has revision ${stored} now`,
  );
}

/** Risks that a change of the policy of the deployment brings to sites that change it. */
function newRisksOfSites(
  store: ReadStore,
  before: FullLogPolicy,
  after: FullLogPolicy,
): readonly string[] {
  const found = new Set<string>();
  for (const { override } of store.list(logPolicies)) {
    if ((override ?? null) === null) continue;
    const known = storageRisks(resolveLogPolicy(before, override ?? null, false).configured);
    for (const risk of storageRisks(resolveLogPolicy(after, override ?? null, false).configured)) {
      if (!known.includes(risk) && !storageRisks(after).includes(risk)) {
        found.add(`${risk} of a site that overrides the policy`);
      }
    }
  }
  return [...found];
}

function showHealth(parts: Uses<'storage' | 'nodes'>) {
  return toMessage(LogStorageHealthSchema, parts.storage.health(pendingBytesOf(parts)));
}

function showGlobal(store: ReadStore) {
  const { policy, revision, updatedAt } = globalLogPolicy(store);
  return {
    policy: toMessage(LogPolicySchema, policy),
    revision: BigInt(revision),
    ...(updatedAt === '' ? {} : { updatedAt: timestampFromDate(new Date(updatedAt)) }),
  };
}

function showResolved(store: ReadStore, siteId: string) {
  return toMessage(ResolvedLogPolicySchema, {
    ...resolvedLogPolicy(store, siteId),
    globalRevision: globalLogPolicy(store).revision,
    siteRevision: store.get(logPolicies, siteId)?.revision ?? '0',
    safetyEpoch: store.get(logEmergencies, logEmergencyId)?.epoch ?? '0',
  });
}

function showOverride(store: ReadStore, siteId: string) {
  const stored = store.get(logPolicies, siteId);
  const override = stored?.override ?? null;
  if (stored === undefined || override === null) return {};
  const { revision, updatedAt } = stored;
  const shown = { ...override, siteId, revision, updatedAt };
  return { override: toMessage(SiteLogPolicyOverrideSchema, shown) };
}

/** What audit rows say of risks that were acknowledged. */
function noted(acknowledged: readonly string[]): RowExtras {
  return acknowledged.length === 0
    ? {}
    : { metadata: { acknowledgedRisks: acknowledged.join('; ') } };
}

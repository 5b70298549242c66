/** Owns finding a caller's policy, and keeping a new revision of it with its version. */

import { createHash } from 'node:crypto';
import { controlLimits } from '../../../engine/base/limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import { notFound, refusal } from '../../domain/errors.ts';
import { renderPolicy } from '../../domain/policy-seclang.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { policies, policyVersions, rulesets } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { actorNote } from '../context.ts';
import { nextRevision, requireText } from '../convert.ts';

/** A policy of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export function storedPolicy(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
): PolicyRecord {
  const policy = store.get(policies, requireText(id, field));
  if (policy === undefined || policy.tenantId !== caller.tenantId) throw notFound('policy');
  return policy;
}

/** Errors: failed_precondition for templates, which are copied and never changed. */
export function refuseTemplate(policy: PolicyRecord): void {
  if (policy.isTemplate !== true) return;
  throw refusal('failed_precondition', 'templates are fixed: create a policy from this one');
}

const usersNamed = 5;

/** Errors: failed_precondition naming the users by id, when there are any. */
export function refuseInUse(
  field: string,
  kind: string,
  users: readonly { readonly id: string }[],
): void {
  if (users.length === 0) return;
  const named = users.slice(0, usersNamed).map(({ id }) => id);
  const more = users.length > usersNamed ? ` and ${users.length - usersNamed} more` : '';
  throw refusal('failed_precondition', `${field}: ${kind} use it: ${named.join(', ')}${more}`);
}

/** Digest of what a policy renders to. */
export function digestOf(store: ReadStore, policy: PolicyRecord): string {
  const ruleset = store.get(rulesets, policy.crsRulesetId) ?? null;
  const { seclang } = renderPolicy(policy, ruleset);
  return createHash('sha256')
    .update(ruleset?.fingerprint ?? '')
    .update(seclang)
    .update(JSON.stringify(policy.plugins ?? []))
    .digest('hex');
}

/** Keeps `changed` as the next revision, with its version and audit row. */
export function savePolicy(
  tx: WriteStore,
  caller: Caller,
  before: PolicyRecord | null,
  changed: PolicyRecord,
  nowMs: number,
  action: string,
): PolicyRecord {
  const now = new Date(nowMs).toISOString();
  const revision = before === null ? '1' : nextRevision(before.revision);
  const draft: PolicyRecord = { ...changed, revision, updatedAt: now };
  const after: PolicyRecord = { ...draft, bundleSha256: digestOf(tx, draft) };
  tx.put(policies, after);
  tx.put(policyVersions, {
    id: `${after.id}.${revision.padStart(8, '0')}`,
    policyId: after.id,
    revision,
    bundleSha256: after.bundleSha256 ?? '',
    snapshot: after as never,
    createdAt: now,
    createdBy: caller.username,
  });
  const versions = tx.find(policyVersions, 'policy', after.id);
  for (const old of versions.slice(0, Math.max(0, versions.length - controlLimits.versionsMax))) {
    tx.remove(policyVersions, old.id);
  }
  tx.audit({
    ...actorNote(caller),
    action,
    resourceType: 'policy',
    resourceId: after.id,
    resourceName: after.name,
    ...(before === null ? {} : { before }),
    after,
  });
  return after;
}

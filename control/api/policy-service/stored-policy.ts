/** Finds a caller's policy, and keeps a new revision of it with its version. */

import type { Caller } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { digestOf, keepVersion } from '../../publish/policy-versions.ts';
import { policies, sites } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { nextRevision } from '../convert.ts';
import { finderOf, keep, type Owned } from '../resource/owned.ts';

/** Policies and templates. */
export const policyKind: Owned<PolicyRecord> = {
  collection: policies,
  noun: 'policy',
  audit: 'policy',
  nameOf: ({ name }) => name,
};

/** A policy of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export const storedPolicy = finderOf(policyKind);

/** The tenant of what belongs to a policy. */
export function tenantOfPolicy(
  store: ReadStore,
  { policyId }: { readonly policyId: string },
): string | undefined {
  return store.get(policies, policyId)?.tenantId;
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

/** Errors: failed_precondition when the change archives a policy that protects sites. */
function refuseArchivingUsed(
  tx: ReadStore,
  before: PolicyRecord | null,
  after: PolicyRecord,
): void {
  if (after.status !== 'archived' || before === null || before.status === 'archived') return;
  if (before.isDefault === true) {
    const problem = 'policy.status: it protects sites that name no policy';
    throw refusal('failed_precondition', `${problem}; it cannot be archived`);
  }
  const users = tx.list(sites).filter((site) => site.waf?.policyId === after.id);
  refuseInUse('policy.status', 'sites', users);
}

/**
 * Keeps `changed` as the next revision, with its version and audit row. Errors: failed_precondition
 * when it would be archived while sites use it.
 */
export function savePolicy(
  tx: WriteStore,
  caller: Caller,
  before: PolicyRecord | null,
  changed: PolicyRecord,
  nowMs: number,
  action: string,
): PolicyRecord {
  refuseArchivingUsed(tx, before, changed);
  const now = new Date(nowMs).toISOString();
  const revision = before === null ? '1' : nextRevision(before.revision);
  const draft: PolicyRecord = { ...changed, revision, updatedAt: now };
  const after: PolicyRecord = { ...draft, bundleSha256: digestOf(tx, draft) };
  keepVersion(tx, after, caller.username, now);
  return keep(tx, caller, policyKind, before, after, { action });
}

/**
 * The saved versions of policies: settings and IP-list bindings as they were. A version is never
 * changed; the factory state of a built-in policy is never dropped.
 */

import { createHash } from 'node:crypto';
import type { JsonObject } from '@bufbuild/protobuf';
import { resourceLimits } from '../limits/resource-limits.ts';
import type { IpListBinding } from '../domain/access/ip-list.ts';
import { renderPolicy } from '../domain/policy/policy-seclang.ts';
import type { PolicyRecord, PolicyVersionRecord } from '../domain/records.ts';
import {
  ipListBindings,
  ipLists,
  policies,
  policyVersions,
  rulesets,
} from '../store/collections.ts';
import type { ReadStore, WriteStore } from '../store/store.ts';

/** A binding inside a version; its list is named, too, for the day when it is gone. */
export interface SavedBinding {
  readonly id: string;
  readonly ipListId: string;
  readonly ipListName: string;
  readonly kind: string;
  readonly bypassMode: string;
  readonly addressSource: string;
  readonly matchMode: string;
  readonly pathPrefix: string;
  readonly sortOrder: number;
}

/** What a version holds. Versions of earlier releases have no bindings. */
export type PolicySnapshot = PolicyRecord & {
  readonly ipListBindings?: readonly SavedBinding[];
};

/** Who made the versions that nobody made. */
const product = 'waf';

/** What a version holds. */
export function snapshotOf(version: PolicyVersionRecord): PolicySnapshot {
  return version.snapshot as unknown as PolicySnapshot;
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

/** Keeps the present state of a policy as the version of its revision. */
export function keepVersion(
  tx: WriteStore,
  policy: PolicyRecord,
  username: string,
  now: string,
): void {
  const bindings = savedBindings(tx, policy.id);
  putVersion(tx, policy, bindings, { id: versionId(policy), username, now });
  dropOldest(tx, policy);
}

/**
 * Keeps a further version of the present revision: bindings are set on their own too, and a
 * rollback must be able to return to them.
 */
export function keepBindingsVersion(
  tx: WriteStore,
  policyId: string,
  username: string,
  now: string,
): void {
  const policy = policyId === '' ? undefined : tx.get(policies, policyId);
  if (policy === undefined || policy.isTemplate === true) return;
  const { revision } = policy;
  const known = tx.find(policyVersions, 'policy', policyId);
  const again = known.filter((one) => one.revision === revision).length;
  const id = `${versionId(policy)}.b${String(again).padStart(6, '0')}`;
  putVersion(tx, policy, savedBindings(tx, policyId), { id, username, now });
  dropOldest(tx, policy);
}

/** Keeps the factory state of built-in policies that have no version of it. */
export function keepFactoryVersions(tx: WriteStore): void {
  for (const policy of tx.list(policies)) {
    if (policy.builtin !== true || policy.isTemplate === true) continue;
    const template = tx.get(policies, policy.id.replace(/^policy-/, 'template-'));
    const first = policy.revision === '1' ? policy : factoryState(policy, template);
    if (first === undefined || tx.get(policyVersions, versionId(first)) !== undefined) continue;
    const bindings = first === policy ? savedBindings(tx, policy.id) : [];
    const made = { id: versionId(first), username: product, now: policy.createdAt };
    putVersion(tx, first, bindings, made);
  }
}

/** A template is never changed: it is what its policy was made from. */
function factoryState(
  policy: PolicyRecord,
  template: PolicyRecord | undefined,
): PolicyRecord | undefined {
  if (template?.isTemplate !== true) return undefined;
  const { id, tenantId, createdAt } = policy;
  const own = { id, tenantId, isTemplate: false, revision: '1', createdAt, updatedAt: createdAt };
  return { ...template, ...own };
}

function putVersion(
  tx: WriteStore,
  policy: PolicyRecord,
  bindings: readonly SavedBinding[],
  made: { readonly id: string; readonly username: string; readonly now: string },
): void {
  const bundleSha256 = policy.bundleSha256 || digestOf(tx, policy);
  const snapshot: PolicySnapshot = { ...policy, bundleSha256, ipListBindings: bindings };
  tx.put(policyVersions, {
    id: made.id,
    policyId: policy.id,
    revision: policy.revision,
    bundleSha256,
    snapshot: snapshot as unknown as JsonObject,
    createdAt: made.now,
    createdBy: made.username,
  });
}

function dropOldest(tx: WriteStore, policy: PolicyRecord): void {
  const versions = tx.find(policyVersions, 'policy', policy.id);
  const factory = policy.builtin === true ? versionId({ ...policy, revision: '1' }) : '';
  const droppable = versions.filter(({ id }) => id !== factory);
  const over = Math.max(0, versions.length - resourceLimits.versionsMax);
  for (const { id } of droppable.slice(0, over)) tx.remove(policyVersions, id);
}

/** Ids of a policy's versions sort by age. */
function versionId({ id, revision }: Pick<PolicyRecord, 'id' | 'revision'>): string {
  return `${id}.${revision.padStart(8, '0')}`;
}

/** Bindings of the policy itself; those of its sites belong to the sites. */
function savedBindings(store: ReadStore, policyId: string): SavedBinding[] {
  return store
    .find(ipListBindings, 'policy', policyId)
    .filter(({ siteId }) => siteId === '')
    .map((one) => savedBinding(store, one));
}

function savedBinding(store: ReadStore, binding: IpListBinding): SavedBinding {
  const { id, ipListId, kind, bypassMode = '', addressSource = '', matchMode = '' } = binding;
  const { pathPrefix = '', sortOrder = 0 } = binding;
  const ipListName = store.get(ipLists, ipListId)?.name ?? '';
  const choice = { kind, bypassMode, addressSource, matchMode };
  return { id, ipListId, ipListName, ...choice, pathPrefix, sortOrder };
}

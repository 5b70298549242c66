/**
 * Owns PolicyService/ListPolicyVersions, GetPolicyVersion, DiffPolicyVersions and RollbackPolicy.
 */

import type { JsonObject } from '@bufbuild/protobuf';
import {
  PolicySchema,
  PolicyVersionSchema,
  type PolicyService,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { changedPaths } from '../../domain/changed-paths.ts';
import { notFound, refusal } from '../../domain/errors.ts';
import type { PolicyRecord, PolicyVersionRecord } from '../../domain/records.ts';
import { policies, policyVersions, rulesets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { pageOf, requireText, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { checkPolicyPlugins } from './check-plugins.ts';
import { refuseUncompiled } from './compile.ts';
import { refuseSameName } from './create-policy.ts';
import { refuseTemplate, savePolicy, storedPolicy } from './stored-policy.ts';

/** Saved versions of a policy, newest first. */
export function listPolicyVersions(
  parts: ApiParts,
): Method<typeof PolicyService, 'listPolicyVersions'> {
  return (request, context) => {
    const policy = storedPolicy(parts.store, callerOf(context), request.policyId, 'policyId');
    const found = parts.store.find(policyVersions, 'policy', policy.id).toReversed();
    const { items, page } = pageOf(found, request.page);
    return { items: items.map((version) => toMessage(PolicyVersionSchema, version)), page };
  };
}

/** One saved version. */
export function getPolicyVersion(
  parts: ApiParts,
): Method<typeof PolicyService, 'getPolicyVersion'> {
  return (request, context) => {
    const version = storedVersion(parts.store, callerOf(context), request.id, 'id');
    return { version: toMessage(PolicyVersionSchema, version) };
  };
}

/** What every saved version changes. */
const bookkeeping = new Set(['revision', 'updatedAt', 'bundleSha256']);

/** What differs between two versions. */
export function diffPolicyVersions(
  parts: ApiParts,
): Method<typeof PolicyService, 'diffPolicyVersions'> {
  return (request, context) => {
    const caller = callerOf(context);
    const left = storedVersion(parts.store, caller, request.leftVersionId, 'leftVersionId');
    const right = storedVersion(parts.store, caller, request.rightVersionId, 'rightVersionId');
    const before = left.snapshot as JsonObject;
    const after = right.snapshot as JsonObject;
    const paths = changedPaths(before, after).filter((path) => !bookkeeping.has(path));
    return { diff: { before, after, changedPaths: paths } };
  };
}

/** Restores a saved version as a new revision; its ruleset must still exist. */
export function rollbackPolicy(parts: ApiParts): Method<typeof PolicyService, 'rollbackPolicy'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const before = storedPolicy(parts.store, caller, request.policyId, 'policyId');
    refuseTemplate(before);
    const version = storedVersion(parts.store, caller, request.versionId, 'versionId');
    if (version.policyId !== before.id) throw notFound('version of this policy');
    const snapshot = version.snapshot as unknown as PolicyRecord;
    if (
      snapshot.crsRulesetId !== '' &&
      parts.store.get(rulesets, snapshot.crsRulesetId) === undefined
    ) {
      throw refusal('failed_precondition', 'versionId: its ruleset is no longer there');
    }
    const restored: PolicyRecord = {
      ...snapshot,
      id: before.id,
      tenantId: before.tenantId,
      createdAt: before.createdAt,
      isTemplate: false,
      isDefault: before.isDefault ?? false,
      builtin: before.builtin ?? false,
    };
    refuseSameName(parts.store, restored);
    refuseMissingPlugins(parts.store, restored);
    await refuseUncompiled(parts, restored, 'versionId');
    const saved = await parts.store.write((tx) => {
      const current = storedPolicy(tx, caller, before.id, 'policyId');
      refuseSameName(tx, restored);
      return savePolicy(tx, caller, current, restored, parts.clock.nowMs(), 'rollback');
    });
    return { policy: toMessage(PolicySchema, saved) };
  };
}

/** Errors: failed_precondition when the ruleset no longer has a plugin that is switched on. */
function refuseMissingPlugins(store: ReadStore, policy: PolicyRecord): void {
  const used = (policy.plugins ?? []).filter(({ enabled }) => enabled === true);
  try {
    checkPolicyPlugins(store, { ...policy, plugins: used }, 'plugins');
  } catch {
    throw refusal('failed_precondition', 'versionId: a plugin that it uses is no longer there');
  }
}

function storedVersion(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
): PolicyVersionRecord {
  const version = store.get(policyVersions, requireText(id, field));
  const policy = version === undefined ? undefined : store.get(policies, version.policyId);
  if (version === undefined || policy?.tenantId !== caller.tenantId) {
    throw notFound('policy version');
  }
  return version;
}

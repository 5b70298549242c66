/** PolicyService/ListPolicyVersions, GetPolicyVersion and DiffPolicyVersions. */

import type { JsonObject } from '@bufbuild/protobuf';
import { PolicyVersionSchema, type PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { changedPaths } from '../../domain/changed-paths.ts';
import { notFound } from '../../domain/errors.ts';
import type { PolicyVersionRecord } from '../../domain/records.ts';
import { policies, policyVersions } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { pageOf, requireText, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { ours } from '../resource/owned.ts';
import { storedPolicy } from './stored-policy.ts';

/** Saved versions of a policy, newest first. */
export function listPolicyVersions(
  parts: Uses<'store'>,
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
  parts: Uses<'store'>,
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
  parts: Uses<'store'>,
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

/** A version of a policy of the caller. Errors: invalid_argument at `field`, not_found. */
export function storedVersion(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
): PolicyVersionRecord {
  const version = store.get(policyVersions, requireText(id, field));
  const policy = version === undefined ? undefined : store.get(policies, version.policyId);
  if (version === undefined || ours(policy, caller) === undefined) {
    throw notFound('policy version', id);
  }
  return version;
}

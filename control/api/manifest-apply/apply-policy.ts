/**
 * Owns applying a Policy document; its overrides and custom rules follow when all sites are there.
 */

import { randomUUID } from 'node:crypto';
import { checkPolicy } from '../../domain/policy/policy.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import { policySpec, readPolicySpec } from '../../publish/manifests/manifest-specs.ts';
import { policies } from '../../store/collections.ts';
import { checkPolicyPlugins } from '../policy-service/check-plugins.ts';
import { refuseSameName } from '../policy-service/create-policy.ts';
import { refuseTemplate, savePolicy } from '../policy-service/stored-policy.ts';
import { changeOf, type ApplyRun, type DocumentChange } from './context.ts';
import { findBefore, refuseTakenId } from './find-before.ts';

/** Makes the policy what the document says. Errors: AppError naming the field. */
export function applyPolicy(run: ApplyRun, document: ManifestDocument): DocumentChange {
  const { tx, caller, now, nowMs, references } = run;
  const before = findBefore(run, 'policy', document, (id) => tx.get(policies, id));
  if (before === null) refuseTakenId(document, tx.get(policies, document.statedId));
  else refuseTemplate(before);
  const asked = readPolicySpec(document, references);
  checkPolicy(asked);
  const draft: PolicyRecord = {
    ...asked,
    id: before?.id ?? (document.statedId || `policy-${randomUUID()}`),
    tenantId: caller.tenantId,
    name: (asked.name ?? '').trim(),
    crsRulesetId: asked.crsRulesetId ?? '',
    status: asked.status ?? 'active',
    isTemplate: false,
    isDefault: before?.isDefault === true,
    builtin: before?.builtin === true,
    revision: before?.revision ?? '1',
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  const earlier = before === null ? null : policySpec(before, references);
  const later = policySpec(draft, references);
  const change = changeOf(document, draft.id, draft.revision, earlier, later);
  const renamed = before !== null && before.name !== draft.name;
  if (change.action === 'unchanged' && !renamed) return change;
  checkPolicyPlugins(tx, draft, 'policy.plugins');
  refuseSameName(tx, draft);
  const saved = savePolicy(tx, caller, before, draft, nowMs, before === null ? 'create' : 'update');
  references.add('policy', saved.id, saved.name);
  run.policiesChanged.set(saved.id, { policy: saved, where: document.where });
  const revised = { ...change, revision: saved.revision };
  return renamed ? { ...revised, action: 'update', changedPaths: ['metadata.name'] } : revised;
}

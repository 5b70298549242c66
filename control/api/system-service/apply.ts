/** SystemService/PreviewApply and Apply. */

import { create, type JsonObject } from '@bufbuild/protobuf';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { MutationResultSchema } from '../../../proto/gen/waf/v1/common_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { callerOf, type Uses } from '../context.ts';
import {
  applyManifest,
  planIdOf,
  previewManifest,
  type AppliedManifest,
} from '../manifest-apply/apply-manifest.ts';
import type { DocumentChange } from '../manifest-apply/context.ts';
import type { Method } from '../method.ts';

/** What applying a manifest would change, and what is wrong with its custom rules. */
export function previewApply(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine' | 'readManifest'>,
): Method<typeof SystemService, 'previewApply'> {
  return async ({ manifestYaml, collectRuleFindings }, context) => {
    const caller = callerOf(context);
    requireManifest(manifestYaml);
    if (!collectRuleFindings) {
      return { plan: showPlan(await applyManifest(parts, caller, manifestYaml, true)) };
    }
    const previewed = await previewManifest(parts, caller, manifestYaml);
    const ruleFindings = previewed.ruleFaults.map((fault) => ({
      ...fault,
      ruleId: BigInt(fault.ruleId),
    }));
    return { plan: showPlan(previewed), ruleFindings };
  };
}

/** Applies a manifest: all documents or none. Results stand in the order of the changes. */
export function apply(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine' | 'readManifest'>,
): Method<typeof SystemService, 'apply'> {
  return async ({ manifestYaml, dryRun, expectedPlanId }, context) => {
    const caller = callerOf(context);
    requireManifest(manifestYaml);
    const applied = await applyManifest(parts, caller, manifestYaml, dryRun, expectedPlanId);
    const results = applied.changes.map(({ id, revision, action }) =>
      create(MutationResultSchema, {
        id,
        revision: BigInt(revision),
        changed: action !== 'unchanged',
      }),
    );
    return { plan: showPlan(applied), results: dryRun ? [] : results };
  };
}

function requireManifest(bytes: Uint8Array): void {
  if (bytes.length === 0) throw invalidField('manifestYaml', 'is required');
}

function showPlan({ changes, warnings }: AppliedManifest) {
  return { changes: changes.map(showChange), warnings: [...warnings], id: planIdOf(changes) };
}

function showChange({ kind, name, action, before, after, changedPaths }: DocumentChange) {
  if (action === 'unchanged') return { kind, name, action };
  const states = before === null ? {} : { before: { spec: before } as JsonObject };
  const diff = { ...states, after: { spec: after } as JsonObject, changedPaths: [...changedPaths] };
  return { kind, name, action, diff };
}

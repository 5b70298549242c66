/** PolicyService. */

import {
  BodyInspectionSchema,
  PolicySchema,
  type PolicyService,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { bodyInspectionOf } from '../../domain/policy/body-inspection.ts';
import { inspectionFields, policyMask } from '../../domain/policy/policy-mask.ts';
import { readMask } from '../../domain/update-mask.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Built } from '../method.ts';
import { serve } from '../resource/serve.ts';
import { refuseUncompiled } from './compile.ts';
import { changesRules, policyResource } from './policy.ts';
import { previewCrsImpact } from './preview-crs-impact.ts';
import { previewSecLang } from './preview-sec-lang.ts';
import { setActiveCrsRuleset } from './set-active-crs-ruleset.ts';
import { setEngineState } from './set-engine-state.ts';
import { storedPolicy } from './stored-policy.ts';
import { testPolicy } from './test-policy.ts';
import { updatePolicyLayer } from './update-policy-layer.ts';
import { diffPolicyVersions, getPolicyVersion, listPolicyVersions } from './versions.ts';
import { rollbackPolicy } from './rollback-policy.ts';

/** PolicyService. */
export function policyService(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Built<typeof PolicyService> {
  const kind = policyResource;
  const { show, asked, list, create, update, remove } = serve(
    parts,
    kind,
    async (policy, before) => {
      if (changesRules(before, policy)) await refuseUncompiled(parts, policy, 'policy');
    },
  );
  return {
    listPolicies: (request, context) =>
      list(request, context, {
        fits: ({ isTemplate }) => !request.templatesOnly || isTemplate === true,
      }),
    getPolicy: ({ id }, context) => {
      const policy = storedPolicy(parts.store, callerOf(context), id, 'id');
      const inspection = bodyInspectionOf(policy);
      return {
        policy: toMessage(PolicySchema, policy),
        ...(inspection && { bodyInspection: toMessage(BodyInspectionSchema, inspection) }),
      };
    },
    createPolicy: async ({ policy }, context) => ({
      policy: show(await create(asked(policy), context)),
    }),
    createPolicyFromTemplate: async ({ templateId, name, description }, context) => {
      const template = storedPolicy(parts.store, callerOf(context), templateId, 'templateId');
      if (template.isTemplate !== true) throw invalidField('templateId', 'names no template');
      const copy = { ...template, name, description: description || (template.description ?? '') };
      return { policy: show(await create(copy, context)) };
    },
    updatePolicy: async (request, context) => {
      const policy = asked(request.policy);
      refuseMixed(request.updateMask);
      return { policy: show(await update(policy, request, context)) };
    },
    updatePolicyLayer: updatePolicyLayer(parts),
    setEngineState: setEngineState(parts),
    previewSecLang: previewSecLang(parts),
    previewCrsImpact: previewCrsImpact(parts),
    testPolicy: testPolicy(parts),
    listPolicyTemplates: (request, context) =>
      list(request, context, { fits: ({ isTemplate }) => isTemplate === true }),
    deletePolicy: remove,
    setActiveCrsRuleset: setActiveCrsRuleset(parts),
    listPolicyVersions: listPolicyVersions(parts),
    getPolicyVersion: getPolicyVersion(parts),
    rollbackPolicy: rollbackPolicy(parts),
    diffPolicyVersions: diffPolicyVersions(parts),
  };
}

/** Errors: invalid_argument for a mask of inspection settings and other fields. */
function refuseMixed(updateMask: string): void {
  const tops = readMask(updateMask, policyMask);
  const inspects = tops.map(([top = '']) => Object.hasOwn(inspectionFields, top));
  if (new Set(inspects).size < 2) return;
  throw invalidField('updateMask', 'must not mix inspection settings with other fields');
}

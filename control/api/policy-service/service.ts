/** PolicyService. */

import {
  BodyInspectionSchema,
  PolicySchema,
  type PolicyService,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { bodyInspectionOf } from '../../domain/policy/body-inspection.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Built } from '../method.ts';
import { serve } from '../resource/serve.ts';
import { createPolicy, createPolicyFromTemplate } from './create-policy.ts';
import { policyResource } from './policy.ts';
import { previewCrsImpact } from './preview-crs-impact.ts';
import { previewSecLang } from './preview-sec-lang.ts';
import { setActiveCrsRuleset } from './set-active-crs-ruleset.ts';
import { setEngineState } from './set-engine-state.ts';
import { storedPolicy } from './stored-policy.ts';
import { testPolicy } from './test-policy.ts';
import { updatePolicy } from './update-policy.ts';
import { updatePolicyLayer } from './update-policy-layer.ts';
import { diffPolicyVersions, getPolicyVersion, listPolicyVersions } from './versions.ts';
import { rollbackPolicy } from './rollback-policy.ts';

/** PolicyService. */
export function policyService(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Built<typeof PolicyService> {
  const { list, remove } = serve(parts, policyResource);
  return {
    listPolicies: (request, context) =>
      list(request, context, ({ isTemplate }) => !request.templatesOnly || isTemplate === true),
    getPolicy: ({ id }, context) => {
      const policy = storedPolicy(parts.store, callerOf(context), id, 'id');
      const inspection = bodyInspectionOf(policy);
      return {
        policy: toMessage(PolicySchema, policy),
        ...(inspection && { bodyInspection: toMessage(BodyInspectionSchema, inspection) }),
      };
    },
    createPolicy: createPolicy(parts),
    createPolicyFromTemplate: createPolicyFromTemplate(parts),
    updatePolicy: updatePolicy(parts),
    updatePolicyLayer: updatePolicyLayer(parts),
    setEngineState: setEngineState(parts),
    previewSecLang: previewSecLang(parts),
    previewCrsImpact: previewCrsImpact(parts),
    testPolicy: testPolicy(parts),
    listPolicyTemplates: (request, context) =>
      list(request, context, ({ isTemplate }) => isTemplate === true),
    deletePolicy: remove,
    setActiveCrsRuleset: setActiveCrsRuleset(parts),
    listPolicyVersions: listPolicyVersions(parts),
    getPolicyVersion: getPolicyVersion(parts),
    rollbackPolicy: rollbackPolicy(parts),
    diffPolicyVersions: diffPolicyVersions(parts),
  };
}

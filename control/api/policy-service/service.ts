/** PolicyService. */

import type { PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { createPolicy, createPolicyFromTemplate } from './create-policy.ts';
import { deletePolicy } from './delete-policy.ts';
import { getPolicy } from './get-policy.ts';
import { listPolicies, listPolicyTemplates } from './list-policies.ts';
import { previewCrsImpact } from './preview-crs-impact.ts';
import { previewSecLang } from './preview-sec-lang.ts';
import { setActiveCrsRuleset } from './set-active-crs-ruleset.ts';
import { setEngineState } from './set-engine-state.ts';
import { testPolicy } from './test-policy.ts';
import { updatePolicy } from './update-policy.ts';
import { updatePolicyLayer } from './update-policy-layer.ts';
import { diffPolicyVersions, getPolicyVersion, listPolicyVersions } from './versions.ts';
import { rollbackPolicy } from './rollback-policy.ts';

/** PolicyService. */
export function policyService(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Built<typeof PolicyService> {
  return {
    listPolicies: listPolicies(parts),
    getPolicy: getPolicy(parts),
    createPolicy: createPolicy(parts),
    createPolicyFromTemplate: createPolicyFromTemplate(parts),
    updatePolicy: updatePolicy(parts),
    updatePolicyLayer: updatePolicyLayer(parts),
    setEngineState: setEngineState(parts),
    previewSecLang: previewSecLang(parts),
    previewCrsImpact: previewCrsImpact(parts),
    testPolicy: testPolicy(parts),
    listPolicyTemplates: listPolicyTemplates(parts),
    deletePolicy: deletePolicy(parts),
    setActiveCrsRuleset: setActiveCrsRuleset(parts),
    listPolicyVersions: listPolicyVersions(parts),
    getPolicyVersion: getPolicyVersion(parts),
    rollbackPolicy: rollbackPolicy(parts),
    diffPolicyVersions: diffPolicyVersions(parts),
  };
}

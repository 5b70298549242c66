/** Which fields of a policy an update mask may name. */

import {
  ArgLimitsSchema,
  CrsCoreSettingsSchema,
  HttpPolicySchema,
  PolicySchema,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { maskOf, type MaskFields } from '../update-mask.ts';

/** All of them; the ruleset and the state of the engine have methods of their own. */
export const policyMask = maskOf(
  PolicySchema,
  'crsRulesetId engineState isTemplate isDefault bundleSha256',
);

/** Settings that change what is inspected; they are compiled before they are kept. */
export const inspectionFields: MaskFields = {
  crsCore: maskOf(CrsCoreSettingsSchema),
  httpPolicy: maskOf(HttpPolicySchema),
  argLimits: maskOf(ArgLimitsSchema),
};

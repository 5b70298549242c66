/** How documents state policies; overrides and custom rules follow when all sites are there. */

import type { PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { checkPolicy } from '../../domain/policy/policy.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { policySpec, readPolicySpec } from '../../publish/manifests/manifest-specs.ts';
import type { StatedKind } from '../resource/resource.ts';
import { checkPolicyPlugins } from './check-plugins.ts';
import { policyKind, refuseTemplate, savePolicy } from './stored-policy.ts';

/** Policies as documents ask for them. */
export const statedPolicyKind: StatedKind<PolicyJson, PolicyRecord> = {
  ...policyKind,
  prefix: 'policy',
  guard: (_change, before) => refuseTemplate(before),
  settle: ({ tx, caller, nowMs }, asked, before, base) => {
    checkPolicy(asked);
    const record: PolicyRecord = {
      ...asked,
      ...base,
      name: (asked.name ?? '').trim(),
      crsRulesetId: asked.crsRulesetId ?? '',
      status: asked.status ?? 'active',
      isTemplate: false,
      isDefault: before?.isDefault === true,
      builtin: before?.builtin === true,
      revision: before?.revision ?? '1',
    };
    return {
      record,
      keep: () => {
        checkPolicyPlugins(tx, record, 'policy.plugins');
        const action = before === null ? 'create' : 'update';
        return savePolicy(tx, caller, before, record, nowMs, action);
      },
    };
  },
  revisionOf: ({ revision }) => revision,
  taken: 'policy.name: another policy has it',
  document: {
    reference: 'policy',
    read: readPolicySpec,
    spec: policySpec,
  },
};

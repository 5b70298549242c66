/**
 * Policies. How documents state them: overrides and custom rules follow when all sites are there.
 */

import { PolicySchema, type PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { removeAccessOf } from '../../access/remove-place.ts';
import { refusal } from '../../domain/errors.ts';
import { checkPolicy } from '../../domain/policy/policy.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { bindingsOf } from '../../publish/rulesets/ruleset-plugins.ts';
import { policySpec, readPolicySpec } from '../../publish/manifests/manifest-specs.ts';
import {
  customRules,
  pluginBindings,
  policyVersions,
  ruleOverrides,
  sites,
} from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import type { Resource } from '../resource/resource.ts';
import { checkPolicyPlugins } from './check-plugins.ts';
import { policyKind, refuseInUse, refuseTemplate, savePolicy } from './stored-policy.ts';

/** Policies and templates; calls compile what they create or change before it is kept. */
export const policyResource: Resource<typeof PolicySchema, PolicyJson, PolicyRecord> = {
  ...policyKind,
  schema: PolicySchema,
  field: 'policy',
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
  refuseRemoval: (store, { id, isDefault }) => {
    if (isDefault === true) {
      throw refusal('failed_precondition', 'id: sites without a policy use this one');
    }
    const users = store.list(sites).filter((site) => site.waf?.policyId === id);
    refuseInUse('id', 'sites', users);
  },
  dropMore: ({ tx }, { id }) => dropBeside(tx, id),
  document: {
    reference: 'policy',
    read: readPolicySpec,
    spec: policySpec,
  },
};

/** Removes the versions, rules, overrides and bindings of a policy that goes. */
function dropBeside(tx: WriteStore, id: string): void {
  removeAccessOf(tx, 'policy', id);
  for (const version of tx.find(policyVersions, 'policy', id)) {
    tx.remove(policyVersions, version.id);
  }
  for (const rule of tx.find(customRules, 'policy', id)) tx.remove(customRules, rule.id);
  for (const override of tx.find(ruleOverrides, 'policy', id)) {
    tx.remove(ruleOverrides, override.id);
  }
  for (const binding of bindingsOf(tx, id)) tx.remove(pluginBindings, binding.id);
}

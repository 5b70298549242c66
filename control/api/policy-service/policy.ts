/**
 * Policies. How documents state them: overrides and custom rules follow when all sites are there.
 */

import { isDeepStrictEqual } from 'node:util';
import { PolicySchema, type PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { removeAccessOf } from '../../access/remove-place.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { inspectionFields, policyMask } from '../../domain/policy/policy-mask.ts';
import { checkPolicy } from '../../domain/policy/policy.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { bindingsOf } from '../../publish/rulesets/ruleset-plugins.ts';
import { policySpec, readPolicySpec } from '../../publish/manifests/manifest-specs.ts';
import {
  customRules,
  pluginBindings,
  policies,
  policyVersions,
  ruleOverrides,
  rulesets,
  shadowRuns,
  sites,
} from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
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
  settle: ({ tx, caller, nowMs, document }, given, before, base) => {
    checkPolicy(given);
    const isAsked = document === undefined && before === null;
    const asked = isAsked ? withPolicyDefaults(tx, given) : given;
    const record: PolicyRecord = {
      ...asked,
      ...base,
      name: (asked.name ?? '').trim(),
      crsRulesetId: asked.crsRulesetId ?? '',
      status: asked.status || 'active',
      isTemplate: false,
      isDefault: before?.isDefault === true,
      builtin: before?.builtin === true,
      revision: before?.revision ?? '1',
    };
    const plugged = ({ plugins = [], crsRulesetId }: PolicyRecord) => [plugins, crsRulesetId];
    if (before === null || !isDeepStrictEqual(plugged(before), plugged(record))) {
      checkPolicyPlugins(tx, record, 'policy.plugins');
    }
    return {
      record,
      keep: (writing, action) => savePolicy(writing, caller, before, record, nowMs, action),
    };
  },
  mask: policyMask,
  revisionOf: ({ revision }) => revision,
  taken: 'policy.name: another policy has it',
  namesakes: (store, { name }) =>
    store.list(policies).filter((one) => one.isTemplate !== true && one.name === name),
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

/** A policy to be created; without a ruleset it gets the default one. */
function withPolicyDefaults(store: ReadStore, asked: PolicyJson): PolicyJson {
  const standard = store.list(rulesets).find((one) => one.status === 'active')?.id ?? '';
  const crsRulesetId = asked.crsRulesetId ?? standard;
  if (crsRulesetId !== '' && store.get(rulesets, crsRulesetId) === undefined) {
    throw invalidField('policy.crsRulesetId', 'does not exist');
  }
  return {
    engineState: 'ENGINE_STATE_ON',
    blockingMode: 'BLOCKING_MODE_ANOMALY',
    ...asked,
    crsRulesetId,
  };
}

const compiled = [...Object.keys(inspectionFields), 'plugins', 'blockingMode'];

/** Whether a change of a policy is one of what its rules do. */
export function changesRules(before: PolicyRecord | null, after: PolicyRecord): boolean {
  const part = (policy: PolicyRecord): unknown[] =>
    compiled.map((field) => policy[field as keyof PolicyRecord]);
  return before === null || !isDeepStrictEqual(part(before), part(after));
}

/** Removes the versions, rules, overrides and bindings of a policy that goes. */
function dropBeside(tx: WriteStore, id: string): void {
  removeAccessOf(tx, 'policy', id);
  tx.remove(shadowRuns, id);
  for (const version of tx.find(policyVersions, 'policy', id)) {
    tx.remove(policyVersions, version.id);
  }
  for (const rule of tx.find(customRules, 'policy', id)) tx.remove(customRules, rule.id);
  for (const override of tx.find(ruleOverrides, 'policy', id)) {
    tx.remove(ruleOverrides, override.id);
  }
  for (const binding of bindingsOf(tx, id)) tx.remove(pluginBindings, binding.id);
}

/** How policies use exclusion plugins: List, Upsert and DeletePolicyExclusionPlugin. */

import { randomUUID } from 'node:crypto';
import {
  PolicyCrsExclusionPluginSchema,
  type CrsService,
  type PolicyCrsExclusionPlugin,
  type PolicyCrsExclusionPluginJson,
} from '../../../proto/gen/waf/v1/crs_pb.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import {
  checkPathPrefix,
  type PluginBindingRecord,
} from '../../domain/policy/exclusion-plugins.ts';
import { bindingsOf, bundledFileOf } from '../../publish/rulesets/ruleset-plugins.ts';
import { loadRuleset } from '../../publish/rulesets/stored-rulesets.ts';
import { pluginBindings } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, requireText, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep, type Kept } from '../resource/owned.ts';
import { removal } from '../resource/serve.ts';
import { nextUpdate, requireUnchanged } from '../unchanged.ts';
import { refuseUncompiled } from '../policy-service/compile.ts';
import { finderInPolicy, refuseTemplate, storedPolicy } from '../policy-service/stored-policy.ts';
import { findPlugin, pluginIdOf, slugOf } from './stored-plugin.ts';

/** What a policy uses, in order. */
export function listPolicyExclusionPlugins(
  parts: Uses<'store'>,
): Method<typeof CrsService, 'listPolicyExclusionPlugins'> {
  return ({ policyId }, context) => {
    const policy = storedPolicy(parts.store, callerOf(context), policyId, 'policyId');
    return { items: bindingsOf(parts.store, policy.id).map((one) => show(parts.store, one)) };
  };
}

/** Sets one use of a plugin; the same plugin can be used under several paths. */
export function upsertPolicyExclusionPlugin(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof CrsService, 'upsertPolicyExclusionPlugin'> {
  return async ({ binding, expectedUpdatedAt }, context) => {
    const caller = callerOf(context);
    if (binding === undefined) throw invalidField('binding', 'is required');
    const asked = toRecord<PolicyCrsExclusionPluginJson>(PolicyCrsExclusionPluginSchema, binding);
    const now = isoNow(parts.clock);
    const draft = settlePluginUse(parts.store, caller, asked, now);
    requireUnchanged(expectedUpdatedAt, draft.before);
    const { policy } = draft;
    const others = bindingsOf(parts.store, policy.id).filter(({ id }) => id !== draft.record.id);
    await refuseUncompiled(parts, policy, 'binding', { bindings: [...others, draft.record] });
    const stored = await parts.store.write((tx) => {
      const { record: settled, before } = settlePluginUse(tx, caller, asked, now);
      requireUnchanged(expectedUpdatedAt, before);
      const record = { ...settled, updatedAt: nextUpdate(before, parts.clock) };
      return keep(tx, caller, pluginUseKind, before, record, { action: 'upsert' });
    });
    return { binding: show(parts.store, stored) };
  };
}

/** Takes a plugin from a policy. */
export function deletePolicyExclusionPlugin(
  parts: Uses<'store'>,
): Method<typeof CrsService, 'deletePolicyExclusionPlugin'> {
  const find = finderInPolicy(pluginUseKind, 'exclusion plugin of a policy');
  return removal(parts, pluginUseKind, find);
}

/** Uses of exclusion plugins. */
export const pluginUseKind: Kept<PluginBindingRecord> = {
  collection: pluginBindings,
  audit: 'policy_exclusion_plugin',
  nameOf: ({ pluginSlug }) => pluginSlug,
};

/** Checks a binding against the store. Errors: invalid_argument, not_found, failed_precondition. */
export function settlePluginUse(
  store: ReadStore,
  caller: Caller,
  asked: PolicyCrsExclusionPluginJson,
  now: string,
) {
  const policy = storedPolicy(store, caller, asked.policyId ?? '', 'binding.policyId');
  refuseTemplate(policy);
  const named = asked.pluginId || asked.pluginSlug || '';
  const found = findPlugin(store, requireText(named, 'binding.pluginId'));
  const slug = slugOf(found);
  if (slug === '') throw invalidField('binding.pluginId', 'names no exclusion plugin');
  const ruleset = loadRuleset(store, policy.crsRulesetId);
  const bundled = ruleset !== null && bundledFileOf(ruleset, slug) !== '';
  if (!bundled && found.imported === undefined) {
    throw refusal(
      'failed_precondition',
      'binding.pluginId: the ruleset of the policy does not hold this plugin; import it first',
    );
  }
  const pathPrefix = asked.pathPrefix ?? '';
  checkPathPrefix(pathPrefix, 'binding.pathPrefix');
  if ((asked.sortOrder ?? 0) < 0) throw invalidField('binding.sortOrder', 'must be 0 or more');
  const all = store.find(pluginBindings, 'policy', policy.id);
  const before = asked.id
    ? all.find(({ id }) => id === asked.id)
    : all.find((one) => one.pluginSlug === slug && (one.pathPrefix ?? '') === pathPrefix);
  if (asked.id && before === undefined) throw notFound('exclusion plugin of this policy', asked.id);
  const twin = all.some(
    (one) =>
      one.id !== before?.id && one.pluginSlug === slug && (one.pathPrefix ?? '') === pathPrefix,
  );
  if (twin) throw refusal('already_exists', 'binding.pathPrefix: the plugin is used there already');
  if (before === undefined && all.length >= resourceLimits.pluginBindingsMax) {
    throw invalidField(
      'binding.policyId',
      `a policy has at most ${resourceLimits.pluginBindingsMax} of them`,
    );
  }
  const record: PluginBindingRecord = {
    id: before?.id ?? `binding-${randomUUID()}`,
    policyId: policy.id,
    pluginId: pluginIdOf(slug),
    pluginSlug: slug,
    enabled: asked.enabled ?? false,
    pathPrefix,
    sortOrder: asked.sortOrder ?? 0,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  return { policy, record, before };
}

function show(store: ReadStore, record: PluginBindingRecord): PolicyCrsExclusionPlugin {
  const { curated, imported } = findPlugin(store, record.pluginSlug);
  const txVariable = imported?.txVariable || (curated?.bundledVariable ?? '');
  return toMessage(PolicyCrsExclusionPluginSchema, { ...record, txVariable });
}

/** How policies use exclusion plugins. */

import {
  PolicyCrsExclusionPluginSchema,
  type PolicyCrsExclusionPlugin,
  type PolicyCrsExclusionPluginJson,
} from '../../../proto/gen/waf/v1/crs_pb.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import {
  checkPathPrefix,
  type PluginBindingRecord,
} from '../../domain/policy/exclusion-plugins.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { bindingsOf, bundledFileOf } from '../../publish/rulesets/ruleset-plugins.ts';
import { loadRuleset } from '../../publish/rulesets/stored-rulesets.ts';
import { pluginBindings, policies } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { Uses } from '../context.ts';
import { requireText, toMessage } from '../convert.ts';
import { refuseUncompiled } from '../policy-service/compile.ts';
import { refuseTemplate, storedPolicy, tenantOfPolicy } from '../policy-service/stored-policy.ts';
import type { ServedKind } from '../resource/resource.ts';
import type { Vet } from '../resource/serve.ts';
import { findPlugin, pluginIdOf, slugOf } from './stored-plugin.ts';

/** What a policy uses must compile with the rest of it. Errors: naming the use. */
export function pluginUseTrial(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Vet<PluginBindingRecord> {
  return async (use) => {
    const policy = parts.store.get(policies, use.policyId);
    if (policy === undefined) throw notFound('policy', use.policyId);
    const others = bindingsOf(parts.store, policy.id).filter(({ id }) => id !== use.id);
    await refuseUncompiled(parts, policy, 'binding', { bindings: [...others, use] });
  };
}

/** Uses of exclusion plugins; the same plugin can be used under several paths. */
export const pluginUseKind: ServedKind<
  typeof PolicyCrsExclusionPluginSchema,
  PolicyCrsExclusionPluginJson,
  PluginBindingRecord
> = {
  schema: PolicyCrsExclusionPluginSchema,
  collection: pluginBindings,
  noun: 'exclusion plugin of a policy',
  audit: 'policy_exclusion_plugin',
  field: 'binding',
  prefix: 'binding',
  nameOf: ({ pluginSlug }) => pluginSlug,
  tenantOf: tenantOfPolicy,
  show: (store) => (record) => showPluginUse(store, record),
  placed: ({ tx }, { policyId = '', pluginId, pluginSlug = '', pathPrefix = '' }) => {
    const slug = slugOf(findPlugin(tx, pluginId || pluginSlug));
    return usesAt(tx, { policyId, pluginSlug: slug, pathPrefix })[0];
  },
  settle: ({ tx, caller }, asked, before, { id, createdAt, updatedAt }) => {
    const policy = storedPolicy(tx, caller, asked.policyId ?? '', 'binding.policyId');
    refuseTemplate(policy);
    if (before !== null && before.policyId !== policy.id) {
      throw notFound('exclusion plugin of this policy', before.id);
    }
    const slug = checkedSlug(tx, policy, asked);
    const pathPrefix = asked.pathPrefix ?? '';
    checkPathPrefix(pathPrefix, 'binding.pathPrefix');
    const sortOrder = asked.sortOrder ?? 0;
    if (sortOrder < 0) throw invalidField('binding.sortOrder', 'must be 0 or more');
    const most = resourceLimits.pluginBindingsMax;
    if (before === null && tx.find(pluginBindings, 'policy', policy.id).length >= most) {
      throw invalidField('binding.policyId', `a policy has at most ${most} of them`);
    }
    const record: PluginBindingRecord = {
      id,
      policyId: policy.id,
      pluginId: pluginIdOf(slug),
      pluginSlug: slug,
      enabled: asked.enabled ?? false,
      pathPrefix,
      sortOrder,
      createdAt,
      updatedAt,
    };
    return { record };
  },
  taken: 'binding.pathPrefix: the plugin is used there already',
  namesakes: usesAt,
};

/** Uses of the same plugin under the same path of a policy. */
function usesAt(
  store: ReadStore,
  {
    policyId,
    pluginSlug,
    pathPrefix,
  }: Pick<PluginBindingRecord, 'policyId' | 'pluginSlug' | 'pathPrefix'>,
): PluginBindingRecord[] {
  return store
    .find(pluginBindings, 'policy', policyId)
    .filter((one) => one.pluginSlug === pluginSlug && (one.pathPrefix ?? '') === pathPrefix);
}

/** Errors: invalid_argument for no plugin, failed_precondition for one that is not there yet. */
function checkedSlug(
  store: ReadStore,
  { crsRulesetId }: PolicyRecord,
  { pluginId, pluginSlug = '' }: PolicyCrsExclusionPluginJson,
): string {
  const found = findPlugin(store, requireText(pluginId || pluginSlug, 'binding.pluginId'));
  const slug = slugOf(found);
  if (slug === '') throw invalidField('binding.pluginId', 'names no exclusion plugin');
  const ruleset = loadRuleset(store, crsRulesetId);
  const bundled = ruleset !== null && bundledFileOf(ruleset, slug) !== '';
  if (bundled || found.imported !== undefined) return slug;
  throw refusal(
    'failed_precondition',
    'binding.pluginId: the ruleset of the policy does not hold this plugin; import it first',
  );
}

function showPluginUse(store: ReadStore, record: PluginBindingRecord): PolicyCrsExclusionPlugin {
  const { curated, imported } = findPlugin(store, record.pluginSlug);
  const txVariable = imported?.txVariable || (curated?.bundledVariable ?? '');
  return toMessage(PolicyCrsExclusionPluginSchema, { ...record, txVariable });
}

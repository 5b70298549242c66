/** CrsService. */

import type { CrsService } from '../../../proto/gen/waf/v1/crs_pb.ts';
import { bindingsOf } from '../../publish/rulesets/ruleset-plugins.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { storedPolicy } from '../policy-service/stored-policy.ts';
import { serve } from '../resource/serve.ts';
import {
  getCrsExclusionPlugin,
  importCrsExclusionPlugin,
  listCrsExclusionPlugins,
} from './exclusion-plugins.ts';
import { listUpstreamCrsExclusionPluginReleases } from './fetch-releases.ts';
import { getCrsPluginConfigSchema, listCrsPlugins } from './plugins.ts';
import { pluginUseKind, pluginUseTrial } from './policy-plugins.ts';
import { getCrsRule, listCrsCategories, listCrsRules, listCrsTags } from './rules.ts';
import { pageOfRulesets, showRuleset } from './rulesets.ts';

/** CrsService. */
export function crsService(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Built<typeof CrsService> {
  const uses = serve(parts, pluginUseKind, pluginUseTrial(parts));
  return {
    listCrsRulesets: ({ page }) => pageOfRulesets(parts.store, page),
    getCrsRuleset: ({ id }) => ({ ruleset: showRuleset(parts.store, id) }),
    listCrsRules: listCrsRules(parts),
    getCrsRule: getCrsRule(parts),
    listCrsCategories: listCrsCategories(parts),
    listCrsTags: listCrsTags(parts),
    listCrsPlugins: listCrsPlugins(parts),
    getCrsPluginConfigSchema: getCrsPluginConfigSchema(parts),
    listCrsExclusionPlugins: listCrsExclusionPlugins(parts),
    getCrsExclusionPlugin: getCrsExclusionPlugin(parts),
    importCrsExclusionPlugin: importCrsExclusionPlugin(parts),
    listUpstreamCrsExclusionPluginReleases: listUpstreamCrsExclusionPluginReleases(parts),
    listPolicyExclusionPlugins: ({ policyId }, context) => {
      const policy = storedPolicy(parts.store, callerOf(context), policyId, 'policyId');
      return { items: bindingsOf(parts.store, policy.id).map(uses.show) };
    },
    upsertPolicyExclusionPlugin: async (request, context) => ({
      binding: uses.show(await uses.upsert(uses.asked(request.binding), request, context)),
    }),
    deletePolicyExclusionPlugin: uses.remove,
  };
}

/** CrsService. */

import type { CrsService } from '../../../proto/gen/waf/v1/crs_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import {
  getCrsExclusionPlugin,
  importCrsExclusionPlugin,
  listCrsExclusionPlugins,
} from './exclusion-plugins.ts';
import { listUpstreamCrsExclusionPluginReleases } from './fetch-releases.ts';
import { getCrsPluginConfigSchema, listCrsPlugins } from './plugins.ts';
import {
  deletePolicyExclusionPlugin,
  listPolicyExclusionPlugins,
  upsertPolicyExclusionPlugin,
} from './policy-plugins.ts';
import { getCrsRule, listCrsCategories, listCrsRules, listCrsTags } from './rules.ts';
import { pageOfRulesets, showRuleset } from './rulesets.ts';

/** CrsService. */
export function crsService(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Built<typeof CrsService> {
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
    listPolicyExclusionPlugins: listPolicyExclusionPlugins(parts),
    upsertPolicyExclusionPlugin: upsertPolicyExclusionPlugin(parts),
    deletePolicyExclusionPlugin: deletePolicyExclusionPlugin(parts),
  };
}

/** Whether the plugins that a policy names fit its ruleset. */

import type { PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { settingFault } from '../../domain/policy/crs-plugin-files.ts';
import { invalidField } from '../../domain/errors.ts';
import { pluginName } from '../../publish/rulesets/ruleset-plugins.ts';
import { loadRuleset } from '../../publish/rulesets/stored-rulesets.ts';
import type { ReadStore } from '../../store/store.ts';
import { schemaInRuleset } from '../crs-service/plugins.ts';

/** Errors: invalid_argument at `at`[n] for a plugin or setting that the ruleset does not have. */
export function checkPolicyPlugins(
  store: ReadStore,
  policy: Pick<PolicyJson, 'plugins' | 'crsRulesetId'>,
  at: string,
): void {
  const plugins = policy.plugins ?? [];
  if (plugins.length === 0) return;
  if (plugins.length > resourceLimits.pluginBindingsMax) {
    throw invalidField(at, `has at most ${resourceLimits.pluginBindingsMax} entries`);
  }
  const ruleset = loadRuleset(store, policy.crsRulesetId ?? '');
  const seen = new Set<string>();
  for (const [index, { pluginId = '', config = {} }] of plugins.entries()) {
    const field = `${at}[${index}]`;
    const name = pluginName(pluginId);
    const schema = ruleset === null ? null : schemaInRuleset(ruleset, name);
    if (schema === null) {
      throw invalidField(`${field}.pluginId`, 'names no plugin of the ruleset; see ListCrsPlugins');
    }
    if (seen.has(name)) throw invalidField(`${field}.pluginId`, 'is named twice');
    seen.add(name);
    for (const [key, value] of Object.entries(config)) {
      const setting = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
      if (setting === undefined) {
        const known = Object.keys(schema.properties).join(', ') || 'none';
        throw invalidField(`${field}.config`, `Unknown setting. Allowed: ${known}.`);
      }
      const fault = settingFault(setting, value);
      if (fault !== null) throw invalidField(`${field}.config.${key}`, fault);
    }
  }
}

/** The described rules of a few rulesets, parsed once for each content. */

import { describeRules, type DescribedRule } from '../../domain/policy/crs-rules.ts';
import type { RulesetRecord } from '../../domain/records.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import type { ReadStore } from '../../store/store.ts';
import type { BundleRuleset } from '../build-bundle.ts';
import { loadRuleset } from './stored-rulesets.ts';

/** Rules by number; and in the order in which they run, a phase after the other. */
export interface RulesetRules {
  readonly byId: readonly DescribedRule[];
  readonly rawOf: (ruleId: number) => string | undefined;
}

const kept = new Map<string, RulesetRules>();

/** The rules of a loaded ruleset. Cost: about 100 ms the first time, then nothing. */
export function rulesOfBundle(ruleset: BundleRuleset): RulesetRules {
  const known = kept.get(ruleset.id);
  if (known !== undefined) return known;
  const { pluginConfigs, pluginsBefore, rules, pluginsAfter } = ruleset.includes;
  const order = [...pluginConfigs, ...pluginsBefore, ...rules, ...pluginsAfter];
  const rank = (path: string): number => {
    const at = order.indexOf(path);
    return at < 0 ? order.length : at;
  };
  const texts = ruleset.files
    .filter(({ path }) => path.endsWith('.conf'))
    .sort((left, right) => rank(left.path) - rank(right.path))
    .map(({ path, content }) => ({ path, text: Buffer.from(content).toString('latin1') }));
  const byId = describeRules(texts, ruleset.id);
  const raws = new Map(byId.map(({ ruleId, raw }) => [ruleId, raw]));
  const described: RulesetRules = { byId, rawOf: (ruleId) => raws.get(ruleId) };
  kept.set(ruleset.id, described);
  if (kept.size > resourceLimits.describedRulesetsMax) kept.delete(kept.keys().next().value ?? '');
  return described;
}

/** The rules of a stored ruleset; none when its files are gone. */
export function rulesOfRecord(store: ReadStore, record: RulesetRecord): RulesetRules {
  const known = kept.get(record.fingerprint ?? '');
  if (known !== undefined) return known;
  const loaded = loadRuleset(store, record.id);
  return loaded === null ? { byId: [], rawOf: () => undefined } : rulesOfBundle(loaded);
}

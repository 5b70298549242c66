/** Owns finding a ruleset and its described rules; the descriptions are kept for a few rulesets. */

import { describeRules, type DescribedRule } from '../../domain/crs-rules.ts';
import { notFound } from '../../domain/errors.ts';
import type { RulesetRecord } from '../../domain/records.ts';
import { loadRuleset } from '../../publish/publisher.ts';
import { rulesets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { requireText } from '../convert.ts';

const rulesetsKept = 4;
const described = new Map<string, DescribedRule[]>();

/** A ruleset. Errors: invalid_argument at `field`, not_found. */
export function storedRuleset(store: ReadStore, id: string, field: string): RulesetRecord {
  const ruleset = store.get(rulesets, requireText(id, field));
  if (ruleset === undefined) throw notFound('ruleset');
  return ruleset;
}

/** The rules of a ruleset by id. Cost: parses the ruleset once, about 100 ms. */
export function rulesOf(store: ReadStore, ruleset: RulesetRecord): DescribedRule[] {
  const key = `${ruleset.id} ${ruleset.fingerprint ?? ''}`;
  const known = described.get(key);
  if (known !== undefined) return known;
  const files = loadRuleset(store, ruleset.id)?.files ?? [];
  const texts = files
    .filter(({ path }) => path.endsWith('.conf'))
    .map(({ path, content }) => ({ path, text: Buffer.from(content).toString('latin1') }));
  const rules = describeRules(texts, ruleset.id);
  described.set(key, rules);
  if (described.size > rulesetsKept) described.delete(described.keys().next().value ?? '');
  return rules;
}

/** Finds a ruleset of the store and its described rules. */

import type { DescribedRule } from '../../domain/policy/crs-rules.ts';
import { notFound } from '../../domain/errors.ts';
import type { RulesetRecord } from '../../domain/records.ts';
import { rulesOfRecord } from '../../publish/rulesets/ruleset-rules.ts';
import { rulesets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { requireText } from '../convert.ts';

/** A ruleset. Errors: invalid_argument at `field`, not_found. */
export function storedRuleset(store: ReadStore, id: string, field: string): RulesetRecord {
  const ruleset = store.get(rulesets, requireText(id, field));
  if (ruleset === undefined) throw notFound('ruleset', id);
  return ruleset;
}

/** The rules of a ruleset by number. Cost: parses the ruleset once, about 100 ms. */
export function rulesOf(store: ReadStore, ruleset: RulesetRecord): readonly DescribedRule[] {
  return rulesOfRecord(store, ruleset).byId;
}

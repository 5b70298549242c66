/** Lists and shows rulesets, for CrsService and SystemService alike. */

import { CrsRulesetSchema, type CrsRuleset } from '../../../proto/gen/waf/v1/crs_pb.ts';
import type { PageRequest } from '../../../proto/gen/waf/v1/common_pb.ts';
import { rulesets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { pageOf, toMessage } from '../convert.ts';
import { storedRuleset } from './ruleset-rules.ts';

/** Rulesets, newest first. */
export function pageOfRulesets(store: ReadStore, asked: PageRequest | undefined) {
  const found = store
    .list(rulesets)
    .sort((left, right) => ((left.ingestedAt ?? '') < (right.ingestedAt ?? '') ? 1 : -1));
  const { items, page } = pageOf(found, asked);
  return { items: items.map((ruleset) => toMessage(CrsRulesetSchema, ruleset)), page };
}

/** One ruleset. */
export function showRuleset(store: ReadStore, id: string): CrsRuleset {
  return toMessage(CrsRulesetSchema, storedRuleset(store, id, 'id'));
}

/**
 * The rules of the product's own that an override or exclusion may change, as rules of a ruleset
 * are described: limits of arguments, and what stands in for rules that a policy narrows. All
 * others keep what servers read apart, or what is inspected at all. Pure.
 */

import type { ArgLimitsJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { encodeUtf8 } from '../../../base/byte-string.ts';
import { describeRules, type DescribedRule } from './crs-rules.ts';
import {
  renderFullWidthRule,
  renderPasswordRule,
  renderUnusualRequests,
} from './narrowed-rules.ts';
import { isOpenOwnRule } from './own-rule-notes.ts';
import { argumentRules, observedContentType } from './policy-seclang.ts';

const anyLimits: ArgLimitsJson = {
  ...{ maxNumArgs: 1, argNameLength: 1, argLength: 1, totalArgLength: 1 },
};

let described: ReadonlyMap<number, DescribedRule> | undefined;

/** Such a rule by its number. Cost: reads their text the first time. */
export function describedOwnRule(id: number): DescribedRule | undefined {
  described ??= new Map(describe().map((rule) => [rule.ruleId, rule]));
  return described.get(id);
}

function describe(): DescribedRule[] {
  // Their targets are the same for all settings and rulesets.
  const text = [
    renderFullWidthRule(4),
    renderPasswordRule(4),
    renderUnusualRequests({ allowedMethods: ['GET'] }),
    ...argumentRules(anyLimits),
    // The first line removes a rule of the ruleset.
    ...observedContentType().slice(1),
  ].join('\n');
  const rules = describeRules([{ path: 'own.conf', text: encodeUtf8(text) }], '');
  return rules.filter(({ ruleId }) => isOpenOwnRule(ruleId));
}

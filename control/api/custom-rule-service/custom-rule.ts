/** Custom rules of policies: each is numbered among the others of its policy. */

import {
  CustomRuleSchema,
  type CustomRule,
  type CustomRuleJson,
} from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { meets, type Caller } from '../../auth/permissions.ts';
import { contentOf } from '../../access/list-contents.ts';
import {
  checkCustomRule,
  customRuleIds,
  firstRuleId,
  listsOfRule,
  renderCustomRule,
} from '../../domain/policy/custom-rules.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { countOf } from '../../domain/access/ip-list-content.ts';
import type { CustomRuleRecord } from '../../domain/records.ts';
import { maskOf } from '../../domain/update-mask.ts';
import { customRules, ipLists } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { toMessage } from '../convert.ts';
import { refuseTemplate, storedPolicy, tenantOfPolicy } from '../policy-service/stored-policy.ts';
import { ours } from '../resource/owned.ts';
import type { ServedKind } from '../resource/resource.ts';
import { refuseOtherPolicy, storedSite } from '../site-service/stored-site.ts';

/** Rules of operators, of one policy each. */
export const customRuleKind: ServedKind<typeof CustomRuleSchema, CustomRuleJson, CustomRuleRecord> =
  {
    schema: CustomRuleSchema,
    collection: customRules,
    noun: 'custom rule',
    audit: 'custom_rule',
    field: 'rule',
    prefix: 'rule',
    nameOf: ({ name = '' }) => name,
    tenantOf: tenantOfPolicy,
    mask: maskOf(CustomRuleSchema, 'policyId siteId'),
    show: () => showRule,
    settle: ({ tx, caller }, asked, before, { id, createdAt, updatedAt }) => {
      const place = before ?? placeOf(tx, caller, asked);
      const { policyId, siteId } = place;
      requireSecLangPermission(caller, asked);
      checkLists(tx, caller, asked);
      const stated = before === null ? withRuleDefaults(tx, policyId, asked) : asked;
      const ruleId = stated.ruleId ?? '';
      const draft = { ...stated, ruleId, id, policyId, siteId, createdAt, updatedAt };
      return { record: settleRule(tx, draft) };
    },
  };

/** Where a new rule is to be. Errors: for a place that takes none. */
function placeOf(
  store: ReadStore,
  caller: Caller,
  { policyId = '', siteId = '' }: CustomRuleJson,
): Pick<CustomRuleRecord, 'policyId' | 'siteId'> {
  const policy = storedPolicy(store, caller, policyId, 'rule.policyId');
  refuseTemplate(policy);
  if (siteId !== '') {
    const site = storedSite(store, caller, siteId, 'rule.siteId');
    refuseOtherPolicy(store, site, policyId, 'rule.siteId');
  }
  return { policyId, siteId };
}

function withRuleDefaults(
  store: ReadStore,
  policyId: string,
  asked: CustomRuleJson,
): CustomRuleJson {
  return {
    ...asked,
    phase: asked.phase || 2,
    placement: asked.placement || 'before_crs',
    sortOrder: asked.sortOrder ?? rulesOfPolicy(store, policyId).length + 1,
  };
}

/** Rules of a policy in their order. */
export function rulesOfPolicy(store: ReadStore, policyId: string): CustomRuleRecord[] {
  return store
    .find(customRules, 'policy', policyId)
    .sort(
      (left, right) =>
        (left.sortOrder ?? 0) - (right.sortOrder ?? 0) || (left.id < right.id ? -1 : 1),
    );
}

/** A rule as it is shown; what the editor made is shown as SecLang too. */
export function showRule(rule: CustomRuleRecord): CustomRule {
  return toMessage(CustomRuleSchema, { ...rule, seclang: renderCustomRule(rule) });
}

/** Errors: permission_denied for raw SecLang without policy:custom:seclang. */
export function requireSecLangPermission(caller: Caller, rule: CustomRuleJson): void {
  if (rule.visualSpec !== undefined) return;
  const needed = { public: false, anyPermission: ['policy:custom:seclang'], allPermission: [] };
  if (meets(needed, caller.permissions)) return;
  throw refusal('permission_denied', 'rule.seclang: raw SecLang needs policy:custom:seclang');
}

/** Errors: invalid_argument for a list that is not there, or too long to be matched by a rule. */
export function checkLists(store: ReadStore, caller: Caller, rule: CustomRuleJson): void {
  for (const [at, id] of listsOfRule(rule)) {
    const field = `rule.visualSpec.conditions[${at}].ipListId`;
    const list = ours(store.get(ipLists, id), caller);
    if (list === undefined) throw invalidField(field, 'names no IP list');
    if (countOf(contentOf(store, id)) <= resourceLimits.ruleListEntriesMax) continue;
    throw invalidField(
      field,
      `has more than ${resourceLimits.ruleListEntriesMax} entries: bind the list instead`,
    );
  }
}

/**
 * Checks a rule among the others of its policy and gives it a number where it has none. `present`:
 * rules of the policy, for a caller that has them.
 */
export function settleRule(
  store: ReadStore,
  rule: CustomRuleRecord,
  present: readonly CustomRuleRecord[] = store.find(customRules, 'policy', rule.policyId),
): CustomRuleRecord {
  checkCustomRule(rule);
  const others = present.filter((other) => other.id !== rule.id);
  if (others.length >= resourceLimits.customRulesMax) {
    throw invalidField(
      'rule.policyId',
      `a policy has at most ${resourceLimits.customRulesMax} custom rules`,
    );
  }
  const taken = new Set(others.map((other) => Number(other.ruleId)));
  const asked = Number(rule.ruleId || firstRuleId(rule.seclang ?? ''));
  if (asked !== 0 && taken.has(asked)) {
    throw refusal('already_exists', 'rule.ruleId: another rule of this policy has it');
  }
  let number = asked;
  for (let free = customRuleIds.first; number === 0 && free <= customRuleIds.last; free++) {
    if (!taken.has(free)) number = free;
  }
  return { ...rule, name: (rule.name ?? '').trim(), ruleId: String(number) };
}

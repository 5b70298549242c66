/** CrsService/ListCrsRules, GetCrsRule, ListCrsCategories and ListCrsTags. */

import {
  CrsCategorySchema,
  CrsRuleSchema,
  CrsTagSchema,
  type CrsService,
} from '../../../proto/gen/waf/v1/crs_pb.ts';
import { categoriesOf, tagsOf } from '../../domain/policy/crs-rules.ts';
import { notFound } from '../../domain/errors.ts';
import type { Uses } from '../context.ts';
import { fitsQuery, pageOf, requireText, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { rulesOf, storedRuleset } from './ruleset-rules.ts';

/** Rules of a ruleset by id, without their text. */
export function listCrsRules(parts: Uses<'store'>): Method<typeof CrsService, 'listCrsRules'> {
  return (request) => {
    const { category, paranoiaLevel, phase, severity, tags, query } = request;
    const ruleset = storedRuleset(parts.store, request.rulesetId, 'rulesetId');
    const found = rulesOf(parts.store, ruleset).filter(
      (rule) =>
        fitsQuery(query, String(rule.ruleId), rule.msg) &&
        (category === '' || rule.category === category) &&
        (paranoiaLevel === 0 || rule.paranoiaLevel === paranoiaLevel) &&
        (phase === 0 || rule.phase === phase) &&
        (severity === '' || rule.severity === severity.toUpperCase()) &&
        tags.every((tag) => rule.tags.includes(tag)),
    );
    const { items, page } = pageOf(found, request.page);
    const shown = items.map(({ raw: _raw, ...rule }) => ({ ...rule, rulesetId: ruleset.id }));
    return { items: shown.map((rule) => toMessage(CrsRuleSchema, rule)), page };
  };
}

/** One rule with its text. */
export function getCrsRule(parts: Uses<'store'>): Method<typeof CrsService, 'getCrsRule'> {
  return (request) => {
    const ruleset = storedRuleset(parts.store, request.rulesetId, 'rulesetId');
    const id = Number(requireText(request.ruleId, 'ruleId'));
    const rule = rulesOf(parts.store, ruleset).find(({ ruleId }) => ruleId === id);
    if (rule === undefined) throw notFound('rule', request.ruleId);
    return { rule: toMessage(CrsRuleSchema, { ...rule, rulesetId: ruleset.id }) };
  };
}

/** Categories of a ruleset. */
export function listCrsCategories(
  parts: Uses<'store'>,
): Method<typeof CrsService, 'listCrsCategories'> {
  return (request) => {
    const rules = rulesOf(parts.store, storedRuleset(parts.store, request.rulesetId, 'rulesetId'));
    return { categories: categoriesOf(rules).map((one) => toMessage(CrsCategorySchema, one)) };
  };
}

/** Tags of a ruleset. */
export function listCrsTags(parts: Uses<'store'>): Method<typeof CrsService, 'listCrsTags'> {
  return (request) => {
    const rules = rulesOf(parts.store, storedRuleset(parts.store, request.rulesetId, 'rulesetId'));
    return { tags: tagsOf(rules).map((one) => toMessage(CrsTagSchema, one)) };
  };
}

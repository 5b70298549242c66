/**
 * Proof that each rule that the product puts beside a ruleset can be excluded by path and site, or
 * that its text says why not: all that any setting brings, and with requests those that can.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explainBlock } from '../../control/domain/policy/block-explanation.ts';
import { describeRules } from '../../control/domain/policy/crs-rules.ts';
import { isOpenOwnRule, ownRuleNote } from '../../control/domain/policy/own-rule-notes.ts';
import { describedOwnRule } from '../../control/domain/policy/own-rules.ts';
import { checkOverride, renderOverrides } from '../../control/domain/policy/rule-overrides.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import type { PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import type { RuleOverrideJson } from '../../proto/gen/waf/v1/rule_override_pb.ts';
import { observed, over, ownRuleTexts } from './own-rule-policies.ts';
import {
  rulesetFolders,
  sendInProcess,
  templateEngine,
  type TableRequest,
} from './policy-in-process.ts';

/** Every rule of the product's own that any of the settings brings. */
function ownRules(): number[] {
  const files = ownRuleTexts().map((text) => ({ path: 'policy.conf', text }));
  const ids = new Set(
    files.flatMap((file) => describeRules([file], 'r').map(({ ruleId }) => ruleId)),
  );
  return [...ids].filter((id) => id > 199_000 && id < 201_000).sort((one, other) => one - other);
}

test.each(ownRules())('rule %s can be excluded, or a text says why not', (id) => {
  const ruleId = String(id);
  const override: RuleOverrideJson = {
    ...{ crsRuleId: ruleId, siteId: 's', scope: '/here' },
    actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE',
  };
  const messages = [{ ruleId, disruptive: true, severity: 'critical' }];
  const event = { siteId: 's', path: '/here', detailAvailable: true, blocked: true, messages };
  const around = { policyId: 'p', ruleOf: describedOwnRule, isCustom: () => false };
  const { notes, exclusions } = explainBlock(event, around);
  if (isOpenOwnRule(id)) {
    checkOverride(override);
    expect(describedOwnRule(id)?.targets?.length).toBeGreaterThan(0);
    expect(ownRuleNote(id)).toBeNull();
    expect(exclusions.map(({ reach }) => reach)).toContain('site_path_rule');
    expect(() =>
      checkOverride({ ...override, actionEnum: 'RULE_OVERRIDE_ACTION_LOG_ONLY' }),
    ).toThrow(/can be disabled or leave targets out/);
    return;
  }
  expect(describedOwnRule(id)).toBeUndefined();
  expect(exclusions).toEqual([]);
  expect(ownRuleNote(id)).toMatch(/cannot be excluded: it .* Instead: /);
  expect(notes.join()).toMatch(/cannot be excluded/);
});

test('a count cannot be left out', () => {
  const override: RuleOverrideJson = {
    ...{ crsRuleId: '920380', scope: '/here', removedTargets: ['&ARGS'] },
    actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT',
  };
  expect(() => checkOverride(override)).toThrow(/removedTargets\[0\].*disable the rule/);
  expect(() => checkOverride({ ...override, scope: '' })).toThrow(/is a count/);
});

interface Row {
  readonly id: number;
  readonly target: string;
  /** Of `/here/x`. */
  readonly request: Omit<TableRequest, 'url'> & { readonly query?: string };
}
const form = 'application/x-www-form-urlencoded';
const post = (type: string, body: string): Row['request'] => ({
  ...{ method: 'POST', headers: { 'Content-Type': type }, body },
});
const rows: readonly Row[] = [
  { id: 199_100, target: '&ARGS', request: { query: 'a=1&b=1&c=1&d=1' } },
  { id: 199_101, target: 'ARGS_NAMES', request: { query: `${'n'.repeat(31)}=1` } },
  { id: 199_102, target: 'ARGS:a', request: { query: `a=${'v'.repeat(41)}` } },
  {
    id: 199_103,
    target: 'ARGS_COMBINED_SIZE',
    request: { query: ['a', 'b', 'c'].map((name) => `${name}=${'v'.repeat(35)}`).join('&') },
  },
  {
    id: 199_200,
    target: 'REQUEST_HEADERS:Content-Type',
    request: post('application/x-odd', 'plain'),
  },
  {
    id: 199_201,
    target: 'REQUEST_HEADERS:X-HTTP-Method',
    request: { headers: { 'X-HTTP-Method': 'PURGE' } },
  },
  {
    id: 199_202,
    target: 'REQUEST_HEADERS:Content-Type',
    request: post(`${form}; charset=us-ascii`, 'a=%C3%BC'),
  },
  { id: 199_209, target: 'ARGS:q', request: { query: 'q=1%EF%BC%87+or+1=1+--+' } },
  { id: 199_214, target: 'ARGS:password', request: post(form, "password='+or+1=1+--+") },
];

describe.each(rulesetFolders)('$name', ({ folder }) => {
  const engines: Record<string, PolicyEngine> = {};
  const build = (scope: string, byTarget: boolean): Promise<PolicyEngine> => {
    // A count cannot be left out.
    const named = rows.filter(({ target }) => !byTarget || target[0] !== '&');
    const overrides = named.map(({ id, target }): RuleOverrideJson => ({
      ...{ crsRuleId: String(id), siteId: 's', scope },
      ...(byTarget
        ? { removedTargets: [target], actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT' }
        : { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE' }),
    }));
    for (const one of overrides) checkOverride(one);
    const added = renderOverrides(overrides, () => undefined);
    return templateEngine('Light', folder, (policy) => over(policy, observed), added);
  };

  beforeAll(async () => {
    const light = (policy: PolicyJson): PolicyJson => over(policy, observed);
    engines['as it is'] = await templateEngine('Light', folder, light);
    engines['off by path'] = await build('/here', false);
    engines['off'] = await build('', false);
    engines['without a target by path'] = await build('/here', true);
    engines['without a target'] = await build('', true);
  }, 600_000);
  afterAll(() => {
    for (const engine of Object.values(engines)) engine.retire();
  });

  test.each(rows)('rule $id acts but where it is excluded', ({ id, request }) => {
    const { query = '', ...rest } = request;
    const matches = (name: string, path: string): boolean => {
      const url = `${path}${query === '' ? '' : `?${query}`}`;
      return sendInProcess(engines[name]!, { ...rest, url }).rules.includes(id);
    };
    const seen = Object.keys(engines).map((name) => [
      name,
      matches(name, '/here/x'),
      matches(name, '/there'),
    ]);
    expect(seen).toEqual([
      ['as it is', true, true],
      ['off by path', false, true],
      ['off', false, false],
      ['without a target by path', id === 199_100, true],
      ['without a target', id === 199_100, id === 199_100],
    ]);
  });
});

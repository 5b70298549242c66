/** The proof of tuning: overrides of rules, custom rules, what one site changes in a policy. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';

let waf: TestControl;
let policyId = '';
let siteId = '';

beforeAll(async () => {
  waf = await startTestControl();
  const policy = await waf.call('PolicyService/CreatePolicy', { policy: { name: 'tuned' } });
  policyId = (policy.body['policy'] as { id: string }).id;
  const site = {
    name: 'shop',
    primaryHost: 'shop.test',
    upstreams: [{ inline: { url: 'http://127.0.0.1:1' } }],
    waf: { enabled: true, policyId },
  };
  const created = await waf.call('SiteService/CreateSite', { site });
  siteId = (created.body['site'] as { id: string }).id;
});
afterAll(() => waf.control.close());

async function seclang(forSite = ''): Promise<string> {
  const { body } = await waf.call('PolicyService/PreviewSecLang', { policyId, siteId: forSite });
  return String(body['seclang']);
}

test('overrides become SecLang: disabled, by path, without targets', async () => {
  const base = { policyId, crsRuleId: '942999' };
  const all = [
    { ...base, actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT', removedTargets: ['ARGS:note'] },
    { ...base, actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE', scope: '/editor' },
    { ...base, actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE', siteId },
  ];
  const made = await waf.call('RuleOverrideService/BulkUpsertRuleOverrides', { overrides: all });
  expect(made.status).toBe(200);
  const shared = await seclang();
  expect(shared).toContain('SecRuleUpdateTargetById 942999 "!ARGS:note"');
  expect(shared).toContain('SecRule REQUEST_PATHS_JOINED "@rx \\A(?:/editor(?:/');
  expect(shared).toContain('ctl:ruleRemoveById=942999');
  expect(shared).not.toContain('SecRuleRemoveById 942999');
  expect(await seclang(siteId)).toContain('SecRuleRemoveById 942999');
  const listed = await waf.call('RuleOverrideService/ListRuleOverrides', { policyId });
  expect(listed.body['page']).toMatchObject({ total: '3' });
});

test('overrides that cannot work are refused by field', async () => {
  const refused = async (change: object): Promise<string> => {
    const override = { policyId, crsRuleId: '942999', ...change };
    const answer = await waf.call('RuleOverrideService/UpsertRuleOverride', { override });
    expect(answer.body['code']).toBe('invalid_argument');
    return String(answer.body['message']);
  };
  expect(await refused({})).toMatch(/^override\.actionEnum: /);
  const score = { actionEnum: 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE' };
  expect(await refused(score)).toMatch(/^override\.scoreOverride: /);
  const scoped = { actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT', scope: '/x' };
  expect(await refused({ ...scoped, addedTargets: ['ARGS:q'] })).toMatch(/^override\.scope: /);
  expect(await refused({ ...scoped, scope: 'x' })).toMatch(/^override\.scope: /);
  const unknown = { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE', crsRuleId: '7' };
  expect(await refused(unknown)).toMatch(/^override\.crsRuleId: no ruleset/);
  const injected = {
    actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT',
    removedTargets: ['ARGS"\nSecRuleEngine Off'],
  };
  expect(await refused(injected)).toMatch(/^override\.removedTargets\[0\]: /);
});

test('custom rules are numbered, placed, ordered and previewed', async () => {
  const visualSpec = {
    conditions: [
      { variable: 'ARGS', selector: 'q', operator: 'contains', value: 'a "quoted" %{tx.x}' },
      { variable: 'REMOTE_ADDR', operator: 'ipMatch', value: '10.0.0.0/8', negate: true },
    ],
    action: 'block',
    status: 418,
  };
  const rule = { policyId, name: 'teapot', enabled: true, visualSpec };
  const first = await waf.call('CustomRuleService/CreateCustomRule', { rule });
  const { id, ruleId } = first.body['rule'] as { id: string; ruleId: string };
  expect(ruleId).toBe('10000');
  const raw = {
    policyId,
    name: 'raw',
    enabled: true,
    placement: 'after_crs',
    seclang: 'SecRule ARGS:x "@streq 1" "id:77,phase:2,pass,log"',
  };
  const second = await waf.call('CustomRuleService/CreateCustomRule', { rule: raw });
  const other = second.body['rule'] as { id: string };
  const text = await seclang();
  expect(text).toContain('SecRule ARGS:q "@rx a \\"quoted\\" %\\x7btx\\.x\\}"');
  expect(text).toContain('deny,log,status:418');
  expect(text).toContain('  SecRule REMOTE_ADDR "!@ipMatch 10.0.0.0/8" "t:none"');
  expect(text.indexOf('id:77')).toBeGreaterThan(text.indexOf('Include crs/rules'));
  const order = { policyId, ruleIds: [other.id, id] };
  const sorted = await waf.call('CustomRuleService/ReorderCustomRules', order);
  expect((sorted.body['rules'] as { id: string }[]).map((one) => one.id)).toEqual([other.id, id]);
  const off = { rule: { id, enabled: false }, updateMask: 'enabled' };
  expect((await waf.call('CustomRuleService/UpdateCustomRule', off)).status).toBe(200);
  expect(await seclang()).not.toContain('status:418');
});

test('raw SecLang may hold rules only, and says where it is wrong', async () => {
  const refused = async (text: string): Promise<string> => {
    const rule = { policyId, name: 'r', enabled: true, seclang: text };
    const answer = await waf.call('CustomRuleService/CreateCustomRule', { rule });
    expect(answer.body['code']).toBe('invalid_argument');
    return String(answer.body['message']);
  };
  expect(await refused('SecRuleEngine Off')).toMatch(/^rule\.seclang: line 1: only SecRule/);
  expect(await refused('SecRule ARGS')).toMatch(/^rule\.seclang: line 1, column \d+: /);
});

test('templates make rules, and a site lays its own levels over the policy', async () => {
  const from = { policyId, templateId: 'block-path', parameters: { path: '/private' }, siteId };
  const made = await waf.call('CustomRuleService/CreateFromTemplate', from);
  expect(made.body['rule']).toMatchObject({ name: 'Block a path', siteId });
  expect(await seclang()).not.toContain('/private');
  expect(await seclang(siteId)).toContain('@beginsWith /private');
  const override = { siteId, blockingParanoiaLevel: 3, samplingPercentage: 0 };
  const upsert = await waf.call('SiteService/UpsertSitePolicyOverride', { override });
  expect(upsert.status).toBe(200);
  const variant = await seclang(siteId);
  expect(variant).toContain("setvar:'tx.blocking_paranoia_level=3'");
  expect(variant).toContain('SecRuleEngine Off');
  expect(await seclang()).toContain("setvar:'tx.blocking_paranoia_level=1'");
  const removed = await waf.call('SiteService/DeleteSitePolicyOverride', { siteId });
  expect(removed.body['result']).toMatchObject({ changed: true });
});

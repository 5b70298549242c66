/** Rows on what operators add to a policy: rules, overrides, exclusions. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, SetupCall } from './chain-row.ts';
import { formType, inspectedBy, policyCalls, siteCall } from './chain-row.ts';

const sqli = '1%27%20OR%20%271%27=%271';
const attack = (path: string): ChainRequest => ({ path: `${path}?id=${sqli}` });
const login = (path: string): ChainRequest => ({
  ...{ path, method: 'POST', headers: formType, body: `log=a&pwd=${sqli}` },
});
const blocked: ChainExpected = { status: 403, with: [942_100] };
const logged: ChainExpected = { status: 200, origin: 'a', with: [942_100] };
const unseen: ChainExpected = { status: 200, origin: 'a', without: [942_100] };
const own: ChainExpected = { status: 403, without: [942_100] };

type Told = readonly [says: string, request: ChainRequest, expected: ChainExpected];

const told: Readonly<Record<string, readonly Told[]>> = {
  'own-rules': [
    ['a path that is blocked', { path: '/private' }, own],
    ['below a path that is blocked', { path: '/private/x' }, own],
    ['another path', { path: '/public' }, unseen],
    ['a path that is let through', attack('/open'), unseen],
    ['an attack elsewhere', attack('/closed'), blocked],
    ['a header that is blocked', { headers: { 'x-tool': 'scanner/2' } }, own],
    ['another value of that header', { headers: { 'x-tool': 'browser' } }, unseen],
    [
      'a method that is blocked there',
      { path: '/forms', method: 'POST', headers: formType, body: 'a=1' },
      own,
    ],
    ['another method there', { path: '/forms' }, unseen],
    ['an argument that is blocked', { path: '/?debug=yes' }, own],
    ['another value of that argument', { path: '/?debug=no' }, unseen],
    ['another argument', { path: '/?other=yes' }, unseen],
  ],
  'own-scores': [
    ['under a score of its own', attack('/shop'), logged],
    ['under a score of its own, below', attack('/shop/x'), logged],
    ['elsewhere', attack('/x'), blocked],
    ['beside the path', attack('/shopping'), blocked],
  ],
  'own-logs': [
    ['where a rule only logs', attack('/shop'), logged],
    ['below it', attack('/shop/x'), logged],
    ['elsewhere', attack('/x'), blocked],
    ['where two rules match', { path: `/shop?id=${sqli}&file=/etc/passwd` }, blocked],
  ],
  'own-plugin': [
    ['a log-in that it knows', login('/blog/wp-login.php'), unseen],
    ['the same elsewhere', login('/wp-login.php'), blocked],
    ['an attack on another argument', attack('/blog/wp-login.php'), blocked],
    ['an attack on another page', attack('/blog/'), blocked],
  ],
};

const rows = Object.entries(told).flatMap(([site, cases]) =>
  cases.map(([says, request, expected]): ChainRow => ({
    ...{ says: `Policy, ${site.replace('own-', '')}: ${says}`, site, request, expected },
  })),
);

const ruleCall = (name: string, action: string, ...conditions: readonly object[]): SetupCall => ({
  rpc: 'CustomRuleService/CreateCustomRule',
  body: {
    rule: { policyId: '$own', name, enabled: true, phase: 2, visualSpec: { conditions, action } },
  },
});
const at = (value: string): object => ({
  ...{ variable: 'REQUEST_FILENAME', operator: 'beginsWith', value },
});
const override = (change: object): SetupCall => ({
  rpc: 'RuleOverrideService/UpsertRuleOverride',
  body: { override: { policyId: '$own', crsRuleId: '942100', scope: '/shop', ...change } },
});

const changes: Readonly<Record<string, readonly SetupCall[]>> = {
  'own-rules': [
    {
      rpc: 'CustomRuleService/CreateFromTemplate',
      body: { policyId: '$own', templateId: 'block-path', parameters: { path: '/private' } },
    },
    ruleCall('open', 'allow', at('/open')),
    ruleCall('tool', 'block', {
      ...{
        variable: 'REQUEST_HEADERS',
        selector: 'x-tool',
        operator: 'beginsWith',
        value: 'scanner',
      },
    }),
    ruleCall('forms', 'block', at('/forms'), {
      ...{ variable: 'REQUEST_METHOD', operator: 'streq', value: 'POST' },
    }),
    ruleCall('debug', 'block', {
      variable: 'ARGS',
      selector: 'debug',
      operator: 'streq',
      value: 'yes',
    }),
  ],
  'own-scores': [override({ actionEnum: 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE', scoreOverride: 2 })],
  'own-logs': [override({ actionEnum: 'RULE_OVERRIDE_ACTION_LOG_ONLY' })],
  'own-plugin': [
    {
      rpc: 'CrsService/UpsertPolicyExclusionPlugin',
      body: {
        binding: {
          ...{ policyId: '$own', pluginSlug: 'wordpress-rule-exclusions', enabled: true },
          pathPrefix: '/blog',
        },
      },
    },
  ],
};

/** The group. */
export const policyGroup: ChainGroup = {
  setup: Object.entries(changes).flatMap(([key, calls]) => [
    ...policyCalls(key, 'standard', ...calls),
    siteCall(key, inspectedBy(key)),
  ]),
  rows,
};

/** Rows on what the rules do with attacks and with plain requests, under templates and states. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow } from './chain-row.ts';
import {
  formType,
  inspectedBy,
  jsonType,
  policyCalls,
  policyChange,
  siteCall,
} from './chain-row.ts';

/** Attacks by the rule that names them; each is one value. */
const attacks: readonly (readonly [says: string, rule: number, value: string])[] = [
  ['SQL injection, a tautology', 942_100, "1' OR '1'='1"],
  ['SQL injection, UNION SELECT', 942_100, "1' UNION SELECT user,password FROM users-- -"],
  ['SQL injection, a sleep', 942_160, '1 AND sleep(5)'],
  ['script injection, a tag', 941_110, '<script>alert(1)</script>'],
  ['script injection, a handler', 941_100, '<img src=x onerror=alert(1)>'],
  ['a path that leads out', 930_100, '../../../../etc/passwd'],
  ['a file of the system', 930_120, '/etc/passwd'],
  ['a shell command', 932_160, ';cat /etc/passwd'],
  ['PHP code', 933_150, '<?php eval(base64_decode($x)); ?>'],
  ['a Java class', 944_100, 'java.lang.Runtime'],
  ['a file of another server', 931_100, 'http://10.1.2.3/shell.txt?'],
  ['a Shellshock', 932_170, '() { :;}; /bin/bash -c id'],
];

/** Text as the bytes that stand on the wire. */
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');

const values: readonly (readonly [says: string, of: (value: string) => ChainRequest])[] = [
  ['query', (value) => ({ path: `/?file=${encodeURIComponent(value)}` })],
  [
    'form',
    (value) => ({
      ...{ method: 'POST', headers: formType, body: `file=${encodeURIComponent(value)}` },
    }),
  ],
  [
    'JSON',
    (value) => ({
      method: 'POST',
      headers: jsonType,
      body: bytesOf(JSON.stringify({ file: value })),
    }),
  ],
];

const templates = ['light', 'standard', 'strict'] as const;

const attackRows = templates.flatMap((template) =>
  attacks.flatMap(([attack, , value]) =>
    values.map(([place, request]): ChainRow => {
      const says = `Template ${template} blocks: ${attack}, ${place}`;
      const expected = { status: 403, uninspected: false };
      return { says, site: `rules-${template}`, request: request(value), expected };
    }),
  ),
);

const plainValues = [
  'Hello, world',
  'a quick brown fox',
  '2026-11-22',
  'Müller',
  'one two three',
  'user@example.com',
];

const plainRows = templates.flatMap((template) =>
  plainValues.flatMap((value) =>
    values.map(([place, request]): ChainRow => ({
      says: `Template ${template} passes: ${value}, ${place}`,
      site: `rules-${template}`,
      request: request(value),
      expected: { status: 200, origin: 'a', uninspected: false },
    })),
  ),
);

const attack: ChainRequest = { path: `/?id=${encodeURIComponent("1' OR '1'='1")}` };
const found = { with: [942_100] };
const blocked: ChainExpected = { status: 403, ...found };
const passed: ChainExpected = { status: 200, origin: 'a', ...found };
const unseen: ChainExpected = { status: 200, origin: 'a', without: [942_100] };

/** What a setting makes of an attack, and of a plain request. */
const states: readonly (readonly [says: string, site: string, ChainExpected])[] = [
  ['WAF on, mode blocking', 'rules-standard', blocked],
  ['WAF on, mode detection', 'rules-watch', passed],
  ['WAF off', 'rules-none', { status: 200, origin: 'a', uninspected: true }],
  ['engine state detection-only', 'rules-detect', passed],
  ['engine state off', 'rules-off', unseen],
  ['sampling 0 is a bypass', 'rules-sample', unseen],
  ['a higher threshold', 'rules-high', passed],
  ['a smaller score of critical matches', 'rules-score', passed],
  ['blocking mode self-contained', 'rules-self', { ...blocked, without: [949_110] }],
  ['a rule that is disabled', 'rules-disabled', unseen],
  ['a rule that only logs', 'rules-logged', passed],
  ['a target that is left out', 'rules-target', unseen],
  ['early blocking', 'rules-early', blocked],
];

const stateRows = states.flatMap(([says, site, expected]): ChainRow[] => [
  { says: `CrsCoreSettings and states: ${says}`, site, request: attack, expected },
  {
    says: `CrsCoreSettings and states: ${says}, a plain request`,
    site,
    request: { path: '/?id=1' },
    expected: { status: 200, origin: 'a', without: [942_100] },
  },
]);

const scoped: readonly ChainRow[] = (
  [
    ['under its path', '/shop', unseen],
    ['below its path', '/shop/x', unseen],
    ['beside its path', '/shopping', blocked],
    ['elsewhere', '/', blocked],
    ['by dots', '/shop/../x', blocked],
  ] as const
).map(([says, path, expected]) => ({
  says: `Rule override with a path: ${says}`,
  site: 'rules-scoped',
  request: { path: `${path}?id=${encodeURIComponent("1' OR '1'='1")}` },
  expected,
}));

const pages: readonly ChainRow[] = [
  {
    says: 'Responses: a browser gets a page',
    site: 'rules-standard',
    request: { ...attack, headers: { accept: 'text/html' } },
    expected: { ...blocked, body: '<html' },
  },
  {
    says: 'Responses: a program gets JSON',
    site: 'rules-standard',
    request: { ...attack, headers: { accept: 'application/json' } },
    expected: { ...blocked, body: '"kind":"waf_block"' },
  },
];

const override = (crsRuleId: number, change: object) => ({
  rpc: 'RuleOverrideService/UpsertRuleOverride',
  body: { override: { policyId: '$own', crsRuleId: String(crsRuleId), ...change } },
});
const state = (engineState: string) => ({
  rpc: 'PolicyService/SetEngineState',
  body: { policyId: '$own', revision: '$revision', engineState: `ENGINE_STATE_${engineState}` },
});
const core = (crsCore: Readonly<Record<string, unknown>>) =>
  policyChange(
    { crsCore },
    Object.keys(crsCore)
      .map((name) => `crsCore.${name}`)
      .join(','),
  );
/** Every rule that finds the attack but 942100 would block as well; so it is the only one. */
const changes = {
  'rules-detect': [state('DETECTION_ONLY')],
  'rules-off': [state('OFF')],
  'rules-sample': [core({ samplingPercentage: 0 })],
  'rules-high': [core({ inboundAnomalyScoreThreshold: 6 })],
  'rules-score': [core({ criticalAnomalyScore: 4 })],
  'rules-self': [policyChange({ blockingMode: 'BLOCKING_MODE_SELF_CONTAINED' }, 'blockingMode')],
  'rules-disabled': [override(942_100, { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE' })],
  'rules-logged': [override(942_100, { actionEnum: 'RULE_OVERRIDE_ACTION_LOG_ONLY' })],
  'rules-target': [
    override(942_100, {
      ...{ actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT', removedTargets: ['ARGS:id'] },
    }),
  ],
  'rules-early': [core({ earlyBlocking: true })],
  'rules-scoped': [
    override(942_100, { actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE', scope: '/shop' }),
  ],
} as const;

/** The group. */
export const ruleGroup: ChainGroup = {
  setup: [
    ...templates.flatMap((template) => [
      ...policyCalls(`rules-${template}`, template),
      siteCall(`rules-${template}`, inspectedBy(`rules-${template}`)),
    ]),
    siteCall('rules-watch', inspectedBy('rules-standard', 'WAF_MODE_DETECTION')),
    siteCall('rules-none'),
    ...Object.entries(changes).flatMap(([key, calls]) => [
      ...policyCalls(key, 'standard', ...calls),
      siteCall(key, inspectedBy(key)),
    ]),
  ],
  rows: [...attackRows, ...plainRows, ...stateRows, ...scoped, ...pages],
};

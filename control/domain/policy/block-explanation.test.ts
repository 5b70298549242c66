/** Holds suggested exclusions to the request that they are for, whatever names it brings. */

import { expect, test } from 'vitest';
import type { SecurityEventJson, SecurityMessageJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import type {
  RuleOverrideActionJson,
  RuleOverrideJson,
} from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { explainBlock, type EventSurroundings } from './block-explanation.ts';
import { describeRules } from './crs-rules.ts';
import { describedDetector } from './detectors.ts';
import { checkOverride } from './rule-overrides.ts';

const score = "setvar:'tx.inbound_anomaly_score_pl1=+%{tx.critical_anomaly_score}'";
const rules = describeRules(
  [
    {
      path: 'rules/REQUEST-942.conf',
      text:
        `SecRule ARGS_NAMES|ARGS|REQUEST_COOKIES "@rx a" "id:942100,phase:2,block,${score}"\n` +
        'SecRule REQUEST_METHOD "@streq POST" "id:920180,phase:1,block,chain"\n' +
        `  SecRule &REQUEST_HEADERS:Content-Length "@eq 0" "t:none,${score}"\n`,
    },
  ],
  'r',
);
const around: EventSurroundings = {
  policyId: 'p',
  ruleOf: (id) => rules.find(({ ruleId }) => ruleId === id) ?? describedDetector(id),
  isCustom: (id) => id === '10001',
};

function sqlAt(variable: string, key: string): SecurityMessageJson {
  const matchedValues = [{ variable, key, value: '1 or 1' }];
  return { ruleId: '942100', matchedValues, scoreContribution: 5 };
}

const evaluation: SecurityMessageJson = { ruleId: '949110', disruptive: true };

function explain(messages: SecurityMessageJson[], more: SecurityEventJson = {}) {
  const base = { siteId: 's', path: '/login', detailAvailable: true, blocked: true };
  return explainBlock({ ...base, messages, ...more }, around);
}

test('the narrowest exclusion names the site, the path, the rule and the argument', () => {
  const { exclusions, notes } = explain([sqlAt('ARGS', 'q'), evaluation]);
  expect(notes).toEqual([]);
  expect(exclusions.map(({ reach }) => reach)).toEqual([
    'site_path_target',
    'site_target',
    'policy_target',
    'site_path_rule',
    'site_rule',
  ]);
  const [first] = exclusions;
  expect(first?.overrides).toEqual([
    {
      policyId: 'p',
      siteId: 's',
      crsRuleId: '942100',
      scope: '/login',
      removedTargets: ['ARGS:q'],
      actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT',
    },
  ]);
  expect(exclusions[2]?.overrides[0]).toMatchObject({ siteId: '', scope: '' });
  expect(first?.summary).toBe('rule 942100 without ARGS:q, under /login, on this site');
});

test.each([
  ['an expression', '/.*/'],
  ['the end of the text', 'a"\nSecRuleEngine Off'],
  ['a list', 'a|ARGS'],
  ['another action', 'a,ctl:ruleEngine=off'],
  ['a macro', '%{tx.0}'],
  ['a long name', 'a'.repeat(200)],
])('a name that is %s stands in no exclusion', (_what, key) => {
  const { exclusions } = explain([sqlAt('ARGS', key)]);
  for (const { overrides, summary } of exclusions) {
    expect(JSON.stringify(overrides)).not.toContain(JSON.stringify(key).slice(1, -1));
    expect(summary).not.toContain(key);
    for (const one of overrides) checkOverride(one);
  }
  // All arguments, but only under the path, however far the exclusion reaches otherwise.
  expect(exclusions[1]?.overrides[0]).toMatchObject({ removedTargets: ['ARGS'], scope: '/login' });
});

test.each(['/', '/a b', '/%2e%2e/x', '/../x', '/a//b', '/a*', '/"', '/' + 'x'.repeat(600)])(
  'the path %s limits nothing',
  (path) => {
    const { exclusions, notes } = explain([sqlAt('ARGS', 'q')], { path });
    expect(exclusions.map(({ reach }) => reach)).not.toContain('site_path_target');
    expect(exclusions.flatMap(({ overrides }) => overrides.map(({ scope }) => scope))).toEqual(
      exclusions.map(() => ''),
    );
    expect(notes).toContain('The path of the request cannot limit an exclusion.');
  },
);

test('only what the first link reads is left out of a chain', () => {
  const matchedValues = [
    { variable: 'REQUEST_METHOD', value: 'POST' },
    { variable: '&REQUEST_HEADERS', key: 'Content-Length', value: '0' },
  ];
  const message = { ruleId: '920180', matchedValues: matchedValues.slice(0, 1) };
  const { exclusions } = explain([{ ...message, scoreContribution: 5 }]);
  expect(exclusions[0]?.overrides[0]?.removedTargets).toEqual(['REQUEST_METHOD']);
  // A count cannot be named: the rule is switched off, under the path only.
  const counted = { ruleId: '920180', matchedValues, scoreContribution: 5 };
  const [narrowest] = explain([counted]).exclusions;
  expect(narrowest?.reach).toBe('site_path_rule');
});

test('all rules that added to the score are excluded together', () => {
  const other = { ...sqlAt('REQUEST_COOKIES', 'c'), ruleId: '942100' };
  const { exclusions } = explain([sqlAt('ARGS', 'q'), other, evaluation]);
  expect(exclusions[0]?.overrides).toHaveLength(2);
});

test('what no exclusion changes is said', () => {
  const guards = [{ guard: 'country', action: 'deny' }];
  expect(explain([], { raw: { guards } }).notes).toEqual([
    'The guard country decided: no exclusion of a rule changes that.',
  ]);
  expect(explain([], { raw: { refusal: 'bad_host' } }).notes[0]).toContain('bad_host');
  const custom = explain([{ ruleId: '10001', disruptive: true }]);
  expect(custom.exclusions).toEqual([]);
  expect(custom.notes[0]).toContain('custom rule');
  const gone = explain([{ ruleId: '999', scoreContribution: 5 }]);
  expect(gone.notes).toEqual(["Rule 999 is not part of the policy's ruleset now."]);
  const compact = explain([sqlAt('ARGS', 'q')], { detailAvailable: false });
  expect(compact.notes[0]).toContain('compact');
  const nowhere = explainBlock({ messages: [sqlAt('ARGS', 'q')] }, { ...around, policyId: '' });
  expect(nowhere.exclusions).toEqual([]);
});

test('events without scores, of earlier versions, go by severity', () => {
  const old = { ...sqlAt('ARGS', 'q'), scoreContribution: 0, severity: 'critical' };
  expect(explain([old, evaluation]).exclusions[0]?.overrides).toHaveLength(1);
});

/** What an event tells of a score that three signs made. */
const scoreOf = (decision: string, severity: string): SecurityMessageJson => ({
  ruleId: '198000',
  severity,
  disruptive: severity === 'critical',
  tags: [`decision/${decision}`, 'points/198100=50', 'points/942100=12.5', 'points/198100+rule=9'],
});
const detected: SecurityMessageJson = {
  ruleId: '198100',
  matchedValues: [{ variable: 'ARGS', key: 'q', value: '1 or 1' }],
};
const named = (messages: SecurityMessageJson[]): (string | undefined)[][] =>
  explain(messages).exclusions.map(({ overrides }) => overrides.map(({ crsRuleId }) => crsRuleId));

test('a score is answered by all signs that made it, together', () => {
  const other = { ...sqlAt('ARGS', 'z'), ruleId: '920180', scoreContribution: 3 };
  const messages = [sqlAt('ARGS', 'q'), other, detected, scoreOf('score', 'critical'), evaluation];
  expect(named(messages)[0]).toEqual(['942100', '198100']);
  expect(explain(messages).exclusions[0]?.summary).toBe(
    'rule 942100 without ARGS:q; rule 198100 without ARGS:q, under /login, on this site',
  );
  const both = [sqlAt('ARGS', 'q'), other, detected, scoreOf('both', 'critical')];
  expect(named(both)[0]).toEqual(['942100', '198100', '920180']);
  expect(explain(messages).notes.filter((note) => note.includes('198000'))).toEqual([]);
});

test('what a score did not refuse is answered by the rules that added to the other one', () => {
  const messages = [sqlAt('ARGS', 'q'), detected, scoreOf('both', 'notice'), evaluation];
  expect(named(messages)[0]).toEqual(['942100']);
});

test('a detector is disabled or leaves targets out, and has no points of CRS', () => {
  const override = (
    actionEnum: RuleOverrideActionJson,
    more: RuleOverrideJson = {},
  ): RuleOverrideJson => ({ crsRuleId: '198100', actionEnum, ...more });
  const off = override('RULE_OVERRIDE_ACTION_DISABLE', { scope: '/a' });
  const less = override('RULE_OVERRIDE_ACTION_DEFAULT', { removedTargets: ['ARGS:q'] });
  for (const one of [off, less]) expect(() => checkOverride(one)).not.toThrow();
  const logOnly = override('RULE_OVERRIDE_ACTION_LOG_ONLY');
  const scored = override('RULE_OVERRIDE_ACTION_SCORE_OVERRIDE', { scoreOverride: 2 });
  const more = override('RULE_OVERRIDE_ACTION_DEFAULT', { addedTargets: ['ARGS'] });
  for (const one of [logOnly, scored, more]) {
    expect(() => checkOverride(one)).toThrow('a detector can be disabled or leave targets out');
  }
});

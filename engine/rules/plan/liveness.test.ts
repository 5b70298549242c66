/** Tests which effects of one rule the analysis says that another may read. */

import { expect, test } from 'vitest';
import { livenessOf, readsLastCapture, usesMatches, wordsNoticed } from './liveness.ts';
import { linkRules, ruleOf } from './planned-rules.test-support.ts';

const quiet = 'phase:1,pass,nolog';

function heads(...rules: string[]): Parameters<typeof livenessOf>[0] {
  return linkRules(...rules).rules.filter(({ id }) => id !== 0);
}

test.each<[string, string, { matches: boolean; captures: boolean }]>([
  ['nothing', `SecRule ARGS "@rx a" "id:1,${quiet}"`, { matches: false, captures: false }],
  [
    'its own match',
    `SecRule ARGS "@rx a" "id:1,phase:1,pass,log,msg:'%{MATCHED_VAR}'"`,
    { matches: false, captures: false },
  ],
  [
    'its own captures',
    `SecRule ARGS "@rx (a)" "id:1,${quiet},capture,setvar:'tx.x=%{tx.1}'"`,
    { matches: false, captures: false },
  ],
  [
    'a match as a target',
    `SecRule MATCHED_VAR "@rx a" "id:1,${quiet}"`,
    { matches: true, captures: false },
  ],
  [
    'a match in an operator',
    `SecRule ARGS "@streq %{MATCHED_VAR_NAME}" "id:1,${quiet}"`,
    { matches: true, captures: false },
  ],
  [
    'a match in an action without conditions',
    `SecAction "id:1,${quiet},setenv:'e=%{MATCHED_VAR}'"`,
    { matches: true, captures: false },
  ],
  [
    'a capture as a target',
    `SecRule TX:1 "@rx a" "id:1,${quiet}"`,
    { matches: false, captures: true },
  ],
  ['all of TX', `SecRule TX "@rx a" "id:1,${quiet}"`, { matches: false, captures: true }],
  [
    'a capture in an action',
    `SecAction "id:1,${quiet},setvar:'tx.x=%{tx.1}'"`,
    { matches: false, captures: true },
  ],
  [
    'a capture in a log text alone',
    `SecAction "id:1,phase:1,pass,log,msg:'%{tx.1}'"`,
    { matches: false, captures: false },
  ],
  [
    'a match through its message',
    `SecRule RULE:msg "@rx a" "id:1,${quiet},msg:'%{MATCHED_VAR}'"`,
    { matches: true, captures: false },
  ],
  [
    'a capture through its message',
    `SecAction "id:1,${quiet},msg:'%{tx.1}',setvar:'tx.x=%{rule.msg}'"`,
    { matches: false, captures: true },
  ],
])('a rule that reads %s', (_name, rule, expected) => {
  expect(livenessOf(heads(rule))).toEqual(expected);
});

test.each<[string, boolean]>([
  ['log', true],
  ['nolog', false],
  ["nolog,setvar:'tx.x=%{MATCHED_VAR}'", true],
  ['nolog,sanitiseMatched', true],
])('whether a rule with %s needs its own matches: %s', (actions, expected) => {
  const program = linkRules(`SecRule ARGS "@rx a" "id:1,phase:1,pass,${actions}"`);
  expect(usesMatches(ruleOf(program, 1))).toBe(expected);
});

test.each<[string, boolean]>([
  ['capture,setvar:tx.n=+1', true],
  ["capture,setvar:'tx.x=%{tx.1}'", false],
  ['capture,setvar:tx.1=x', false],
  ['capture,setvar:tx.%{ARGS.n}=x', false],
  ['setvar:tx.n=+1', false],
])('whether only the last captures of %s are read: %s', (actions, expected) => {
  const program = linkRules(`SecRule ARGS "@rx (a)" "id:1,${quiet},${actions}"`);
  expect(readsLastCapture(ruleOf(program, 1))).toBe(expected);
});

test.each<[string, string, readonly string[] | null]>([
  ['no rule', `SecRule ARGS "@rx a" "id:2,${quiet}"`, []],
  ['a rule by name', `SecRule TX:copy_a "@rx a" "id:2,${quiet}"`, null],
  ['a rule that lists TX', `SecRule TX "@rx a" "id:2,${quiet}"`, null],
  [
    'a rule that looks for a word in names',
    `SecRule TX:/secret/ "@rx a" "id:2,${quiet}"`,
    ['secret'],
  ],
  ['a rule for other names', `SecRule TX:/^other/ "@rx a" "id:2,${quiet}"`, []],
  ['a log text', `SecAction "id:2,phase:1,pass,log,msg:'%{tx.copy_a}'"`, null],
])('the names that begin with a prefix are read by %s', (_name, rule, words) => {
  const rules = heads(`SecRule ARGS "@rx a" "id:1,${quiet}"`, rule);
  expect(wordsNoticed(rules, rules[0]!, 'copy_')).toEqual(words);
});

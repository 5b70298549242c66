/** Tests how texts of rules are read for the planner: TX variables in macros, parts of a `ctl`. */

import { expect, test } from 'vitest';
import { linkRules, ruleOf } from './planned-rules.test-support.ts';
import { controlOf, linksOf, textsOf, txReads } from './written-reads.ts';

test.each<[string, readonly string[], boolean]>([
  ['%{tx.a} and %{TX:B}', ['a', 'b'], false],
  ['%{tx}', [], true],
  ['%{tx.}', [], true],
  ['%{tx./^a/}', [], true],
  ['%{ARGS.a} tx.a', [], false],
])('TX variables in %s', (text, names, lists) => {
  expect(txReads(text)).toEqual({ names, lists });
});

test.each<[string, ReturnType<typeof controlOf>]>([
  ['ctl:ruleEngine=Off', { name: 'ruleengine' }],
  ["ctl:' ruleRemoveById = 2'", { name: 'ruleremovebyid', removal: { by: 'id', subject: ' 2' } }],
  [
    "ctl:ruleRemoveTargetByTag='t';args:x",
    { name: 'ruleremovetargetbytag', removal: { by: 'tag', subject: 't', variable: 'ARGS' } },
  ],
  ['setvar:tx.a=1', null],
])('%s', (action, expected) => {
  const rule = ruleOf(linkRules(`SecAction "id:1,phase:1,pass,nolog,${action}"`), 1);
  expect(controlOf(rule.actions[0]!)).toEqual(expected);
});

test('all texts of a chain that may hold macros are seen', () => {
  const program = linkRules(
    `SecRule ARGS "@streq o1" "id:1,phase:1,redirect:r1,log,msg:m1,logdata:d1,tag:t1,chain"`,
    `SecRule ARGS "@streq o2" "setvar:tx.a=v2"`,
  );
  const texts = linksOf(ruleOf(program, 1)).flatMap(textsOf);
  for (const text of ['o1', 'r1', 'm1', 'd1', 't1', 'o2', 'tx.a=v2']) expect(texts).toContain(text);
});

/** Tests which links a phase memo may decide, and which variables its rules share with others. */

import { expect, test } from 'vitest';
import type { StaticAnalysis } from './static-analysis.ts';
import { analyzeRules, KNOWN } from './static-analysis.ts';
import { linkRules, ruleOf } from './planned-rules.test-support.ts';

const quiet = 'phase:2,pass,nolog';

/** Analyzes rules of phase 2 as if all of them ran in every transaction. */
function analyze(
  ...rules: string[]
): StaticAnalysis & { of(list: Uint8Array, id: number): number } {
  const program = linkRules(...rules);
  const targetIdOfRule = new Int32Array(program.rules.length).fill(-1);
  const phases = program.phases.map((items) => {
    return { items, always: new Uint32Array((items.length + 31) >>> 5).fill(-1) };
  });
  const analysis = analyzeRules(phases, program.rules, targetIdOfRule, true);
  return { ...analysis, of: (list, id) => list[ruleOf(program, id).index]! };
}

test.each<[string, string, number]>([
  ['a variable', `SecRule TX:a "@ge 5" "id:1,${quiet}"`, KNOWN.tx],
  ['a variable against another', `SecRule TX:a "@ge %{tx.b}" "id:1,${quiet}"`, KNOWN.tx],
  ['no condition', `SecAction "id:1,${quiet},setvar:tx.a=1"`, KNOWN.tx],
  ['how the body was parsed', `SecRule REQBODY_ERROR "!@eq 0" "id:1,${quiet}"`, KNOWN.body],
  ['why it could not be', `SecRule REQBODY_ERROR_MSG "!@streq x" "id:1,${quiet}"`, KNOWN.body],
  ['the length of the body', `SecRule REQUEST_BODY_LENGTH "@gt 0" "id:1,${quiet}"`, KNOWN.length],
  ['a value of the request', `SecRule ARGS "@ge 5" "id:1,${quiet}"`, KNOWN.no],
  ['a list of variables', `SecRule TX:/^a/ "@ge 5" "id:1,${quiet}"`, KNOWN.no],
  ['a macro of the request', `SecRule TX:a "@streq %{ARGS.x}" "id:1,${quiet}"`, KNOWN.no],
])('a link that reads %s', (_name, rule, known) => {
  const analysis = analyze(rule);
  expect(analysis.of(analysis.known, 1)).toBe(known);
});

test('variables that memoized rules set and read are named', () => {
  const { written, used } = analyze(
    `SecAction "id:1,${quiet},setvar:tx.sum=0,setvar:'tx.sum=+%{tx.found}'"`,
    `SecRule TX:sum "@ge %{tx.limit}" "id:2,phase:2,deny"`,
  );
  expect([...written]).toEqual(['sum']);
  expect([...used].sort()).toEqual(['found', 'limit', 'sum']);
});

test('nothing is memoized where a rule sees the order of what is written', () => {
  const analysis = analyze(
    `SecAction "id:1,${quiet},setvar:tx.sum=1"`,
    `SecRule TX:/^su/ "@rx ." "id:2,${quiet}"`,
  );
  expect(analysis.of(analysis.known, 1)).toBe(KNOWN.no);
});

test.each<[string, number]>([
  ['ctl:ruleRemoveById=1', 1],
  ['ctl:ruleEngine=Off', 1],
  ['ctl:ruleRemoveTargetById=1;TX:a', 1],
  ['ctl:ruleRemoveTargetById=1;ARGS:a', 0],
  ['setvar:tx.a=1', 0],
])('whether %s changes which rules run: %i', (action, expected) => {
  const analysis = analyze(`SecAction "id:2,${quiet},${action}"`);
  expect(analysis.of(analysis.changesRules, 2)).toBe(expected);
});

test('a phase in which a rule may choose the body processor is marked', () => {
  const rule = `SecRule ARGS "@rx a" "id:1,phase:1,pass,nolog,ctl:requestBodyProcessor=XML"`;
  expect([...analyze(rule).changesBody]).toEqual([0, 1, 0, 0, 0, 0]);
});

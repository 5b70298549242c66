/**
 * Tests which patterns share a scan: what one rule's transformations make of a value is not
 * searched for the patterns of rules that ask for another shape of it.
 */

import { expect, test } from 'vitest';
import { fullCatalog } from '../features/full-catalog.ts';
import { loadText } from '../language/include.ts';
import { buildProgram } from '../program/build-program.ts';
import { prefilterFacts } from './prefilter-choice.ts';
import { draftScan } from './scan-draft.ts';

/** Per scan class, the ids of the rules whose patterns it holds. */
function classesOf(transformations: readonly string[]): number[][] {
  return classesOfRules(transformations.map((list, at) => [`@rx x${at}`, list]));
}

/** The same for rules of an operator and transformations each. */
function classesOfRules(list: readonly (readonly [string, string])[]): number[][] {
  const rules = list.map(([operator, transformations], at) => {
    return `SecRule ARGS "${operator}" "id:${at + 1},phase:2,pass,nolog,${transformations}"`;
  });
  const text = ['SecRuleEngine On', ...rules].join('\n');
  const { program } = buildProgram(loadText(text, 't.conf'), fullCatalog, () => null);
  const phases = program!.phases;
  const facts = prefilterFacts(phases, { constant: () => null, txBase: new Map() });
  const { targets, groups } = draftScan(phases, facts);
  const classes = groups.flatMap((group) => group.classes);
  const ids = classes.map(({ patterns }) => {
    return [...new Set(patterns.map(({ targetId }) => targets[targetId]!.rule.id))];
  });
  // Arguments of the target and of the body have a class each.
  return [...new Map(ids.map((list) => [list.join(), list])).values()];
}

test('values as they are and decoded share a scan', () => {
  expect(classesOf(['t:none', 't:urlDecodeUni', 't:htmlEntityDecode'])).toEqual([[1, 2, 3]]);
});

test.each([
  ['t:normalisePath'],
  ['t:urlDecodeUni,t:normalizePathWin'],
  ['t:urlDecodeUni,t:replaceComments'],
  ['t:removeCommentsChar'],
  ['t:lowercase'],
  ['t:base64Decode'],
])('%s has a scan of its own', (shape) => {
  expect(classesOf(['t:none', 't:urlDecodeUni', shape])).toEqual([[1, 2], [3]]);
});

test('a reshaped path is searched with what is reshaped', () => {
  const lists = ['t:none', 't:cmdLine,t:normalisePath', 't:lowercase'];
  expect(classesOf(lists)).toEqual([[2, 3], [1]]);
});

test('what must not match is searched for apart from what must', () => {
  const rules = [
    ['!@rx ^a+$', 't:none'],
    ['@rx b', 't:none'],
    ['@rx c', 't:urlDecodeUni'],
    ['!@rx ^d+$', 't:none'],
  ] as const;
  expect(classesOfRules(rules)).toEqual([
    [1, 4],
    [2, 3],
  ]);
});

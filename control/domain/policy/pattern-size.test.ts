/** Patterns that engines cannot compile are refused by the size of their counts. */

import { expect, test } from 'vitest';
import { checkCustomRule } from './custom-rules.ts';
import { patternProblem } from './pattern-size.ts';

const refused: readonly (readonly [pattern: string, problem: RegExp])[] = [
  ['(a{1,1000}){1,1000}', /more than a million/],
  ['((a{1,100}){1,100}){1,100}', /more than a million/],
  ['(?:(?:a{100}){100}){100}', /more than a million/],
  ['(?i:(x{0,500}){0,500})', /grows to/],
  ['([ab]{200}[^\\]]{200}){200}', /grows to/],
  ['(\\(a{999}){999}', /grows to/],
  ['a{1001}', /repeats more than 1000 times/],
  ['a{,5000}', /repeats more than 1000 times/],
  ['(a{2}){3}{500}{500}', /grows to/],
  ['(a|b{900}|c{900}){50}', /grows to/],
  ['('.repeat(200) + 'a' + ')'.repeat(200), /nests groups/],
];

test.each(refused)('%s', (pattern, problem) => {
  expect(patternProblem(pattern)).toMatch(problem);
  const seclang = `SecRule ARGS "@rx ${pattern.replaceAll('"', '\\"')}" "id:1,phase:2,deny"`;
  const raw = { name: 'r', enabled: true, seclang };
  expect(() => checkCustomRule(raw)).toThrow(
    /rule\.seclang: line 1, column \d+: rule 1: the pattern/,
  );
  const bare = { ...raw, seclang: seclang.replace('@rx ', '') };
  expect(() => checkCustomRule(bare)).toThrow(/the pattern/);
  const conditions = [{ variable: 'ARGS', operator: 'rx', value: pattern }];
  const visual = { name: 'r', enabled: true, visualSpec: { conditions, action: 'block' } };
  expect(() => checkCustomRule(visual)).toThrow(/conditions\[0\]\.value: the pattern/);
});

test.each([
  '^[a-z]{1,64}(?:\\.[a-z0-9-]{1,63}){1,10}$',
  'union\\s+(?:all\\s+)?select',
  '[{}]{2}',
  'a{x}{1',
  '\\{1,9999\\}',
  '[{9999}]',
  '\\Q(a{1,1000}){1,1000}\\E',
  '(?:\\d{1,3}\\.){3}\\d{1,3}',
  '[[:alpha:]{99999}]+',
])('%s stays', (pattern) => {
  expect(patternProblem(pattern)).toBeNull();
});

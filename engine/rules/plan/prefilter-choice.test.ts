/** Tests by which link and on what condition a rule is searched for. */

import { describe, expect, test } from 'vitest';
import { chooseCondition, isLoose, negativePrefilterOf } from './prefilter-choice.ts';
import type { ScanCondition } from './prefilter-choice.ts';
import { factsOf, linkRules, ruleOf } from './planned-rules.test-support.ts';

const quiet = 'phase:1,pass,nolog';

function conditionOf(...rules: string[]): ScanCondition | null {
  const program = linkRules(...rules);
  return chooseCondition(ruleOf(program, 1), factsOf(program));
}

describe('the condition', () => {
  test.each<[string, string[], Partial<ScanCondition> | null]>([
    ['of a pattern', [`SecRule ARGS "@rx a" "id:1,${quiet}"`], { onRows: true, negated: false }],
    [
      'of a negated pattern',
      [`SecRule ARGS:x "!@streq a" "id:1,${quiet}"`],
      { onRows: true, negated: true },
    ],
    ['of a computed value', [`SecRule REMOTE_ADDR "@streq a" "id:1,${quiet}"`], null],
    ['of an action', [`SecAction "id:1,${quiet},setenv:e=1"`], null],
    [
      'of an operator that cannot be searched, on a rare field',
      [`SecRule REQUEST_HEADERS:Range "@ipMatch 10.0.0.1" "id:1,${quiet}"`],
      { filter: { kind: 'present' }, onRows: false },
    ],
  ])('%s', (_name, rules, expected) => {
    const condition = conditionOf(...rules);
    if (expected === null) expect(condition).toBeNull();
    else expect(condition).toMatchObject(expected);
  });

  const chain = (actions: string): string[] => [
    `SecRule ARGS "!@rx ^a" "id:1,${quiet},${actions}chain"`,
    `SecRule REQUEST_COOKIES:x "@rx b"`,
  ];
  const linkTargets = (...rules: string[]): string | undefined => {
    return conditionOf(...rules)?.link.targets[0]?.variable.name;
  };

  test('is that of the most selective link', () => {
    expect(linkTargets(...chain(''))).toBe('REQUEST_COOKIES');
  });

  test.each<[string, string[]]>([
    ['the link before it has effects', chain('setvar:tx.a=1,')],
    ['another rule reads matches', [...chain(''), `SecRule MATCHED_VAR "@rx a" "id:2,${quiet}"`]],
    ['another rule reads captures', [...chain('capture,'), `SecRule TX:1 "@rx a" "id:2,${quiet}"`]],
  ])('is that of the first link where %s', (_name, rules) => {
    // A pattern for captures, so that each rule set may be searched by its first link.
    const own = rules.map((rule) => rule.replace('!@rx ^a', '@rx (a)'));
    expect(linkTargets(...own)).toBe('ARGS');
  });

  test('of copies is asked of the values, unless another rule reads a copy', () => {
    const copies = [
      `SecRule ARGS "@rx ^.*$" "id:1,${quiet},capture,setvar:'tx.copy_%{tx.0}=/%{tx.0}/',chain"`,
      `SecRule TX:/^copy_/ "@within /a/ /b/"`,
    ];
    expect(conditionOf(...copies)).toMatchObject({ ownedPrefix: 'copy_', words: [] });
    const word = `SecRule TX:/secret/ "@rx ." "id:2,${quiet}"`;
    expect(conditionOf(...copies, word)).toMatchObject({ ownedPrefix: 'copy_', words: ['secret'] });
    const reader = `SecRule TX:copy_a "@rx ." "id:2,${quiet}"`;
    expect(conditionOf(...copies, reader)?.ownedPrefix).toBeUndefined();
  });
});

test.each<[string, boolean]>([
  ['&REQUEST_HEADERS:Range "@eq 0"', true],
  ['&REQUEST_HEADERS:Range "@lt 1"', true],
  ['&REQUEST_HEADERS:Range "!@ge 1"', true],
  ['&REQUEST_HEADERS:Range "@lt 2"', false],
  ['REQUEST_HEADERS:Range "@eq 0"', false],
])('whether a row says that %s cannot match: %s', (condition, expected) => {
  const program = linkRules(`SecRule ${condition} "id:1,${quiet}"`);
  expect(negativePrefilterOf(ruleOf(program, 1), factsOf(program)) !== null).toBe(expected);
});

test('a loose filter is no match yet', () => {
  expect(isLoose({ kind: 'present' })).toBe(false);
});

/** Tests which rules folding decides and which it keeps, and the TX values it starts with. */

import { describe, expect, test } from 'vitest';
import { foldProgram } from './fold.ts';
import { emptyPorts, keptIds, linkRules } from './planned-rules.test-support.ts';

const quiet = 'phase:1,pass,nolog';
const set = (id: number, assignment: string): string => {
  return `SecAction "id:${id},${quiet},setvar:'${assignment}'"`;
};
const open = (id: number): string => `SecRule ARGS "@rx a" "id:${id},phase:1,pass,log"`;

describe('folds', () => {
  test.each<[string, string[], number[]]>([
    ['constant variables', [set(1, 'tx.a=1'), set(2, 'tx.b=%{tx.a}')], []],
    [
      'a rule whose condition is false for every request',
      [set(1, 'tx.level=1'), `SecRule TX:level "@lt 1" "id:2,phase:1,deny"`],
      [],
    ],
    [
      'what a constant condition skips',
      [
        set(1, 'tx.level=1'),
        `SecRule TX:level "@lt 2" "id:2,${quiet},skipAfter:END"`,
        open(3),
        'SecMarker END',
        open(4),
      ],
      [4],
    ],
    [
      'a chain with a link that never matches',
      [
        set(1, 'tx.level=1'),
        `SecRule ARGS "@streq a" "id:2,phase:1,deny,chain"\nSecRule TX:level "@gt 5"`,
      ],
      [],
    ],
  ])('%s', (_name, rules, kept) => {
    expect(keptIds(linkRules(...rules), 1)).toEqual(kept);
  });

  test('into the values that every transaction starts with', () => {
    const program = linkRules(set(1, 'tx.a=1'), set(2, 'tx.a=+2'), set(3, 'tx.b=<%{tx.a}>'));
    expect(Object.fromEntries(foldProgram(program, emptyPorts).txBase)).toEqual({
      a: '3',
      b: '<3>',
    });
  });
});

describe('keeps', () => {
  test.each<[string, string[], number[]]>([
    ['a rule that is logged', [`SecAction "id:1,phase:1,pass,log"`], [1]],
    [
      'what depends on a variable that a request may set',
      [
        `SecRule ARGS "@rx a" "id:1,${quiet},setvar:tx.a=1"`,
        `SecRule TX:a "@eq 1" "id:2,phase:1,deny"`,
      ],
      [1, 2],
    ],
    [
      'a write that a request may have skipped',
      [`SecRule ARGS "@rx a" "id:1,${quiet},skipAfter:END"`, set(2, 'tx.a=1'), 'SecMarker END'],
      [1, 2],
    ],
    [
      'a write after a rule that may end the transaction',
      [`SecRule ARGS "@rx a" "id:1,phase:1,deny"`, set(2, 'tx.a=1')],
      [1, 2],
    ],
    [
      'a rule that ctl may remove',
      [`SecRule ARGS "@rx a" "id:1,${quiet},ctl:ruleRemoveById=2"`, set(2, 'tx.a=1')],
      [1, 2],
    ],
    [
      'a constant match that another rule reads',
      [
        set(1, 'tx.a=1'),
        `SecRule TX:a "@eq 1" "id:2,${quiet}"`,
        `SecRule MATCHED_VAR "@rx ." "id:3,${quiet}"`,
      ],
      [2, 3],
    ],
  ])('%s', (_name, rules, kept) => {
    expect(keptIds(linkRules(...rules), 1)).toEqual(kept);
  });
});

/** Tests that a pattern without its tail is found in the same strings. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { draws } from '../../test/support/soak.ts';
import { printForScan } from './regex-analysis.ts';
import { atStart, isDense, matchesAnyOf, toEnd, withoutTail } from './regex-tail.ts';
import { readRegexTree } from './regex-tree.ts';
import type { RegexNode } from './regex-tree.ts';

function read(pattern: string): RegexNode {
  const tree = readRegexTree(pattern, { caseless: false, dotall: true });
  if (tree === null) throw new Error(`unreadable: ${pattern}`);
  return tree.root;
}

/** What is printed for Hyperscan, as a JavaScript regex. */
function asJavaScript(printed: string): RegExp {
  const caseless = printed.startsWith('(?i)');
  return new RegExp(caseless ? printed.slice(4) : printed, caseless ? 'i' : '');
}

it.each([
  ['ab*', 'a'],
  ['ab+c?', 'ab'],
  ['a(?:b|c)*?', 'a'],
  ['(a)(b*)(c{0,3})', 'a'],
  ['(?:a[bc]*){3}', '(?:a[b-c]*){2}(?:a)'],
  ['(?:a[bc]*){2}', '(?:a[b-c]*)(?:a)'],
  ['[ab]{4}', '[a-b]{4}'],
  ['[ab]{4,9}', '[a-b]{4}'],
  ['[ab]{4,}', '[a-b]{4}'],
  ['x(?:ab*|cd?)', 'x(?:a|c)'],
  ['x(?:a|b*)', 'x'],
  ['x(?:a*){5}', 'x'],
  ['ab*$', 'ab*$'],
  ['ab*\\b', 'ab*\\b'],
  ['\\bab\\bc*', '\\bab\\b'],
  ['a*', 'a*'],
  ['', ''],
])('%s without its tail is %s', (pattern, expected) => {
  expect(printForScan(withoutTail(read(pattern)))).toBe(expected);
});

it('a pattern that matches any byte is found once, at the start', () => {
  const allowed = new Uint8Array(256).fill(1, 0x61, 0x7b);
  expect(matchesAnyOf(read('.'), allowed)).toBe(true);
  expect(matchesAnyOf(read('[a-z]'), allowed)).toBe(true);
  expect(matchesAnyOf(read('[a-y]'), allowed)).toBe(false);
  expect(matchesAnyOf(read('ab'), allowed)).toBe(false);
  expect(printForScan(atStart(read('[ab]')))).toBe('^[a-b]');
});

it.each([
  ['\\W{4}', true],
  ['(?:[!-+][^!-+]*){3}[!-+]', true],
  ['(?:[!-+]|\\xc2\\xb4){3}', true],
  ['x\\W', false],
  ['[ab]{4}', false],
  ['\\b\\W', false],
  ['x*\\W', true],
])('%s is dense: %s', (source, expected) => {
  expect(isDense(read(source))).toBe(expected);
});

it('a pattern with all that follows ends where the value does', () => {
  const allowed = new Uint8Array(256).fill(1, 0x61, 0x7b);
  expect(printForScan(toEnd(read('[a-z]{2}|x'), allowed))).toBe('(?:[a-z]{2}|x)[a-z]*$');
});

const atom = fc.constantFrom('a', 'b', '[ab]', 'c', '\\b', '^', '$');
const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{2,}', '+?', '{3}');
const { pattern } = fc.letrec((tie) => ({
  piece: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    atom,
    tie('pattern').map((inner) => `(?:${String(inner)})`),
    tie('pattern').map((inner) => `(${String(inner)})`),
  ),
  part: fc.tuple(tie('piece'), quantifier).map(([piece, times]) => {
    const text = String(piece);
    return /^[\\^$]/.test(text) ? text : text + times;
  }),
  sequence: fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((list) => list.join('')),
  pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 2 }).map((list) => list.join('|')),
}));

const all = new Uint8Array(256).fill(1, 0, 128);
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 0x7fffffff);
const numRuns = draws(600, 50_000, 'FUZZ_RUNS');

it(`finds the same strings (FUZZ_SEED=${seed})`, () => {
  const text = fc.stringMatching(/^[abc ]{0,8}$/);
  fc.assert(
    fc.property(pattern, fc.array(text, { maxLength: 12 }), (source, texts) => {
      const whole = new RegExp(String(source));
      const cut = withoutTail(read(String(source)));
      const sooner = asJavaScript(printForScan(cut)!);
      const once = asJavaScript(printForScan(toEnd(cut, all))!);
      for (const one of texts) {
        expect([one, sooner.test(one)]).toEqual([one, whole.test(one)]);
        expect([one, once.test(one)]).toEqual([one, whole.test(one)]);
      }
    }),
    { seed, numRuns },
  );
});

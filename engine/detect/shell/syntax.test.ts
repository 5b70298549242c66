/** Tests which commands of a text a shell reaches, and that `sh` itself reaches no other. */

import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { isReached } from './syntax.ts';

/** Texts with a command `id`, and whether a shell gets to it. */
const texts: readonly (readonly [string, boolean])[] = [
  ['a; id', true],
  ['a (b c); id', false],
  ['a; id (b)', false],
  ['a; id # (b)', true],
  ['a; id\n(b) c (', true],
  ['a\nb (c)\nid', false],
  ['a; (id)', true],
  ['a; { id; }', true],
  ['x "; id', true],
  ['x "; id (b)', false],
  ['x "(x)"; id', true],
  ["a's; id; b's", true],
  ["a's (x); id; b's", false],
  ["a's (x); id; b's (y)", false],
  ['"$(id) (b)', true],
  ['a; if (true) then id; fi', true],
  ['f() { id; }; f', true],
  ['a \\(b\\); id', true],
  ['a > | b; id', false],
  ['a >| /dev/null; id', true],
  ['a 2>&1; id', true],
  ['a && && b; id', false],
  ['a\n| b |\n; id', false],
  ['| id', true],
  ['& id', true],
  [' || id', true],
  ['1) a\n2) b id', false],
  ['1) a\n2) b\n id', true],
  ['a (b)\n;id', true],
  ['a (b)\n|id', true],
  ['a `b (c)` `id`', true],
  ['a <<x\nb (c)\nx\nid', true],
];

/** The same in other shells and command lines, and what is not parsed. */
const others: readonly (readonly [string, boolean])[] = [
  ['a=(1); id', true],
  ['a |& id', true],
  ['1) a; id', true],
  ['a;; id', true],
  [`${'a'.repeat(5000)} (b); id`, true],
];

/** Whether `sh` runs the command where a program puts the text into one of three places. */
function runs(text: string): boolean {
  const own = 'a() { :; }; b() { :; }; x() { :; }; false';
  const written = text.replace('id', 'echo 7');
  return [written, `"${written}`, `'${written}`].some((argument) => {
    const { stdout } = spawnSync('sh', ['-c', `${own} ${argument}`], { encoding: 'utf8' });
    return stdout.includes('7');
  });
}

describe('a command', () => {
  test.each([...texts, ...others])('in %j is reached: %s', (text, expected) => {
    expect(isReached(text, text.indexOf('id') - 1)).toBe(expected);
  });
  test('is run by sh in no text in which it is not reached', () => {
    const unreached = texts.filter(([, expected]) => !expected).map(([text]) => text);
    expect(unreached.filter((text) => runs(text))).toEqual([]);
    expect(runs('a; id')).toBe(true);
  });
});

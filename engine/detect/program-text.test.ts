/** Tests which sentences before code make a text no program, wherever the text is put. */

import { expect, test } from 'vitest';
import { followsSentence } from './program-text.ts';

test.each([
  ['Traceback (most recent call last):\n  File "/a.py", line 8, in <module>\n    f(1)', true],
  ['please look at this:\nf(1)', true],
  ['please look at this:\nx = f(1)', true],
  ['please look at this: f(1)', false],
  ['f(1)', false],
  ['two words;\nf(1)', false],
  ['x is not none;\nf(1)', false],
  ['if a not in b:\nf(1)', false],
  ['async function go() {}\nf(1)', false],
  ["please look at this';\nf(1)", false],
  ['please look at this";\nf(1)', false],
  ['please look at this`;\nf(1)', false],
  ["'please look at this';\nf(1)", false],
  ["please look at this'; go and look right there\nf(1)", true],
  ['# please look at this\nf(1)', false],
  ['/* please look at this */\nf(1)', false],
  ['// please look at this\nf(1)', false],
  ['-- please look at this\nf(1)', false],
  ['/please look at this/\nf(1)', false],
  ['"""please look at this"""\nf(1)', false],
  ['[[please look at this]]\nf(1)', false],
  ['please look at this {{\nf(1)}}', false],
  ['please look at this ${\nf(1)}', false],
  ['please look at this <%=\nf(1) %>', false],
  ["please look at this \\'\nf(1)", false],
  [`please look at this ${' '.repeat(2100)}\nf(1)`, false],
])('%j has a sentence before its call: %s', (text, expected) => {
  expect(followsSentence(text, text.indexOf('f(1)'))).toBe(expected);
});

/** Tests that the beginning of an expanded text is that of the whole one, and read no further. */

import { expect, test } from 'vitest';
import { expandMacro, expandMacroStart, parseMacros } from './macro.ts';
import { Transaction } from './transaction.ts';
import type { VariableDefinition } from './types.ts';

const read: string[] = [];

/** A variable that notes when it is read. */
function variable(name: string, value: string): VariableDefinition {
  const entries = () => {
    read.push(name);
    return [{ key: '', value }];
  };
  return { name, shape: 'scalar', summary: '', example: '', source: '', entries };
}

const variables = [variable('LONG', 'x'.repeat(1_000_000)), variable('SHORT', 'abc')];
const find = (name: string) => variables.find((one) => one.name === name);
const tx = new Transaction();

test.each([
  '',
  'literal',
  '%{LONG}',
  '%{SHORT}',
  'a %{SHORT} %{LONG} %{SHORT}',
  '%{SHORT}%{SHORT}',
])('the beginning of %j', (text) => {
  const macro = parseMacros(text, find);
  const whole = expandMacro(macro, tx);
  for (const bytes of [0, 1, 3, 5, 8, 2_048, 2_000_000]) {
    expect(expandMacroStart(macro, tx, bytes)).toBe(whole.slice(0, bytes));
  }
});

test('what begins after the bound is not read', () => {
  read.length = 0;
  expandMacroStart(parseMacros('%{LONG} %{SHORT}', find), tx, 2_048);
  expect(read).toEqual(['LONG']);
});

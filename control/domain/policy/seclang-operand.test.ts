/** Proof that SecLang reads back the value that was written. */

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseSecLang } from '../../../engine/rules/language/parse.ts';
import { writeOperand } from './seclang-operand.ts';

function readBack(operand: string): readonly unknown[] {
  const text = `SecRule ARGS "${operand}" "id:1,phase:2,deny"\n`;
  const { directives, diagnostics } = parseSecLang(text, 'rule');
  if (diagnostics.length > 0) return diagnostics;
  return directives.map((one) => (one.kind === 'SecRule' ? one.operator.argument.text : one.kind));
}

const words = fc.array(fc.constantFrom('\\', '"', "'", 'a', ' b', '%', '{', ',', '!', '@', '|'), {
  minLength: 1,
  maxLength: 12,
});

test('every backslash and quote comes back', () => {
  fc.assert(
    fc.property(words, (parts) => {
      const value = `x${parts.join('')}x`.replaceAll('%{', '% {');
      expect(readBack(writeOperand('contains', value, 'value'))).toEqual([value]);
    }),
  );
});

test.each([
  ['a backslash at the end', 'C:\\'],
  ['two of them', 'a\\\\'],
  ['one before a quote', 'a\\"b'],
  ['an escape of a pattern', '\\\\u0027|\\d+'],
])('%s', (_name, value) => {
  expect(readBack(writeOperand('contains', value, 'value'))).toEqual([value]);
});

test('an opening of a macro is written as a pattern', () => {
  expect(writeOperand('beginsWith', '%{a}.', 'value')).toBe('@rx ^%\\x7ba\\}\\.');
  expect(() => writeOperand('pm', '%{a}', 'value')).toThrow('cannot compare with %{');
});

/** The operator `verifyCPF`: Brazilian taxpayer numbers by their two check digits. */

import { bindNumberSearch, digitsOf } from './number-search.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches when a text found by the pattern is a valid CPF number. */
export const verifyCPF: OperatorDefinition = {
  name: 'verifyCPF',
  summary: 'Matches when a text found by the pattern is a valid Brazilian CPF number.',
  example: 'SecRule ARGS "@verifyCPF ([0-9]{3}\\.){2}[0-9]{3}-[0-9]{2}" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, verifyCPF',
  argument: 'required',
  captures: true,
  bind: (argument, context) => bindNumberSearch(verifyCPF, argument, context, isCpf),
};

function isCpf(candidate: string): boolean {
  const digits = digitsOf(candidate);
  if (digits.length !== 11) return false;
  if (digits.every((digit) => digit === digits[0])) return false;
  if (digits.join('') === '01234567890') return false;
  return checkDigit(digits, 9) === digits[9] && checkDigit(digits, 10) === digits[10];
}

/** Check digit over the first `count` digits with the weights count+1 .. 2. */
function checkDigit(digits: readonly number[], count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += (digits[i] ?? 0) * (count + 1 - i);
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
}

/** Owns the operator `verifySVNR`: Austrian social insurance numbers by their check digit. */

import { bindNumberSearch, digitsOf } from './number-search.ts';
import type { OperatorDefinition } from '../types.ts';

const weights = [3, 7, 9, 0, 5, 8, 4, 2, 1, 6] as const;

/** Matches when a text found by the pattern is a valid Austrian social insurance number. */
export const verifySVNR: OperatorDefinition = {
  name: 'verifySVNR',
  summary: 'Matches when a text found by the pattern is a valid Austrian insurance number.',
  example: 'SecRule ARGS "@verifySVNR ([0-9]{4} ?[0-9]{6})" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, verifySVNR',
  argument: 'required',
  bind: (argument, context) => bindNumberSearch(verifySVNR, argument, context, isSvnr),
};

function isSvnr(candidate: string): boolean {
  const digits = digitsOf(candidate);
  if (digits.length !== weights.length) return false;
  if (digits.every((digit) => digit === digits[0])) return false;
  const sum = digits.reduce((total, digit, i) => total + digit * (weights[i] ?? 0), 0);
  return sum % 11 === digits[3];
}

/** The operator `verifySVNR`: Austrian social insurance numbers by their check digit. */

import { bindNumberSearch, digitsOf } from './number-search.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Numbers that people type who do not want to give theirs. */
const placeholders: ReadonlySet<string> = new Set(['0123456789', '1234567890']);

const weights = [3, 7, 9, 0, 5, 8, 4, 2, 1, 6] as const;

/** Matches when a text found by the pattern is a valid Austrian social insurance number. */
export const verifySVNR: OperatorDefinition = {
  name: 'verifySVNR',
  summary: 'Matches when a text found by the pattern is a valid Austrian insurance number.',
  example: 'SecRule ARGS "@verifySVNR ([0-9]{4} ?[0-9]{6})" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, verifySVNR',
  argument: 'required',
  captures: true,
  bind: (argument, context) => bindNumberSearch(verifySVNR, argument, context, isSvnr),
};

function isSvnr(candidate: string): boolean {
  const digits = digitsOf(candidate);
  if (digits.length !== weights.length) return false;
  if (digits.every((digit) => digit === digits[0])) return false;
  if (placeholders.has(digits.join(''))) return false;
  const sum = digits.reduce((total, digit, i) => total + digit * (weights[i] ?? 0), 0);
  // A rest of 10 makes the check digit 0, as ModSecurity 3 has it.
  return (sum % 11) % 10 === digits[3];
}

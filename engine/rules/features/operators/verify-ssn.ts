/** The operator `verifySSN`: US social security numbers by the ranges that were given out. */

import { bindNumberSearch, digitsOf } from './number-search.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches when a text found by the pattern is a possible US social security number. */
export const verifySSN: OperatorDefinition = {
  name: 'verifySSN',
  summary: 'Matches when a text found by the pattern is a possible US social security number.',
  example: 'SecRule ARGS "@verifySSN \\d{3}-?\\d{2}-?\\d{4}" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, verifySSN',
  argument: 'required',
  captures: true,
  bind: (argument, context) => bindNumberSearch(verifySSN, argument, context, isSsn),
};

/** No runs (123456789) or repetitions; area 1..739 but 666; group and serial not zero. */
function isSsn(candidate: string): boolean {
  const digits = digitsOf(candidate);
  if (digits.length !== 9) return false;
  const rest = digits.slice(1);
  if (rest.every((digit, i) => digit === digits[i])) return false;
  if (rest.every((digit, i) => digit === (digits[i] ?? 0) + 1)) return false;
  const text = digits.join('');
  const area = Number(text.slice(0, 3));
  const group = Number(text.slice(3, 5));
  const serial = Number(text.slice(5));
  return area > 0 && area < 740 && area !== 666 && group > 0 && serial > 0;
}

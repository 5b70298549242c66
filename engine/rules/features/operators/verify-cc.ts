/** The operator `verifyCC`: payment card numbers by the Luhn checksum. */

import { bindNumberSearch, digitsOf } from './number-search.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches when a text found by the pattern passes the Luhn check. */
export const verifyCC: OperatorDefinition = {
  name: 'verifyCC',
  summary: 'Matches when a text found by the pattern passes the Luhn check of card numbers.',
  example: 'SecRule ARGS "@verifyCC \\d{13,16}" "id:1,sanitiseMatched"',
  source: 'ModSecurity Reference Manual, Operators, verifyCC; ISO/IEC 7812-1 annex B',
  argument: 'required',
  captures: true,
  bind: (argument, context) => bindNumberSearch(verifyCC, argument, context, passesLuhn),
};

function passesLuhn(candidate: string): boolean {
  const digits = digitsOf(candidate);
  if (digits.length === 0) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits[digits.length - 1 - i] ?? 0;
    const weighted = i % 2 === 1 ? 2 * digit : digit;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}

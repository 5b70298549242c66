/** The operator `containsWord`; comparison is by byte and minds the case. */

import { bindText, escapePattern, type TextComparison } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

const comparison: TextComparison = {
  matches: containsWholeWord,
  pattern: (text) => (text === '' ? null : escapePattern(text)),
  loose: true,
};

/** Matches when the argument occurs with no letter right before or after it. */
export const containsWord: OperatorDefinition = {
  name: 'containsWord',
  summary: 'Matches when the argument occurs with no letter right before or after it.',
  example: 'SecRule ARGS "@containsWord select" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, containsWord',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindText(containsWord, argument, context, comparison),
};

/** Only letters join a word here, as in ModSecurity 3; digits and `_` do not. */
function containsWholeWord(value: string, word: string): boolean {
  if (word === '' || value === word) return true;
  for (let at = value.indexOf(word); at !== -1; at = value.indexOf(word, at + 1)) {
    if (!isLetter(value, at - 1) && !isLetter(value, at + word.length)) return true;
  }
  return false;
}

function isLetter(value: string, at: number): boolean {
  const code = value.charCodeAt(at) | 0x20;
  return at >= 0 && at < value.length && code >= 0x61 && code <= 0x7a;
}

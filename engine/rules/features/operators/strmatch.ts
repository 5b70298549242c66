/** The operator `strmatch`; comparison is by byte and minds the case. */

import { bindText, escapePattern, type TextComparison } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

const comparison: TextComparison = {
  matches: (value, text) => value.includes(text),
  pattern: (text) => (text === '' ? null : escapePattern(text)),
};

/** Matches when the argument occurs in the value; older spelling of contains. */
export const strmatch: OperatorDefinition = {
  name: 'strmatch',
  summary: 'Matches when the argument occurs in the value; older spelling of contains.',
  example: 'SecRule REQUEST_HEADERS:User-Agent "@strmatch WebZIP" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, strmatch',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindText(strmatch, argument, context, comparison),
};

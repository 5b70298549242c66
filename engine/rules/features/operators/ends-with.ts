/** The operator `endsWith`; comparison is by byte and minds the case. */

import { bindText, escapePattern, type TextComparison } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

const comparison: TextComparison = {
  matches: (value, text) => value.endsWith(text),
  pattern: (text) => (text === '' ? null : `${escapePattern(text)}$`),
};

/** Matches when the value ends with the argument. */
export const endsWith: OperatorDefinition = {
  name: 'endsWith',
  summary: 'Matches when the value ends with the argument.',
  example: 'SecRule REQUEST_LINE "@endsWith HTTP/1.1" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, endsWith',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindText(endsWith, argument, context, comparison),
};

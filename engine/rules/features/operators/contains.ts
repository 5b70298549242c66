/** The operator `contains`; comparison is by byte and minds the case. */

import { bindText, escapePattern, type TextComparison } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

const comparison: TextComparison = {
  matches: (value, text) => value.includes(text),
  pattern: (text) => (text === '' ? null : escapePattern(text)),
};

/** Matches when the argument occurs in the value. */
export const contains: OperatorDefinition = {
  name: 'contains',
  summary: 'Matches when the argument occurs in the value.',
  example: 'SecRule REQUEST_LINE "@contains .php" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, contains',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindText(contains, argument, context, comparison),
};

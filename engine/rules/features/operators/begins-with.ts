/** The operator `beginsWith`; comparison is by byte and minds the case. */

import { bindText, escapePattern, type TextComparison } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

const comparison: TextComparison = {
  matches: (value, text) => value.startsWith(text),
  pattern: (text) => (text === '' ? null : `^${escapePattern(text)}`),
};

/** Matches when the value begins with the argument. */
export const beginsWith: OperatorDefinition = {
  name: 'beginsWith',
  summary: 'Matches when the value begins with the argument.',
  example: 'SecRule REQUEST_LINE "@beginsWith GET" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, beginsWith',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindText(beginsWith, argument, context, comparison),
};

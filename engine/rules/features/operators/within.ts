/** The operator `within`; comparison is by byte and minds the case. */

import { bindText, type TextComparison } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

const comparison: TextComparison = {
  matches: (value, text) => text.includes(value),
  prefilter: (text) => ({ kind: 'within', text, prefix: '', suffix: '' }),
};

/** Matches when the value occurs in the argument. */
export const within: OperatorDefinition = {
  name: 'within',
  summary: 'Matches when the value occurs in the argument.',
  example: 'SecRule REQUEST_METHOD "!@within GET POST HEAD" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, within',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindText(within, argument, context, comparison),
};

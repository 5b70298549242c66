/** The operator `streq`; comparison is by byte and minds the case. */

import { bindText, escapePattern, type TextComparison } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

const comparison: TextComparison = {
  matches: (value, text) => value === text,
  pattern: (text) => `^${escapePattern(text)}$`,
};

/** Matches when the value equals the argument. */
export const streq: OperatorDefinition = {
  name: 'streq',
  summary: 'Matches when the value equals the argument.',
  example: 'SecRule ARGS:mode "@streq debug" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, streq',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindText(streq, argument, context, comparison),
};

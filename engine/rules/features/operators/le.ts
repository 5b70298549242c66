/** The operator `le`; both sides are read as integers the way C's atoll does. */

import { bindNumber } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches when the value as a number is less than or equal to the argument. */
export const le: OperatorDefinition = {
  name: 'le',
  summary: 'Matches when the value as a number is less than or equal to the argument.',
  example: 'SecRule &ARGS "@le 5" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, le',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindNumber(le, argument, context, 'le'),
};

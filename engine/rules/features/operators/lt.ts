/** The operator `lt`; both sides are read as integers the way C's atoll does. */

import { bindNumber } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches when the value as a number is less than the argument. */
export const lt: OperatorDefinition = {
  name: 'lt',
  summary: 'Matches when the value as a number is less than the argument.',
  example: 'SecRule &ARGS "@lt 5" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, lt',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindNumber(lt, argument, context, 'lt'),
};

/** The operator `ge`; both sides are read as integers the way C's atoll does. */

import { bindNumber } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches when the value as a number is greater than or equal to the argument. */
export const ge: OperatorDefinition = {
  name: 'ge',
  summary: 'Matches when the value as a number is greater than or equal to the argument.',
  example: 'SecRule &ARGS "@ge 5" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, ge',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindNumber(ge, argument, context, 'ge'),
};

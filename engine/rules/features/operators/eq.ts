/** The operator `eq`; both sides are read as integers the way C's atoll does. */

import { bindNumber } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches when the value as a number equals the argument. */
export const eq: OperatorDefinition = {
  name: 'eq',
  summary: 'Matches when the value as a number equals the argument.',
  example: 'SecRule &ARGS "@eq 5" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, eq',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindNumber(eq, argument, context, 'eq'),
};

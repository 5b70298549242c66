/** The operator `gt`; both sides are read as integers the way C's atoll does. */

import { bindNumber } from './operator-common.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches when the value as a number is greater than the argument. */
export const gt: OperatorDefinition = {
  name: 'gt',
  summary: 'Matches when the value as a number is greater than the argument.',
  example: 'SecRule &ARGS "@gt 5" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, gt',
  argument: 'optional',
  pure: true,
  bind: (argument, context) => bindNumber(gt, argument, context, 'gt'),
};

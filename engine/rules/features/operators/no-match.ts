/** The operator `noMatch`. */

import type { OperatorDefinition } from '../../transaction/types.ts';

/** Never matches. */
export const noMatch: OperatorDefinition = {
  name: 'noMatch',
  summary: 'Never matches.',
  example: 'SecRule REMOTE_ADDR "@noMatch" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, noMatch',
  argument: 'optional',
  pure: true,
  bind: (argument) => ({ definition: noMatch, argument, evaluate: () => false }),
};

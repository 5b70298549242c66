/** The operator `unconditionalMatch`. */

import type { OperatorDefinition } from '../../transaction/types.ts';

/** Always matches. */
export const unconditionalMatch: OperatorDefinition = {
  name: 'unconditionalMatch',
  summary: 'Always matches.',
  example: 'SecRule REMOTE_ADDR "@unconditionalMatch" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, unconditionalMatch',
  argument: 'optional',
  pure: true,
  bind: (argument) => ({ definition: unconditionalMatch, argument, evaluate: () => true }),
};

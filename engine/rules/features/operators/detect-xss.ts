/** The operator `detectXSS`: libinjection's HTML tokeniser and its lists. */

import { detectXss } from '../../../match/injection.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches what libinjection takes for script injection; captures the value. */
export const detectXSS: OperatorDefinition = {
  name: 'detectXSS',
  summary: 'Matches what libinjection takes for script injection; TX.0 is the value.',
  example: 'SecRule ARGS "@detectXSS" "id:1,capture"',
  source: 'ModSecurity Reference Manual, Operators, detectXSS; libinjection 3.9',
  argument: 'none',
  captures: true,
  bind: (argument) => ({
    definition: detectXSS,
    argument,
    prefilter: { kind: 'xss' },
    evaluate: (value, _tx, captures) => {
      if (!detectXss(value)) return false;
      captures?.push(value);
      return true;
    },
  }),
};

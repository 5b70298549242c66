/** The operator `detectSQLi`: libinjection's tokeniser and its fingerprints. */

import { detectSqli } from '../../../match/injection.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches what libinjection takes for SQL injection; captures the fingerprint. */
export const detectSQLi: OperatorDefinition = {
  name: 'detectSQLi',
  summary: 'Matches what libinjection takes for SQL injection; TX.0 is the fingerprint.',
  example: 'SecRule ARGS "@detectSQLi" "id:1,capture"',
  source: 'ModSecurity Reference Manual, Operators, detectSQLi; libinjection 3.9',
  argument: 'none',
  captures: true,
  bind: (argument) => ({
    definition: detectSQLi,
    argument,
    prefilter: { kind: 'sqli' },
    evaluate: (value, _tx, captures) => {
      const fingerprint = detectSqli(value);
      if (fingerprint === null) return false;
      captures?.push(fingerprint);
      return true;
    },
  }),
};

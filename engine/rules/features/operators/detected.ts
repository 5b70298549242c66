/** The operator `detected`. */

import type { OperatorDefinition } from '../../transaction/types.ts';

/** Stands for a detector: it is asked after the rules of phase 2, and never as a rule. */
export const detected: OperatorDefinition = {
  name: 'detected',
  summary: 'Matches where the detector of this rule found something; only for rules of detectors.',
  example: 'SecRule ARGS "@detected" "id:198100,phase:2,pass"',
  source: 'own; ModSecurity has no detectors',
  argument: 'optional',
  bind: (argument) => ({ definition: detected, argument, evaluate: () => false }),
};

/** The variables that tell about the engine itself. */

import type { VariableDefinition } from '../../transaction/types.ts';
import { scalar } from './define.ts';

/** Number of the ModSecurity version whose behavior rules may count on: 03, minor, patch, type. */
const modsecBuild = '030015100';

/** What the engine is, and where its limits were reached. */
export const engineVariables: readonly VariableDefinition[] = [
  scalar(
    {
      name: 'MODSEC_BUILD',
      summary: 'Version of ModSecurity that this engine follows.',
      example: 'SecRule MODSEC_BUILD "!@ge 030000000"',
    },
    () => modsecBuild,
  ),
  scalar(
    {
      name: 'MSC_PCRE_LIMITS_EXCEEDED',
      aliases: ['MSC_PCRE_ERROR'],
      summary: '1 when a pattern ran into a match limit.',
      example: 'SecRule MSC_PCRE_LIMITS_EXCEEDED "@eq 1"',
    },
    (tx) => tx.pcreLimitsExceeded,
  ),
  scalar(
    {
      name: 'INSPECTION_LIMIT_ERROR',
      summary: '1 when the request reached a limit on what is inspected.',
      example: 'SecRule INSPECTION_LIMIT_ERROR "@eq 1"',
      source: 'own; modeled on REQBODY_ERROR',
    },
    (tx) => (tx.limitsReached.length === 0 ? 0 : 1),
  ),
  scalar(
    {
      name: 'INSPECTION_LIMIT_ERROR_MSG',
      summary: 'Names of the limits that the request reached, separated by commas.',
      example: "logdata:'%{INSPECTION_LIMIT_ERROR_MSG}'",
      source: 'own; modeled on REQBODY_ERROR_MSG',
    },
    (tx) => tx.limitsReached.join(','),
  ),
];

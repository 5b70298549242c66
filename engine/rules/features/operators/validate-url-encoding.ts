/** The operator `validateUrlEncoding`: matches values with a broken %XX sequence. */

import type { OperatorDefinition } from '../../transaction/types.ts';

const brokenSequence = /%(?![0-9A-Fa-f]{2})/;

/** Matches when a percent sign is not followed by two hex digits. */
export const validateUrlEncoding: OperatorDefinition = {
  name: 'validateUrlEncoding',
  summary: 'Matches when a percent sign is not followed by two hex digits.',
  example: 'SecRule REQUEST_URI_RAW "@validateUrlEncoding" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, validateUrlEncoding',
  argument: 'none',
  bind: (argument) => ({
    definition: validateUrlEncoding,
    argument,
    prefilter: { kind: 'urlEncoding' },
    evaluate: (value) => brokenSequence.test(value),
  }),
};

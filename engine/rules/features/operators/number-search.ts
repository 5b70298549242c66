/**
 * The search that the verify operators share: find numbers by a pattern, check each one.
 * Holds no checksum.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../../base/rule-limits.ts';
import { compileExact } from '../../../match/regex.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type {
  BindContext,
  BindFailure,
  BoundOperator,
  OperatorDefinition,
} from '../../transaction/types.ts';

/**
 * Binds an operator that matches when a text found by the pattern passes `verify`.
 * Limits: at most `verifyCandidatesMax` candidates of one value are tried.
 */
export function bindNumberSearch(
  definition: OperatorDefinition,
  argument: ByteString,
  context: BindContext,
  verify: (candidate: ByteString) => boolean,
): BoundOperator | BindFailure {
  let regex;
  try {
    regex = compileExact(argument, {}, { matchLimit: context.pcreMatchLimit });
  } catch {
    return { failure: 'the argument is not a valid regular expression' };
  }
  const found = regex;
  return {
    definition,
    argument,
    prefilter: { kind: 'pattern', pattern: argument, caseless: false, loose: true },
    evaluate: (value, tx, captures) => {
      let from = 0;
      for (let tries = 0; tries < ruleRunLimits.verifyCandidatesMax; tries++) {
        const whole = found.exec(value, from)?.[0];
        if (!whole) return false;
        const candidate = value.slice(whole.start, whole.end);
        if (verify(candidate)) {
          captures?.push(candidate);
          return true;
        }
        from = whole.start + 1;
        if (from >= value.length) return false;
      }
      reachLimit(tx, 'verify-candidates');
      return false;
    },
    close: () => found.close(),
  };
}

/** The decimal digits of a text, in order. */
export function digitsOf(text: ByteString): number[] {
  const digits: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit >= 0 && digit <= 9) digits.push(digit);
  }
  return digits;
}

/**
 * What operators share: arguments with macros, numbers as ModSecurity reads them, escaping for
 * prefilter patterns. Holds no operator.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { expandMacro } from '../../transaction/macro.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type {
  BindContext,
  BindFailure,
  BoundOperator,
  NumberRelation,
  OperatorDefinition,
  Prefilter,
} from '../../transaction/types.ts';

/** How a text operator compares; `text` is the argument after macros. */
export interface TextComparison {
  matches(value: ByteString, text: ByteString): boolean;
  /** Byte-mode pattern that matches wherever the operator does; null: none. */
  pattern?(text: ByteString): ByteString | null;
  /** True where the pattern matches more than the operator does. */
  readonly loose?: boolean;
  /** For operators that no pattern stands for. */
  prefilter?(text: ByteString): Prefilter;
}

/** Binds an operator whose argument is one text that may hold macros. */
export function bindText(
  definition: OperatorDefinition,
  argument: ByteString,
  context: BindContext,
  comparison: TextComparison,
): BoundOperator {
  const macro = context.parseMacros(argument);
  const { literal } = macro;
  if (literal === null) {
    const evaluate = (value: ByteString, tx: Transaction): boolean =>
      comparison.matches(value, expandMacro(macro, tx));
    const prefilterFor = (text: ByteString): Prefilter | null => prefilterOf(comparison, text);
    return { definition, argument, macro, prefilterFor, evaluate };
  }
  const bound: BoundOperator = {
    definition,
    argument,
    evaluate: (value) => comparison.matches(value, literal),
  };
  const prefilter = prefilterOf(comparison, literal);
  return prefilter === null ? bound : { ...bound, prefilter };
}

function prefilterOf(comparison: TextComparison, text: ByteString): Prefilter | null {
  if (comparison.prefilter) return comparison.prefilter(text);
  const pattern = comparison.pattern?.(text) ?? null;
  const { loose = false } = comparison;
  return pattern === null ? null : { kind: 'pattern', pattern, caseless: false, loose };
}

const comparisons: Readonly<
  Record<NumberRelation, (value: number | bigint, argument: number | bigint) => boolean>
> = {
  eq: (value, argument) => !(value < argument) && !(value > argument),
  ge: (value, argument) => value >= argument,
  gt: (value, argument) => value > argument,
  le: (value, argument) => value <= argument,
  lt: (value, argument) => value < argument,
};

/** Binds a numeric comparison. */
export function bindNumber(
  definition: OperatorDefinition,
  argument: ByteString,
  context: BindContext,
  relation: NumberRelation,
): BoundOperator {
  const compare = comparisons[relation];
  const prefilterFor = (text: ByteString): Prefilter => {
    return { kind: 'number', relation, operand: BigInt(readInteger(text)) };
  };
  const macro = context.parseMacros(argument);
  if (macro.literal === null) {
    return {
      definition,
      argument,
      macro,
      prefilterFor,
      evaluate: (value, tx) => compare(readInteger(value), readInteger(expandMacro(macro, tx))),
    };
  }
  const constant = readInteger(macro.literal);
  return {
    definition,
    argument,
    prefilter: prefilterFor(macro.literal),
    evaluate: (value) => compare(readInteger(value), constant),
  };
}

/** A definition that rules may name but that is refused when a rule uses it. */
export function refusedOperator(
  feature: Pick<OperatorDefinition, 'name' | 'aliases' | 'summary' | 'example' | 'source'>,
  failure: string,
): OperatorDefinition {
  return { ...feature, argument: 'optional', bind: (): BindFailure => ({ failure }) };
}

const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);
const integerPattern = /^[ \t\n\v\f\r]*([+-]?)0*([0-9]*)/;

/**
 * The leading integer of a text as C's atoll reads it: blanks, a sign, digits; else 0.
 * Limits: beyond 64 bits it stays at the largest or smallest number. Compare with < and > only.
 */
export function readInteger(text: ByteString): number | bigint {
  const short = readShort(text);
  if (short >= 0) return short;
  const match = integerPattern.exec(text);
  const digits = match?.[2] ?? '';
  if (digits === '') return 0;
  const negative = match?.[1] === '-';
  if (digits.length <= 15) return negative ? -Number(digits) : Number(digits);
  if (digits.length > 19) return negative ? int64Min : int64Max;
  const exact = negative ? -BigInt(digits) : BigInt(digits);
  if (exact > int64Max) return int64Max;
  return exact < int64Min ? int64Min : exact;
}

/** The number when the text is one to nine plain digits, as nearly all are; else -1. */
function readShort(text: ByteString): number {
  const { length } = text;
  if (length === 0 || length > 9) return -1;
  let value = 0;
  for (let i = 0; i < length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = 10 * value + digit;
  }
  return value;
}

/** The text as a byte-mode pattern that matches just these bytes. */
export function escapePattern(text: ByteString): ByteString {
  return text.replace(
    /[^A-Za-z0-9]/g,
    (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

/** Without ASCII blanks at both ends; 0xA0 is no blank here. */
export function trimBlanks(text: ByteString): ByteString {
  return text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '');
}

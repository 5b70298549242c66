/**
 * The step from the text of compiled checks to functions. The text is made by control from an API
 * document and comes in a signed bundle; nothing of a request is ever part of it.
 */

import { compileFunction } from 'node:vm';
import { AppError } from '../../base/errors.ts';
import { schemaLimits } from '../../base/schema-limits.ts';
import { textFormats } from '../../base/text-formats.ts';
import { numberReading } from './number-reading.ts';

/** One thing that a check found wrong. Never holds a value of the request. */
export interface ApiCheckError {
  /** JSON pointer into the schema. */
  readonly schemaPath: string;
  readonly keyword: string;
}

/** A compiled check: true where the value is valid; else `errors` has the first thing found. */
export interface ApiCheck {
  (value: unknown): boolean;
  errors?: readonly ApiCheckError[] | null;
}

/** A pattern that runs in linear time. */
export interface LinearPattern {
  test(text: string): boolean;
}

/** What the text of checks may use. */
interface CheckRuntime {
  readonly pattern: (source: string, flags: string) => LinearPattern;
  readonly formats: typeof textFormats;
  readonly length: (text: string) => number;
  readonly equal: (one: unknown, other: unknown) => boolean;
  readonly unique: (list: readonly unknown[]) => boolean;
  readonly multipleOf: (value: number, divisor: number) => boolean;
  /** Counts a call; every function of the text begins with it. Errors: AppError check_calls. */
  readonly enter: () => void;
}

/**
 * Evaluates the text of checks. `pattern` makes a matcher of RE2 syntax.
 * Errors: SyntaxError, or what `pattern` throws: the checks are not usable then.
 * Cost: once a thread and configuration.
 */
export function loadChecks(code: string, pattern: CheckRuntime['pattern']): readonly ApiCheck[] {
  if (code === '') return [];
  const formats = { ...textFormats, int64 };
  let calls = 0;
  const enter = (): void => {
    if (++calls > schemaLimits.callsPerCheckMax) {
      throw new AppError('check_calls', 'the check takes too many calls', { source: 'client' });
    }
  };
  const runtime = { pattern, formats, length: codePoints, equal, unique, multipleOf, enter };
  // The bundle's signature covers the text; it has no other way in.
  const make = compileFunction(code, ['runtime'], { filename: 'api-checks.js' }) as (
    runtime: CheckRuntime,
  ) => ApiCheck[];
  return make(runtime).map((check) => {
    const bounded: ApiCheck = (value) => {
      calls = 0;
      const valid = check(value);
      bounded.errors = check.errors ?? null;
      return valid;
    };
    return bounded;
  });
}

/** Length as JSON Schema counts it: a pair of surrogates is one character. */
function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(at + 1);
    if (next < 0xdc00 || next > 0xdfff) continue;
    count--;
    at++;
  }
  return count;
}

/** Equality of JSON values. Depth is bounded by that of the values. */
function equal(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  if (one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, at) => equal(item, other[at]));
  }
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(other, key) &&
      equal((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]),
  );
}

/** Whether no two items are equal. Cost: linear in the list. */
function unique(list: readonly unknown[]): boolean {
  if (list.length < 2) return true;
  const seen = new Set<unknown>();
  for (const item of list) {
    const scalar = typeof item !== 'object' || item === null;
    // Texts and keys of objects must not be mistaken for each other.
    seen.add(scalar ? (typeof item === 'string' ? `"${item}` : item) : sortedText(item));
  }
  return seen.size === list.length;
}

/** The same text for equal values. */
function sortedText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`;
  const keys = Object.keys(value).sort();
  const member = (key: string): string =>
    `${JSON.stringify(key)}:${sortedText((value as Record<string, unknown>)[key])}`;
  return `{${keys.map(member).join(',')}}`;
}

/** The last number of int64 lies between two doubles; the upper one is no number of it. */
const int64: (typeof textFormats)[string] = {
  type: 'number',
  validate: (value) => {
    const end = numberReading.above ? value <= 2 ** 63 : value < 2 ** 63;
    return Number.isInteger(value) && value >= -(2 ** 63) && end;
  },
};

/** Whether a value is a whole number of divisors, in decimal: 0.0075 is a multiple of 0.0001. */
function multipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value)) return false;
  // Both doubles beside a large odd number are even: what it is a multiple of is not known.
  if (numberReading.inexact && Number.isInteger(value)) return false;
  const [one, two] = [decimalOf(value), decimalOf(divisor)];
  const exponent = Math.min(one.exponent, two.exponent);
  const scaled = ({ digits, exponent: own }: Decimal): bigint =>
    digits * 10n ** BigInt(own - exponent);
  return scaled(one) % scaled(two) === 0n;
}

interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** The shortest decimal of a number. Exponents are at most some hundreds. */
function decimalOf(value: number): Decimal {
  const [mantissa = '0', power = '0'] = value.toExponential().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

/**
 * Numbers past double precision. A number that lies between two doubles is checked twice: as the
 * one below it and as the one above it; what both keep to, the number itself keeps to.
 */

import { numberReading } from '../base/number-reading.ts';

/** Shorter ones are read without loss. */
const exactCharsMax = 15;
/** Longer ones are read as no number. */
const textCharsMax = 800;

/** The number of a text that has the form of one; Infinity, which breaks all checks, for some. */
export function numberOf(text: string): number {
  const near = Number(text);
  if (text.length <= exactCharsMax || String(near) === text) return near;
  if (text.length > textCharsMax) return Infinity;
  const side = isWhole(text, near) ? compareWhole(text, near) : compare(text, near);
  if (side === 0 || !Number.isFinite(near)) return near;
  // No double there has a fraction, so that both sides would be whole numbers.
  const whole = digitsOf(text);
  if (Math.abs(near) >= 2 ** 53 && whole.digits.length > whole.exponent) return Infinity;
  numberReading.inexact = true;
  const { above } = numberReading;
  return side > 0 === above ? neighbor(near, above) : near;
}

/** A document in which numbers between two doubles are those of one side. */
export function onOneSide(json: string): string {
  if (!longNumber.test(json)) return json;
  return json.replace(tokens, (token) => {
    if (token.startsWith('"') || token.length <= exactCharsMax) return token;
    const number = numberOf(token);
    return Number.isFinite(number) ? String(number) : '1e999';
  });
}

const longNumber = /[0-9][0-9.eE+-]{15}/;
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?/gs;

interface Digits {
  readonly negative: boolean;
  /** Without zeros at either end; '' for zero. */
  readonly digits: string;
  /** Digits before the point, or minus the zeros after it. */
  readonly exponent: number;
}

const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:e([+-]?[0-9]+))?$/i;

function digitsOf(text: string): Digits {
  const [, minus = '', whole = '', fraction = '', power = '0'] = parts.exec(text) ?? [];
  const all = whole + fraction;
  let from = 0;
  let to = all.length;
  while (from < to && all.charCodeAt(from) === 0x30) from++;
  while (to > from && all.charCodeAt(to - 1) === 0x30) to--;
  const exponent = Number(power) + whole.length - from;
  return { negative: minus !== '', digits: all.slice(from, to), exponent };
}

/** Up to here whole numbers are compared as such: the range of int64 ends in one. */
const wholeMax = 2 ** 64;

function isWhole(text: string, near: number): boolean {
  return Math.abs(near) >= 2 ** 53 && Math.abs(near) <= wholeMax && /^-?[0-9]+$/.test(text);
}

function compareWhole(text: string, near: number): number {
  const [one, two] = [BigInt(text), BigInt(near)];
  return one === two ? 0 : one > two ? 1 : -1;
}

/** On which side of the shortest decimal of a double a text lies; 0 for none. */
function compare(text: string, near: number): number {
  const [one, two] = [digitsOf(text), digitsOf(near.toExponential())];
  const sign = one.negative ? -1 : 1;
  if (one.digits === '' || two.digits === '') return one.digits === two.digits ? 0 : sign;
  if (one.exponent !== two.exponent) return sign * Math.sign(one.exponent - two.exponent);
  if (one.digits === two.digits) return 0;
  return one.digits > two.digits ? sign : -sign;
}

const view = new DataView(new ArrayBuffer(8));

/** The next double above or below a finite one. */
function neighbor(value: number, above: boolean): number {
  if (value === 0) return above ? Number.MIN_VALUE : -Number.MIN_VALUE;
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 === above ? 1n : -1n));
  return view.getFloat64(0);
}

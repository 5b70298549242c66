/** Tests which tiers a scan group gets, and which values a mask of byte classes stands for. */

import { expect, test } from 'vitest';
import { byteClassOf, maskOfClasses } from '../../match/byte-class.ts';
import { SOURCE } from '../transaction/values.ts';
import { transformationIds } from '../../match/transform.ts';
import { maskWithin, narrowMasksOf } from './value-tiers.ts';

/** The classes of the value's bytes. */
function maskOfValue(value: string): number {
  return Array.from(value).reduce((mask, c) => mask | (1 << byteClassOf[c.charCodeAt(0)]!), 0);
}

const classOf = (source: number) => ({ rowPart: source * 2, key: null, patterns: [] });

/** The same with one pattern, for values that the transformation changed. */
function changedClassOf(source: number, transformation: keyof typeof transformationIds) {
  const filter = { kind: 'pattern', pattern: 'x', caseless: false } as const;
  const pattern = { targetId: 0, chain: `${transformationIds[transformation]}`, filter };
  return { ...classOf(source), patterns: [{ ...pattern, negated: false }] };
}

/** True where the narrowest tiers of the sources' group serve the value. */
function isServed(value: string, ...sources: readonly number[]): boolean {
  const mask = maskOfValue(value);
  return narrowMasksOf(sources.map(classOf)).some((allowed) => (mask & ~allowed) === 0);
}

test.each([
  ['requestLine', 'GET /shop?q=red HTTP/1.1'],
  ['requestUri', '/shop?q=red&page=2'],
  ['requestHeader', 'sid=12; theme=dark'],
  ['requestBody', 'name=a+b&city=c'],
] as const)('texts of names and values have a tier of their own: %s', (source, value) => {
  expect(isServed(value, SOURCE[source])).toBe(true);
  expect(isServed(`${value}'(`, SOURCE[source])).toBe(false);
  expect(isServed(value, SOURCE.argGet, SOURCE.requestCookie)).toBe(false);
});

test('decoded bytes have a tier of their own, but where they hold newlines', () => {
  const serves = (value: string, transformation: keyof typeof transformationIds): boolean => {
    const mask = maskOfValue(value);
    const masks = narrowMasksOf([changedClassOf(SOURCE.argGet, transformation)]);
    return masks.some((allowed) => (mask & ~allowed) === 0);
  };
  expect(serves('\0\x8f\xfe(`|', 'base64Decode')).toBe(true);
  expect(serves('\0\x8f\xfe(`|', 'lowercase')).toBe(false);
  expect(serves('\0\x8f\xfe(`|\n', 'base64Decode')).toBe(false);
});

test('no tier below the widest holds newlines, which part joined lines', () => {
  for (const source of Object.values(SOURCE)) {
    const classes = [classOf(source), changedClassOf(source, 'base64Decode')];
    for (const mask of classes.flatMap((one) => narrowMasksOf([one]))) {
      expect(mask & maskOfClasses('whitespace')).toBe(0);
    }
  }
});

test.each([
  ['1 to 255', (byte: number) => byte > 0],
  ['printable ASCII', (byte: number) => byte >= 32 && byte < 127],
  ['nothing', () => false],
])('bytes of the classes within a range are all in the range: %s', (_title, isAllowed) => {
  const allowed = new Uint8Array(32);
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  for (const byte of all) if (isAllowed(byte)) allowed[byte >> 3]! |= 1 << (byte & 7);
  const mask = maskWithin(allowed);
  const within = all.filter((byte) => (maskOfValue(String.fromCharCode(byte)) & ~mask) === 0);
  expect(within.filter((byte) => !isAllowed(byte))).toEqual([]);
  expect(within.length > 0).toBe(all.some(isAllowed));
});

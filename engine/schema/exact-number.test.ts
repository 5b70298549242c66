/** Proof that numbers past double precision are compared as what they are. */

import { afterEach, expect, test } from 'vitest';
import { viewOf } from '../../test/support/request-view.ts';
import { loadChecks, type ApiCheck } from '../base/check-code.ts';
import { BodyChecks } from './body-checks.ts';
import { operation, parameter } from './fixture.ts';
import { ParameterChecks } from './parameter-checks.ts';
import { checkBothSides, numberReading } from '../base/number-reading.ts';
import { numberOf, onOneSide } from './exact-number.ts';
import { readPlainJson } from './plain-json.ts';

afterEach(() => {
  numberReading.above = false;
  numberReading.inexact = false;
});

function sides(text: string): [below: number, above: number] {
  numberReading.above = false;
  const below = numberOf(text);
  numberReading.above = true;
  return [below, numberOf(text)];
}

const json = { range: 'application/json', kind: 'json', check: 0, pointer: '/json' } as const;
const past = Number.MAX_SAFE_INTEGER + 1;

test.each([
  ['42', 42, 42],
  ['9007199254740993', past, past + 2],
  ['-9007199254740993', -past - 2, -past],
  ['9007199254740992', past, past],
  ['9223372036854775807', 2 ** 63 - 1024, 2 ** 63],
  ['9223372036854775808', 2 ** 63, 2 ** 63],
  ['9223372036854775809', 2 ** 63, 2 ** 63 + 2048],
  ['-9223372036854775808', -(2 ** 63), -(2 ** 63)],
  ['-9223372036854775809', -(2 ** 63) - 2048, -(2 ** 63)],
  ['100.00000000000000001', 100, 100.00000000000001],
  ['99.99999999999999999999', 99.99999999999999, 100],
  ['-100.00000000000000001', -100.00000000000001, -100],
  ['0.30000000000000004', 0.30000000000000004, 0.30000000000000004],
  ['0.10000000000000000', 0.1, 0.1],
  ['1.00000000000000000e2', 100, 100],
  ['0.00000000000000000001e-400', 0, Number.MIN_VALUE],
  ['9007199254740992.5', Infinity, Infinity],
  [`1${'0'.repeat(900)}`, Infinity, Infinity],
  ['1e400', Infinity, Infinity],
  ['-1e400', -Infinity, -Infinity],
  ['-0', -0, -0],
  ['-0.00000000000000000', -0, -0],
  ['0.3000000000000000444', 0.30000000000000004, 0.3000000000000001],
])('%s lies from %s to %s', (text, below, above) => {
  expect(sides(text)).toEqual([below, above]);
});

test('a document is read on one side, its texts as they are', () => {
  const text = '{"100.00000000000000001":"100.00000000000000001","a":[100.00000000000000001, 7]}';
  expect(readPlainJson(Buffer.from(text))).toEqual({
    value: { '100.00000000000000001': '100.00000000000000001', a: [100, 7] },
  });
  expect(numberReading.inexact).toBe(true);
  numberReading.above = true;
  expect(readPlainJson(Buffer.from(text))).toMatchObject({ value: { a: [100.00000000000001, 7] } });
  expect(onOneSide('{"a":"\\"1234567890123456789"}')).toBe('{"a":"\\"1234567890123456789"}');
});

const atMost =
  (bound: number): ApiCheck =>
  (value) =>
    Number.isInteger(value) && (value as number) <= bound;
const spec = operation('GET', '/a/{n}', {
  parameters: (['path', 'query', 'header', 'cookie'] as const).map((place) =>
    parameter(place, 'n', { shape: { kind: 'scalar', types: ['number'] }, check: 0 }),
  ),
});

test.each([
  ['9007199254740992', null],
  ['9007199254740993', 'violation'],
  ['9007199254740991', null],
  ['9007199254740992.00000000001', 'violation'],
  ['-9007199254740993', null],
])('%s at most 2^53 in every place of a request: %s', (text, expected) => {
  expect(inEveryPlace(text, atMost(past))).toEqual([
    expected,
    expected,
    expected,
    expected,
    expected,
  ]);
});

const int64 = loadChecks('return [(value) => runtime.formats.int64.validate(value)];', () => {
  throw new Error('it has no pattern');
})[0]!;

test.each([
  ['9223372036854775807', null],
  ['9223372036854775808', 'violation'],
  ['9223372036854775809', 'violation'],
  ['-9223372036854775808', null],
  ['-9223372036854775809', 'violation'],
  ['9223372036854775807.5', 'violation'],
])('%s as int64 in every place of a request: %s', (text, expected) => {
  expect(inEveryPlace(text, int64)).toEqual([expected, expected, expected, expected, expected]);
});

function inEveryPlace(text: string, check: ApiCheck): (string | null)[] {
  const checks = new ParameterChecks(spec, () => check);
  const view = viewOf({ fields: [`n: ${text}`, `Cookie: n=${text}`] });
  const body = new BodyChecks({ required: true, media: [json], pointer: '' }, () => check);
  return [
    checks.checkPath([text]),
    checks.checkQuery(`n=${text}`),
    checks.checkHeader(view),
    checks.checkCookie(view),
    checkJson(body, text),
  ].map((found) => (found === null ? null : 'violation'));
}

function checkJson(checks: BodyChecks, text: string): unknown {
  const fields = ['Content-Type: application/json', `Content-Length: ${text.length}`];
  const head = checks.checkHead(viewOf({ method: 'POST', fields }), true);
  if (head === null || !('media' in head)) throw new Error('the body is not looked at');
  return checks.checkContent(head, Buffer.from(text));
}

test('a short fraction of a large number is not lost', () => {
  const read = readPlainJson(Buffer.from('1234567890123456.01'));
  expect(read).toEqual({ value: 1234567890123456 });
  expect(numberReading.inexact).toBe(true);
});

test('both sides are checked, and nothing is left for the next check, after an error either', () => {
  const seen: number[] = [];
  const note = (): null => {
    seen.push(numberOf('9007199254740993'));
    return null;
  };
  expect(checkBothSides(note)).toBe(null);
  expect(seen).toEqual([past, past + 2]);
  const failing = (): null => {
    note();
    if (numberReading.above) throw new Error('the check failed');
    return null;
  };
  expect(() => checkBothSides(failing)).toThrow('the check failed');
  expect(numberReading).toEqual({ above: false, inexact: false });
});

test('sixty kilobytes of them are read in time', () => {
  const numbers = Array.from({ length: 3_000 }, (_, at) => `100.000000000000000${1_000 + at}`);
  const text = `[${numbers.join(', ')}]`;
  const before = process.cpuUsage();
  expect(readPlainJson(Buffer.from(text))).toHaveProperty('value');
  expect(process.cpuUsage(before).user).toBeLessThan(200_000);
});

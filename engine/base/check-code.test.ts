/** Tests of loading checks, and the formats that checks use. */

import { describe, expect, test } from 'vitest';
import { loadChecks } from './check-code.ts';
import { textFormats } from '../../base/text-formats.ts';

const pattern = (source: string): RegExp => new RegExp(source, 'u');

describe('the text of checks', () => {
  test('becomes functions over the runtime', () => {
    const code = `'use strict'; const short = (v) => runtime.length(v) <= 1;
      return [short, (v) => runtime.equal(v, {a: [1]}), (v) => runtime.pattern('^a$').test(v)];`;
    const [short, same, matches] = loadChecks(code, pattern);
    expect([short?.('😀'), short?.('ab'), same?.({ a: [1] }), same?.({ a: [2] })]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect([matches?.('a'), matches?.('b')]).toEqual([true, false]);
  });

  test.each([
    [0.0075, 0.0001, true],
    [0.3, 0.1, true],
    [19.99, 0.01, true],
    [1e300, 7, false],
    [0.00751, 0.0001, false],
    [1.5, 1, false],
    [12, 4, true],
    [13, 4, false],
  ])('%d is a multiple of %d in decimal: %s', (value, divisor, expected) => {
    const code = `'use strict'; return [(v) => runtime.multipleOf(v, ${divisor})];`;
    expect(loadChecks(code, pattern)[0]?.(value)).toBe(expected);
  });

  test('an empty text has no checks, a broken one fails', () => {
    expect(loadChecks('', pattern)).toEqual([]);
    expect(() => loadChecks('return [', pattern)).toThrow(SyntaxError);
  });
});

const rows: readonly (readonly [format: string, valid: readonly string[], invalid: string[]])[] = [
  ['date', ['2024-02-29', '1998-12-31'], ['2023-02-29', '2024-13-01', '2024-1-01', '0000-00-00']],
  [
    'time',
    ['08:30:06.283185Z', '23:59:60Z', '15:59:60-08:00'],
    ['08:30:06', '22:59:60Z', '24:00:00Z'],
  ],
  ['date-time', ['1963-06-19T08:30:06Z'], ['1963-06-19 08:30:06Z', '1990-02-31T15:59:59Z']],
  ['duration', ['P4DT12H30M5S', 'P2W', 'PT36H'], ['P', 'PT', 'P1D2H', 'P1YT', 'P1Y2W', '1D']],
  [
    'email',
    ['joe.bloggs@example.com', '"joe b"@example.com', 'a@[127.0.0.1]'],
    ['a', '.a@b.c', 'a@b..c', '@b'],
  ],
  ['hostname', ['www.example.com', 'xn--nxasmq6b'], ['-a.b', 'a_b', '', 'a..b', 'aa--b']],
  ['ipv4', ['192.168.0.1'], ['256.1.1.1', '1.2.3', '01.2.3.4']],
  ['ipv6', ['::1', '::ffff:1.2.3.4'], ['12345::', 'fe80::a%eth1', ':']],
  [
    'uri',
    ['http://a.b/?q=%20#f', 'urn:x:y', 'ldap://[2001:db8::7]/c'],
    ['//a', 'a b:', 'http://a.b/<>', 'http://%zz/'],
  ],
  ['uri-reference', ['/abc', '#f', '', 'a?b'], ['\\\\WINDOWS', '#fr\\agment', '1a:b']],
  ['uuid', ['2EB8AA08-AA98-11EA-B4AA-73B441D16380'], ['2eb8aa08-aa98-11ea-b4aa-73b441d1638', '']],
  ['json-pointer', ['', '/foo/0', '/a~1b'], ['foo', '/a~2', '#/a']],
  ['relative-json-pointer', ['1', '0#', '1/a'], ['/a', '-1/a', '01/a', '0##']],
  ['byte', ['', 'YQ==', 'YWJj'], ['YQ=', 'Y Q==', 'YQ']],
];

describe.each(rows)('format %s', (format, valid, invalid) => {
  const check = textFormats[format] as (text: string) => boolean;
  test.each(valid)('takes %j', (text) => expect(check(text)).toBe(true));
  test.each(invalid)('refuses %j', (text) => expect(check(text)).toBe(false));
});

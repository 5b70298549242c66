/** Tables and properties of the operators that the unit tables do not reach. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../../base/clock.ts';
import { parseMacros } from '../../transaction/macro.ts';
import { Transaction } from '../../transaction/transaction.ts';
import type { BindContext, BoundOperator } from '../../transaction/types.ts';
import { findVariable } from '../variables/list.ts';
import { operators } from './list.ts';
import { escapePattern, readInteger } from './operator-common.ts';
import { parseLines, parseWords } from './pm.ts';
import { matchesNetwork, parseAddress, parseNetwork } from './ip-address.ts';
import { WordSearch } from './word-search.ts';
import { BoundedCache } from './bounded-cache.ts';
import { compileExact } from '../../../match/regex.ts';

const context: BindContext = {
  file: 'test.conf',
  pcreMatchLimit: 1000,
  known: false,
  findVariable,
  parseMacros: (text) => parseMacros(text, findVariable),
  readDataFile: (name) => (name === 'words.data' ? '# comment\n\nfoo bar\r\nbaz\n' : null),
};

function bareTransaction(): Transaction {
  const tx = new Transaction();
  tx.ports = {
    clock: systemClock,
    collections: null,
    geo: { find: (ip) => (ip === '192.0.2.1' ? new Map([['COUNTRY_CODE', 'DE']]) : null) },
    rbl: { listed: (ip, zone) => ip === '192.0.2.1' && zone === 'rbl.example.org' },
    env: new Map(),
  };
  return tx;
}

/** Throws when an operator looks at anything but the count of limits that patterns ran into. */
function closedTransaction(): Transaction {
  return new Proxy(bareTransaction(), {
    get: (target, name) => {
      if (name === 'pcreLimitsExceeded') return target.pcreLimitsExceeded;
      throw new Error(`not pure: reads ${String(name)}`);
    },
  });
}

function bind(name: string, argument: string): BoundOperator {
  const definition = operators.find((operator) => operator.name === name);
  const bound = definition?.bind(argument, context);
  if (!bound || 'failure' in bound) throw new Error(`${name} does not bind`);
  return bound;
}

function failureOf(name: string, argument: string): string {
  const bound = operators.find((operator) => operator.name === name)?.bind(argument, context);
  return bound && 'failure' in bound ? bound.failure : '';
}

describe('matches', () => {
  const table: [string, string, string, boolean, string[]][] = [
    ['rx', 'a(b)?(c)', 'xac', true, ['ac', '', 'c']],
    ['rx', 'a(b)?', 'xa', true, ['a']],
    ['rx', 'a.b', 'a\nb', true, ['a\nb']],
    ['rx', 'a$', 'a\n', false, []],
    ['rx', '^b', 'a\nb', false, []],
    ['rx', '(?i)SELECT', 'select', true, ['select']],
    ['rx', '\xe9', '\xc9', false, []],
    ['rxGlobal', '(\\d)', '1a2', true, ['1', '1', '2', '2']],
    ['pm', 'Foo BAR', 'xxbArxx', true, ['BAR']],
    ['pm', '|41 42|c "', 'abC', true, ['ABc']],
    ['pm', 'he she hers', 'ushers', true, ['she']],
    ['pmFromFile', 'words.data', 'a FOO BAR', true, ['foo bar']],
    ['pmFromFile', 'words.data', 'foo', false, []],
    ['contains', '', '', true, []],
    ['beginsWith', 'ab', 'abc', true, []],
    ['endsWith', 'bc', 'abc', true, []],
    ['within', 'GET POST', 'POST', true, []],
    ['streq', 'a', 'A', false, []],
    ['containsWord', 'or', 'x or y', true, []],
    ['containsWord', 'or', 'for', false, []],
    ['containsWord', 'or', '1or2', true, []],
    ['eq', '5', ' 5x', true, []],
    ['ge', '9223372036854775807', '9223372036854775806', false, []],
    ['lt', '0', '-1', true, []],
    ['ipMatch', '10.0.0.0/8, 2001:db8::/32', '::ffff:10.1.2.3', true, []],
    ['ipMatch', '0.0.0.0/0', '::1', false, []],
    ['ipMatch', '10.0.0.1', '10.0.0.01x', false, []],
    ['geoLookup', '', '192.0.2.1', true, []],
    ['geoLookup', '', '192.0.2.2', false, []],
    ['rbl', 'rbl.example.org', '192.0.2.1', true, ['192.0.2.1']],
    ['validateByteRange', '32-126,10', 'a\n', false, []],
    ['validateByteRange', '32-126', 'a\n', true, []],
    ['validateUrlEncoding', '', '%4g', true, []],
    ['validateUtf8Encoding', '', '\xc0\xaf', true, []],
    ['validateUtf8Encoding', '', '\xed\xa0\x80', true, []],
    ['validateUtf8Encoding', '', '\xc3\xa9', false, []],
    ['verifyCC', '\\d{13,16}', 'card 4111111111111111.', true, ['4111111111111111']],
    ['verifyCC', '\\b\\d{16}\\b', 'card 4111111111111112', false, []],
    ['noMatch', '', 'x', false, []],
    ['unconditionalMatch', '', '', true, []],
  ];
  test.each(table)('@%s %s on %j', (name, argument, value, matched, captured) => {
    const captures: string[] = [];
    expect(bind(name, argument).evaluate(value, bareTransaction(), captures)).toBe(matched);
    expect(captures).toEqual(captured);
  });
  test.each(table)('what the definition of @%s says of itself: %s on %j', (...row) => {
    const [name, argument, value, matched, captured] = row;
    const bound = bind(name, argument);
    const { captures = false, pure = false } = bound.definition;
    expect(captures && matched && captured.length === 0).toBe(false);
    const answer = pure ? bound.evaluate(value, closedTransaction(), null) : matched;
    expect(answer).toBe(matched);
  });

  test('geoLookup keeps what it found', () => {
    const tx = bareTransaction();
    bind('geoLookup', '').evaluate('192.0.2.1', tx, null);
    expect(tx.geo?.get('COUNTRY_CODE')).toBe('DE');
  });

  test('macros are expanded at run time', () => {
    const tx = bareTransaction();
    for (const [name, value] of [
      ['streq', 'b'],
      ['rx', 'a|b'],
      ['eq', '2'],
    ] as const) {
      const operator = bind(name, '%{tx.want}');
      expect(operator.prefilter).toBeUndefined();
      tx.tx.set('want', value);
      expect(operator.evaluate(name === 'eq' ? '2' : 'b', tx, null)).toBe(true);
      tx.tx.set('want', name === 'rx' ? '(' : '1');
      expect(operator.evaluate('b', tx, null)).toBe(false);
      operator.close?.();
    }
  });

  test('a pattern that runs into its limit is no match, and is recorded', () => {
    const tx = bareTransaction();
    const operator = bind('rx', '(?!x)(?:a+)+$');
    expect(operator.evaluate(`${'a'.repeat(40)}b`, tx, null)).toBe(false);
    expect(tx.pcreLimitsExceeded).toBe(1);
    operator.close?.();
  });
});

describe('refusals', () => {
  const table: [string, string, RegExp][] = [
    ['rx', 'a(b', /regular expression/],
    ['verifyCC', '[', /regular expression/],
    ['pm', ' ', /no word/],
    ['pmFromFile', 'missing.data', /data file/],
    ['ipMatch', '10.0.0.0/33', /IP addresses/],
    ['ipMatch', 'localhost', /IP addresses/],
    ['validateByteRange', '1-256', /byte numbers/],
    ['validateByteRange', '9-1', /byte numbers/],
    ['inspectFile', '/bin/x', /no script/],
    ['validateSchema', 'a.xsd', /unsupported/],
    ['validateDTD', 'a.dtd', /unsupported/],
    ['fuzzyHash', 'a 6', /unsupported/],
  ];
  test.each(table)('@%s %s', (name, argument, expected) => {
    expect(failureOf(name, argument)).toMatch(expected);
  });
});

describe('the list', () => {
  test('names are unique and every text is there', () => {
    const names = operators.flatMap(({ name, aliases }) => [name, ...(aliases ?? [])]);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    for (const { summary, example, source } of operators) {
      expect([summary, example, source].every((text) => text.length > 5)).toBe(true);
    }
  });
});

test('prefilters find every value that matches', () => {
  const text = fc.string({
    maxLength: 6,
    unit: fc.constantFrom('a', 'b', '.', '$', '\n', '|', '\xff'),
  });
  const name = fc.constantFrom('contains', 'beginsWith', 'endsWith', 'streq', 'containsWord');
  fc.assert(
    fc.property(name, text, text, text, (operator, argument, before, after) => {
      const { evaluate, prefilter } = bind(operator, argument);
      const value = before + argument + after;
      if (prefilter?.kind !== 'pattern' || !evaluate(value, bareTransaction(), null)) return;
      expect(compileExact(prefilter.pattern).test(value)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('word search finds what a plain search finds', () => {
  const word = fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('a', 'b', 'A', 'c') });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), fc.array(word), (words, parts) => {
      const value = parts.join('');
      const found = new WordSearch(words).find(value);
      const lower = words.map((one) => one.toLowerCase());
      expect(found !== null).toBe(lower.some((one) => value.toLowerCase().includes(one)));
      if (found !== null) expect(lower).toContain(found.toLowerCase());
    }),
    { numRuns: 1000 },
  );
});

test('networks match by their leading bits', () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const quad = fc.tuple(byte, byte, byte, byte);
  fc.assert(
    fc.property(quad, quad, fc.integer({ min: 0, max: 32 }), (a, b, bits) => {
      const number = (quadOf: number[]): bigint =>
        quadOf.reduce((sum, n) => sum * 256n + BigInt(n), 0n);
      const network = parseNetwork(`${a.join('.')}/${bits}`);
      const address = parseAddress(b.join('.'));
      if (!network || !address) throw new Error('not parsed');
      const shift = BigInt(32 - bits);
      expect(matchesNetwork(address, network)).toBe(number(a) >> shift === number(b) >> shift);
    }),
  );
});

test('integers are read as atoll reads them', () => {
  const table: [string, number | bigint][] = [
    ['', 0],
    ['x', 0],
    [' \t-12abc', -12],
    ['+7', 7],
    ['007', 7],
    ['--1', 0],
    ['99999999999999999999', 2n ** 63n - 1n],
    ['-99999999999999999999', -(2n ** 63n)],
    ['9223372036854775808', 2n ** 63n - 1n],
    ['1234567890123456789', 1234567890123456789n],
  ];
  for (const [text, expected] of table) expect(readInteger(text)).toBe(expected);
});

test('words and lines', () => {
  expect(parseWords('a|62 63| \\"d')).toEqual(['abc', '"d']);
  expect(parseWords('a|zz b')).toEqual(['a|zz', 'b']);
  expect(parseWords('c:\\windows x')).toEqual(['c:\\windows', 'x']);
  expect(parseLines('a \n #b\n\n c#d\r\n')).toEqual(['a ', ' c#d']);
  expect(escapePattern('a.b')).toBe('a\\x2eb');
});

test('the cache of compiled texts stays small', () => {
  const dropped: number[] = [];
  const cache = new BoundedCache<number>(2, (value) => dropped.push(value));
  for (const [i, key] of ['a', 'b', 'a', 'c'].entries()) cache.get(key, () => i);
  expect(dropped).toEqual([0]);
  cache.clear();
  expect(dropped).toEqual([0, 1, 3]);
});

/** Proves that RE2 and PCRE2 agree wherever compileExact picks RE2. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Pcre } from '../../native-bindings/index.ts';
import { crsPatterns, valueNear } from './crs-patterns.test-support.ts';
import { compileExact, forgetSearched, type ExactRegex } from './regex.ts';
import { draws } from '../../test/support/soak.ts';

/** Fails with a readable pair when both engines do not give the same captures. */
function agreement(pattern: string, caseless: boolean): { check(v: string): void; close(): void } {
  const ours = compileExact(pattern, { caseless });
  const theirs = new Pcre(pattern, { caseless, dotall: true, dollarEndOnly: true });
  const check = (value: string): void => {
    const pairs = theirs.exec(value);
    if (typeof pairs === 'number') return;
    const found = ours.exec(value);
    if (ours.limitExceeded > 0) return;
    expect(ours.test(value)).toBe(pairs !== null);
    const flat = found?.flatMap(({ start, end }) => [start, end]) ?? null;
    expect(flat).toEqual(pairs === null ? null : [...pairs.slice(0, 20)]);
  };
  const close = (): void => {
    theirs.close();
    ours.close();
  };
  return { check, close };
}

describe('a pattern that is known to be good', () => {
  const special = ['(a++)b', 'a{2}{3}', '(?<=x)y', '(?:a{1000}){9}b', '[', 'x*?$', '(?i)Straße'];
  const values = ['', 'aab', 'xy', 'aaaaaa', 'x', 'STRASSE', `${'a'.repeat(9000)}b`];

  const compiled = (pattern: string): ExactRegex | null => {
    try {
      return compileExact(pattern);
    } catch {
      return null;
    }
  };

  test('finds what one finds that is read at once, and is not read before', () => {
    for (const pattern of [...special, ...crsPatterns()]) {
      const known = compileExact(pattern, {}, { known: true });
      const read = compiled(pattern);
      if (read === null) {
        expect(() => known.test('')).toThrow();
        continue;
      }
      const near = pattern.replaceAll(/[\\^$]|\(\?\w*:?|[()[\]]/g, '').slice(0, 200);
      for (const value of [...values, near, ` ${near} x`]) {
        expect(known.exec(value), pattern).toEqual(read.exec(value));
        expect(known.test(value), pattern).toBe(read.test(value));
        expect(known.engine, pattern).toBe(read.engine);
      }
      known.close();
      read.close();
    }
  });

  test('keeps the limits that it was given, where PCRE2 matches', () => {
    const regex = compileExact('(?=x)(x+x+)+[yz]', {}, { matchLimit: 10, known: true });
    expect(regex.test('x'.repeat(40))).toBe(false);
    expect(regex.limitExceeded).toBe(1);
  });
});

const numRuns = draws(20, 400, 'FUZZ_RUNS');
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);

describe('long values', () => {
  const patterns = ['(b+)(x)?(c)', '^.*(b)', '(\\xe9+)b', 'c$', '(?:nothing)', ''];
  const fills = ['a', 'a\xe9', '\xff', 'ab'];
  test.each(patterns)('%s has the captures that PCRE2 finds', (pattern) => {
    const { check, close } = agreement(pattern, false);
    for (const fill of fills) {
      // Twice, and others between: what is kept of a long value is its own.
      for (const end of ['bbc', 'b\xe9\xe9bc', 'bbc']) check(`${fill.repeat(20_000)}${end}`);
    }
    expect(() => check('')).not.toThrow();
    close();
  });

  test('all matches have their places, with and without high bytes', () => {
    const regex = compileExact('b(c)');
    for (const fill of ['a', 'a\xe9', '\xff\xfe']) {
      const value = `bc${fill.repeat(30_000)}bc${fill.repeat(9)}bc`;
      const places = regex.execAll(value).map(([whole, group]) => [whole?.start, group?.end]);
      const second = 2 + fill.length * 30_000;
      const third = second + 2 + fill.length * 9;
      expect(places).toEqual([
        [0, 2],
        [second, second + 2],
        [third, third + 2],
      ]);
    }
    forgetSearched();
    expect(regex.test(`${'a'.repeat(30_000)}bc`)).toBe(true);
    regex.close();
  });
});

describe('compileExact', () => {
  test('agrees with PCRE2 on every CRS pattern', () => {
    const patterns = crsPatterns();
    if (patterns.length === 0) {
      console.log('skipped: no corpus');
      return;
    }
    let onRe2 = 0;
    for (const pattern of patterns) {
      if (compileExact(pattern).engine === 're2') onRe2++;
      for (const caseless of [false, true]) {
        const engines = agreement(pattern, caseless);
        fc.assert(fc.property(valueNear(pattern), engines.check), { seed, numRuns });
        engines.close();
      }
    }
    console.log(`${patterns.length} patterns, ${onRe2} on RE2, seed ${seed}`);
    expect(onRe2).toBeGreaterThan(patterns.length * 0.9);
  });

  test('agrees with PCRE2 on random patterns', () => {
    const counts = { re2: 0, pcre2: 0, invalid: 0 };
    const property = fc.property(
      anyPattern,
      fc.array(anyText, { minLength: 3 }),
      (pattern, all) => {
        const caseless = pattern.length % 2 === 0;
        try {
          new Pcre(pattern).close();
        } catch {
          counts.invalid++;
          return;
        }
        counts[compileExact(pattern).engine]++;
        const engines = agreement(pattern, caseless);
        all.forEach(engines.check);
        engines.close();
      },
    );
    fc.assert(property, { seed, numRuns: numRuns * 50 });
    console.log(JSON.stringify({ seed, ...counts }));
    expect(counts.re2).toBeGreaterThan(numRuns * 10);
  });

  test.each<[string, 're2' | 'pcre2']>([
    ['a(?:b|c)*?[^\\d\\s]$', 're2'],
    ['(?i)caf\xe9', 're2'],
    ['(?<name>a)(?-i:b)', 're2'],
    ['[[:alpha:]\\x00-\\x1f\\-]', 're2'],
    ['\\h\\v\\0\\07\\e', 're2'],
    ['a(?=b)', 'pcre2'],
    ['(?<!a)b', 'pcre2'],
    ['(a)\\1', 'pcre2'],
    ['a++', 'pcre2'],
    ['(?>a|ab)c', 'pcre2'],
    ['a\\Z', 'pcre2'],
    ['(?m)^a$', 'pcre2'],
    ['\\R', 'pcre2'],
    ['\\Qa.b\\E', 'pcre2'],
    ['x{1001}', 'pcre2'],
  ])('%j runs on %s', (pattern, engine) => {
    expect(compileExact(pattern).engine).toBe(engine);
  });

  test('folds ASCII letters only', () => {
    for (const pattern of ['\xe9', '[\xe0-\xef]', '[^a-z\\x80-\\xc8]']) {
      const regex = compileExact(pattern, { caseless: true });
      expect(regex.engine).toBe('re2');
      expect([regex.test('\xe9'), regex.test('\xc9')]).toEqual([true, pattern.startsWith('[^')]);
    }
    expect(compileExact('[^k]', { caseless: true }).test('K')).toBe(false);
  });

  test('gives captures and all matches as byte offsets', () => {
    const regex = compileExact('(\xe9+)|(b)');
    expect(regex.exec('a\xe9\xe9b')).toEqual([
      { start: 1, end: 3 },
      { start: 1, end: 3 },
      { start: -1, end: -1 },
    ]);
    expect(regex.execAll('a\xe9\xe9b').map(([whole]) => whole?.start)).toEqual([1, 3]);
    expect(compileExact('').execAll('ab')).toHaveLength(3);
    expect(compileExact('a').execAll('aaaa', 2)).toHaveLength(2);
    expect(compileExact('(.)'.repeat(12)).exec('a'.repeat(12))).toHaveLength(10);
  });

  test('counts a search that a limit stopped as no match', () => {
    const regex = compileExact('^(a+)+\\1$', {}, { matchLimit: 1000 });
    expect(regex.test(`${'a'.repeat(40)}!`)).toBe(false);
    expect(regex.exec(`${'a'.repeat(40)}!`)).toBeNull();
    expect(regex.limitExceeded).toBe(2);
    expect(() => compileExact('a(')).toThrow(/parenthes/);
  });
});

/** Small patterns over the constructs that are translated, and some that are not. */
const { anyPattern } = fc.letrec<{ anyPattern: string; atom: string; piece: string }>((tie) => ({
  atom: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('a', 'B', 'k', '\xe9', '\xc9', ' ', '/', '-', ']') },
    { weight: 4, arbitrary: fc.constantFrom('.', '\\d', '\\w', '\\W', '\\s', '\\S', '\\h', '\\v') },
    {
      weight: 3,
      arbitrary: fc.constantFrom('\\b', '\\B', '^', '$', '\\A', '\\z', '\\Z', '{', '}'),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom('\\x41', '\\x{e9}', '\\0', '\\n', '\\.', '\\x', '(?i)b'),
    },
    {
      weight: 4,
      arbitrary: fc.constantFrom('[a-c]', '[^a]', '[\xe0-\xff]', '[^\\W_]', '[]a]', '[\\s-]'),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom('[[:^alpha:]b]', '[[:upper:]]', '[\\b\\x00-\\x20]', '[\\da-]'),
    },
    { weight: 3, arbitrary: tie('anyPattern').map((inner) => `(?:${inner})`) },
    { weight: 2, arbitrary: tie('anyPattern').map((inner) => `(?i:${inner})`) },
    { weight: 2, arbitrary: tie('anyPattern').map((inner) => `(${inner})`) },
  ),
  piece: fc
    .tuple(
      tie('atom'),
      fc.constantFrom('', '', '', '*', '+', '?', '+?', '{2}', '{0,2}', '{1,}', '++'),
    )
    .map(([atom, quantifier]) => atom + quantifier),
  anyPattern: fc
    .array(fc.array(tie('piece'), { maxLength: 4 }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((options) => options.map((pieces) => pieces.join('')).join('|')),
}));

// Without \x85: PCRE2 10.42 takes \S+\v for unable to backtrack, as if \s held all of \v.
const anyText = fc
  .array(
    fc.constantFrom(
      'a',
      'A',
      'b',
      'B',
      'k',
      'K',
      '\xe9',
      '\xc9',
      ' ',
      '\n',
      '\x0b',
      '\0',
      '/',
      '-',
      '1',
      ']',
    ),
    { maxLength: 8 },
  )
  .map((chars) => chars.join(''));

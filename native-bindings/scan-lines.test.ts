/** Proves that values scanned together, a line each, hit what each of them hits alone. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { maskOfClasses } from './byte-class.ts';
import { HS_FLAG, HsDatabase } from './hyperscan.ts';
import { Pcre } from './pcre.ts';
import { ScanProgram } from './scan-program.ts';
import { transformationIds } from './transformations.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
const plain = maskOfClasses('lower', 'upper', 'digit', 'underscore', 'space', 'dot');

/** Spelt for lines, and for one value. None can match a newline. */
const patterns: readonly (readonly [line: string, alone: string])[] = [
  ['^$', '^$'],
  ['a', 'a'],
  ['^a', '^a'],
  ['b$', 'b$'],
  ['^[a-c ]+$', '^[a-c ]+$'],
  ['\\bab\\b', '\\bab\\b'],
  ['c[ab]*c', 'c[ab]*c'],
  ['(?i)^AB', '(?i)^AB'],
  ['[.][.]', '[.][.]'],
  ['[ab]', '[ab]'],
  ['\\B$', '\\B$'],
  ['\\B', '\\B'],
];
const exact = patterns.map(([, alone]) => new Pcre(alone, { dotall: true, dollarEndOnly: true }));
const lines = HsDatabase.compile(
  patterns.map(([pattern], id) => {
    return { pattern, id, flags: HS_FLAG.dotall | HS_FLAG.allowEmpty | HS_FLAG.multiline };
  }),
  { mode: 'block' },
);
/** Chain 0 is the value itself, chain 1 the value without its white space. */
const program = new ScanProgram({
  nodes: Int32Array.from([-1, -1, 0, transformationIds.removeWhitespace]),
  databases: [lines],
  classes: [
    {
      chains: Int32Array.from([0, 1]),
      patterns: Int32Array.from(patterns.flatMap((_, id) => [id, id % 2, 0])),
      tiers: [{ allowedMask: plain, database: -1, lines: 0 }],
      tests: [],
    },
  ],
});
afterAll(() => {
  program.close();
  lines.close();
  for (const pcre of exact) pcre.close();
});

function scanAll(values: readonly string[], by = program): Set<string> {
  const slab = Buffer.from(values.join(''), 'latin1');
  const rows: number[] = [];
  let at = 0;
  for (const { length } of values) {
    rows.push(at, at + length, 0);
    at += length;
  }
  const hits = new Int32Array(2 * patterns.length * Math.max(1, values.length) * 2);
  const count = by.scan(slab, Int32Array.from(rows), values.length, hits);
  expect(count * 2).toBeLessThanOrEqual(hits.length);
  return new Set(Array.from({ length: count }, (_, i) => `${hits[2 * i]}@${hits[2 * i + 1]}`));
}

function expectAlone(values: readonly string[]): Set<string> {
  const found = new Set<string>();
  values.forEach((value, row) => {
    patterns.forEach((_, id) => {
      const seen = id % 2 === 0 ? value : value.replaceAll(' ', '');
      if (exact[id]!.test(seen)) found.add(`${id}@${row}`);
    });
  });
  return found;
}

test('empty values at both ends and between others', () => {
  const values = ['', 'a', '', 'ab', 'b', ''];
  expect(scanAll(values)).toEqual(expectAlone(values));
});

test('the place after the last newline belongs to no value', () => {
  for (const values of [['ab'], ['a', 'ab'], ['', 'ab', ''], ['ab', '.']]) {
    expect(scanAll(values)).toEqual(expectAlone(values));
  }
});

test(`random values (FUZZ_SEED=${seed})`, () => {
  const value = fc.stringMatching(/^[abcAB. ]{0,6}$/);
  fc.assert(
    fc.property(fc.array(value, { maxLength: 12 }), (values) => {
      expect(scanAll(values)).toEqual(expectAlone(values));
    }),
    { seed, numRuns: 2000 },
  );
});

test(`equal values share a line (FUZZ_SEED=${seed})`, () => {
  const unit = fc.stringMatching(/^[abcAB. ]{1,6}$/);
  const value = unit.map((text) => text.repeat(60).slice(0, 64));
  const { scan, close } = boundedProgram();
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 3 }), fc.nat(), (some, step) => {
      const values = Array.from({ length: 12 }, (_, i) => some[(i * step) % some.length]!);
      expect(scanAll(values)).toEqual(expectAlone(values));
      const dense = [...values, 'a'.repeat(9_000), 'a'.repeat(9_000)];
      expect(scanAll(dense, scan)).toEqual(expectAlone(dense));
    }),
    { seed, numRuns: 500 },
  );
  expect(scan.stats().abandoned).toBeGreaterThan(0);
  close();
  const before = program.stats().bytes;
  scanAll(Array.from({ length: 8 }, () => 'abc.'.repeat(20)));
  expect(program.stats().bytes - before).toBe(81);
});

test('more lines than one batch holds', () => {
  const values = Array.from({ length: 3000 }, (_, i) => 'abc '.repeat(i % 200));
  expect(scanAll(values)).toEqual(expectAlone(values));
});

/**
 * As a plan has it: a database for lines, and one a chain for every value that tells a pattern
 * once.
 */
function boundedProgram(): { scan: ScanProgram; close: () => void } {
  const wholes = [0, 1].map((chain) => {
    const flags = HS_FLAG.dotall | HS_FLAG.allowEmpty | HS_FLAG.singleMatch;
    const list = patterns.map(([, pattern], id) => ({ pattern, id, flags }));
    return HsDatabase.compile(
      list.filter(({ id }) => id % 2 === chain),
      { mode: 'block' },
    );
  });
  const parts = wholes.map((_, chain) => ({ chains: Int32Array.of(chain), database: 1 + chain }));
  const scan = new ScanProgram({
    nodes: Int32Array.from([-1, -1, 0, transformationIds.removeWhitespace]),
    databases: [lines, ...wholes],
    classes: [
      {
        chains: Int32Array.of(0, 1),
        patterns: Int32Array.from(patterns.flatMap((_, id) => [id, id % 2, 0])),
        tiers: [
          { allowedMask: plain, database: -1, lines: 0 },
          { allowedMask: 0xffffffff, database: -1, parts },
        ],
        tests: [],
      },
    ],
  });
  return {
    scan,
    close: () => {
      scan.close();
      for (const whole of wholes) whole.close();
    },
  };
}

test('many values with some matches each stay together', () => {
  const { scan, close } = boundedProgram();
  const values = Array.from({ length: 2_000 }, () => 'ab ab a');
  const slab = Buffer.from(values.join(''), 'latin1');
  const rows = Int32Array.from(values.flatMap((value, i) => [i * 7, i * 7 + value.length, 0]));
  const count = scan.scan(slab, rows, values.length, new Int32Array(100_000));
  const { scans, matches, abandoned } = scan.stats();
  expect({ scans, abandoned }).toEqual({ scans: 1, abandoned: 0 });
  // More than a scan of one long value may tell.
  expect(matches).toBeGreaterThan(5_000);
  expect(count).toBeGreaterThan(values.length);
  close();
});

test('a value that is all matches is reported once a pattern', () => {
  const { scan, close } = boundedProgram();
  const long = 'a'.repeat(200_000);
  const values = ['ab', long, 'b', `${long}c`, 'a'];
  const slab = Buffer.from(values.join(''), 'latin1');
  let at = 0;
  const rows = Int32Array.from(
    values.flatMap(({ length }) => {
      at += length;
      return [at - length, at, 0];
    }),
  );
  const hits = new Int32Array(1000);
  const count = scan.scan(slab, rows, values.length, hits);
  const found = new Set(
    Array.from({ length: count }, (_, i) => `${hits[2 * i]}@${hits[2 * i + 1]}`),
  );
  const wanted = values.flatMap((value, row) => {
    return patterns.flatMap((_, id) => (exact[id]!.test(value) ? [`${id}@${row}`] : []));
  });
  expect([...found].sort()).toEqual(wanted.sort());
  const { matches, abandoned, bytes } = scan.stats();
  expect(abandoned).toBe(1);
  // It is broken off where it begins to tell more than one for two bytes: not at the end.
  expect(matches).toBeLessThan(10_000);
  expect(bytes).toBeLessThan(3.1 * slab.length);
  close();
});

test('lines in which a guard finds something are scanned, all others are not', () => {
  const guard = HsDatabase.compile(
    ['time ', ';'].map((pattern, id) => ({ pattern, id, literal: true, flags: HS_FLAG.caseless })),
    { mode: 'block' },
  );
  const guarded = HsDatabase.compile(
    [{ pattern: '[;eE] ?x', id: 0, flags: HS_FLAG.dotall | HS_FLAG.multiline }],
    { mode: 'block' },
  );
  const allowedMask = maskOfClasses('lower', 'upper', 'space', 'semicolon');
  const scanner = new ScanProgram({
    nodes: Int32Array.from([-1, -1]),
    databases: [lines, guarded, guard],
    classes: [
      {
        chains: Int32Array.from([0]),
        patterns: Int32Array.from([0, 0, 0]),
        tiers: [{ allowedMask, database: -1, guarded: 1, guard: 2 }],
        tests: [],
      },
    ],
  });
  const found = (values: readonly string[]): number[] => {
    const slab = Buffer.from(values.join(''), 'latin1');
    let at = 0;
    const rows = values.flatMap(({ length }) => [at, (at += length), 0]);
    const hits = new Int32Array(4 * values.length + 2);
    const count = scanner.scan(slab, Int32Array.from(rows), values.length, hits);
    return Array.from({ length: count }, (_, i) => hits[2 * i + 1]!).toSorted((a, b) => a - b);
  };
  // Row 0 and 3 would match, but have no literal; those of the others stay in their lines.
  expect(found(['e x', 'a TIME x', 'time', 'ex', ';', 'x', ';x', '', 'b; x'])).toEqual([1, 6, 8]);
  expect(scanner.stats().skipped).toBe(5);
  expect(found(['ex', 'time', ' x'])).toEqual([]);
  expect(found([])).toEqual([]);
  // Equal lines are found once, for each value that has them.
  const twin = `${'time '.repeat(12)}x;x`;
  expect(found([twin, 'ex', twin, `e${twin}`])).toEqual([0, 2, 3]);
  // Too many finds: asking for lines is not worth it.
  expect(found(['ex', ';'.repeat(200), ';x'])).toEqual([0, 2]);
  scanner.close();
  guard.close();
  guarded.close();
});

test('a long value with a match for every fourth byte is scanned once', () => {
  const { scan, close } = boundedProgram();
  const slab = Buffer.from('a.x.'.repeat(50_000), 'latin1');
  const hits = new Int32Array(100);
  scan.scan(slab, Int32Array.from([0, slab.length, 0]), 1, hits);
  const { scans, matches, abandoned } = scan.stats();
  expect({ scans, abandoned }).toEqual({ scans: 1, abandoned: 0 });
  expect(matches).toBeGreaterThanOrEqual(50_000);
  close();
});

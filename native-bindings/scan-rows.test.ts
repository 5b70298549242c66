/**
 * Proves that scanning a value table's rows says the same as scanning its values class by class,
 * whatever was met before.
 */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { maskOfClasses } from './byte-class.ts';
import { HS_FLAG, HsDatabase } from './hyperscan.ts';
import { ScanProgram } from './scan-program.ts';
import type { ScanTable } from './scan-program.ts';

const flags = HS_FLAG.dotall | HS_FLAG.singleMatch | HS_FLAG.allowEmpty;
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);

const patterns = ['a', '^b', 'c{2}', 'x*\\z', 'evil'];
const database = HsDatabase.compile(
  patterns.map((pattern, id) => ({ pattern, flags, id })),
  { mode: 'block' },
);
afterAll(() => database.close());

/** One class a pattern; target id = pattern. */
const classes = patterns.map((_, wanted) => ({
  chains: Int32Array.of(0),
  patterns: Int32Array.from(patterns.flatMap((__, id) => [id === wanted ? id : -1, 0, 0])),
  tiers: [{ allowedMask: 0xffffffff, database: 0 }],
  tests: [],
}));
/** Two sources: of 0 all values are looked at, of 1 those named `host` and all names. */
const rowParts = [
  { classes: Int32Array.of(0, 1, 3), named: [] },
  { classes: Int32Array.of(), named: [] },
  { classes: Int32Array.of(), named: [{ key: 'host', classes: Int32Array.of(2, 4) }] },
  { classes: Int32Array.of(4), named: [] },
];

function programWith(memoEntries: number): ScanProgram {
  const nodes = Int32Array.from([-1, -1]);
  return new ScanProgram({ nodes, databases: [database], classes, rowParts }, { memoEntries });
}

interface Row {
  readonly source: number;
  readonly key: string;
  readonly value: string;
}

function tableOf(rows: readonly Row[]): ScanTable {
  const slab = Buffer.from(rows.map(({ key, value }) => key + value).join(''), 'latin1');
  let at = 0;
  const next = (length: number): number => (at += length);
  const columns = rows.map(({ key, value }) => {
    return [at, next(key.length), at, next(value.length)] as const;
  });
  const column = (i: 0 | 1 | 2 | 3): Int32Array =>
    Int32Array.from(columns, (offsets) => offsets[i]);
  return {
    slab,
    source: Uint8Array.from(rows, ({ source }) => source),
    keyStart: column(0),
    keyEnd: column(1),
    start: column(2),
    end: column(3),
  };
}

function hitsOf(program: ScanProgram, rows: readonly Row[]): string[] {
  const id = program.newTable();
  program.attach(id, tableOf(rows));
  const found = program.scanRows(id, 0, rows.length);
  const pairs = Array.from({ length: found }, (_, i) => {
    return `${program.hits[2 * i]}@${program.hits[2 * i + 1]}`;
  });
  program.releaseTable(id);
  return [...new Set(pairs)].sort();
}

function naiveHits(rows: readonly Row[]): string[] {
  const finds = [/a/, /^b/, /cc/, /^x*$|x$|$/, /evil/];
  return rows
    .flatMap(({ source, key, value }, row) => {
      const wanted = source === 0 ? [0, 1, 3] : key.toLowerCase() === 'host' ? [2, 4] : [];
      const ofValue = wanted.filter((id) => finds[id]!.test(value)).map((id) => `${id}@${2 * row}`);
      const named = source === 1 && finds[4]!.test(key);
      return named ? [...ofValue, `4@${2 * row + 1}`] : ofValue;
    })
    .sort();
}

const text = fc
  .array(
    fc.constantFrom(
      'a',
      'b',
      'cc',
      'x',
      'evil',
      '-',
      'y'.repeat(70),
      'z'.repeat(240),
      'z'.repeat(900),
    ),
    {
      maxLength: 3,
    },
  )
  .map((parts) => parts.join(''));
const anyRow: fc.Arbitrary<Row> = fc.record({
  source: fc.nat({ max: 1 }),
  key: fc.oneof(fc.constantFrom('host', 'Host', 'HOSTS', ''), text),
  value: text,
});

describe('scanRows', () => {
  test.each([0, 8, 64, 2048])(
    'with %d remembered values agrees with single searches',
    (entries) => {
      console.log(`seed ${seed}`);
      const program = programWith(entries);
      fc.assert(
        fc.property(fc.array(anyRow, { maxLength: 12 }), (rows) => {
          for (let i = 0; i < 3; i++) expect(hitsOf(program, rows)).toEqual(naiveHits(rows));
        }),
        { seed, numRuns: 300 },
      );
      const { remembered } = program.stats();
      if (entries === 0) expect(remembered).toBe(0);
      else expect(remembered).toBeGreaterThan(0);
      program.close();
    },
  );

  test('scans a value that was met twice no more', () => {
    const program = programWith(64);
    const rows = [{ source: 0, key: '', value: 'a value' }];
    hitsOf(program, rows);
    hitsOf(program, rows);
    const { scans } = program.stats();
    expect(hitsOf(program, rows)).toEqual(naiveHits(rows));
    expect(program.stats().scans).toBe(scans);
    expect(hitsOf(program, [{ source: 0, key: '', value: 'a valuf' }])).toEqual(['0@0', '3@0']);
    expect(program.stats().scans).toBeGreaterThan(scans);
    program.close();
  });

  test.each([0, 64])('scans a name once that many rows have (%d remembered)', (entries) => {
    const program = programWith(entries);
    const named = (key: string): Row => ({ source: 1, key, value: '' });
    const long = `evil${'n'.repeat(3000)}`;
    const short = `evil${'m'.repeat(60)}`;
    const rows = Array.from({ length: 60 }, (_, i) => named([long, short, `${long}${i}`][i % 3]!));
    expect(hitsOf(program, rows)).toEqual(naiveHits(rows));
    const { scans, shared } = program.stats();
    // Two names of 20 rows each, and 20 that differ.
    expect(scans).toBe(22);
    expect(shared).toBe(38);
    program.close();
  });

  test('scans a value once that many rows have', () => {
    const program = programWith(0);
    const valued = (value: string, key = ''): Row => ({ source: key === '' ? 0 : 1, key, value });
    const sharedIn = (rows: readonly Row[]): number => {
      // The first call makes room for the hits.
      expect(hitsOf(program, rows)).toEqual(naiveHits(rows));
      const { shared } = program.stats();
      expect(hitsOf(program, rows)).toEqual(naiveHits(rows));
      return program.stats().shared - shared;
    };
    const long = `evil a${'y'.repeat(3000)}`;
    const short = 'b evil value of a row';
    const rows = Array.from({ length: 96 }, (_, i) => {
      return valued([long, short, `${long}${i}`, 'x'][i % 4]!, i % 8 < 4 ? '' : 'host');
    });
    // Two values of two sources with 12 rows each; one is too short to be compared.
    expect(sharedIn(rows)).toBe(4 * 11);
    // Few rows: only long values are compared.
    const few = [valued(long), valued(short), valued(long), valued(short)];
    expect(sharedIn([...few, ...few])).toBe(3);
    program.close();
  });

  test('with equal values in many rows agrees with single searches', () => {
    fc.assert(
      fc.property(fc.array(anyRow, { minLength: 2, maxLength: 6 }), (some) => {
        const program = programWith(64);
        const rows = Array.from({ length: 90 }, (_, i) => some[(i * i) % some.length]!);
        for (let i = 0; i < 3; i++) expect(hitsOf(program, rows)).toEqual(naiveHits(rows));
        program.close();
      }),
      { seed, numRuns: 100 },
    );
  });

  test('finds more hits than there was room for', () => {
    const program = programWith(64);
    const rows = Array.from({ length: 500 }, () => ({ source: 0, key: '', value: 'bax' }));
    expect(hitsOf(program, rows)).toHaveLength(1500);
    expect(hitsOf(program, rows)).toHaveLength(1500);
    program.close();
  });

  test('refuses rows that it has no right to', () => {
    const program = programWith(64);
    const good = tableOf([{ source: 0, key: '', value: 'a' }]);
    const id = program.newTable();
    const scan = (table: ScanTable, to = 1): (() => number) => {
      program.attach(id, table);
      return () => program.scanRows(id, 0, to);
    };
    expect(scan(good)()).toBe(2);
    expect(scan(good, 2)).toThrow(TypeError);
    expect(scan({ ...good, end: Int32Array.of(2) })).toThrow(TypeError);
    expect(scan({ ...good, start: Int32Array.of(-1) })).toThrow(TypeError);
    expect(scan({ ...good, keyEnd: Int32Array.of(9) })).toThrow(TypeError);
    expect(scan({ ...good, source: Uint8Array.of(2) })).toThrow(TypeError);
    expect(() => program.attach(id, { ...good, end: Int32Array.of() })).toThrow(TypeError);
    expect(() => program.scanRows(id + 1, 0, 0)).toThrow(TypeError);
    program.releaseTable(id);
    expect(() => program.scanRows(id, 0, 1)).toThrow(TypeError);
    program.close();
    expect(() => program.scanRows(id, 0, 0)).toThrow(/closed/);
  });
});

describe('a scan that Hyperscan cannot make', () => {
  const failed = expect.objectContaining({ code: 'scan_failed' }) as Error;
  const row: Row = { source: 0, key: 'k', value: 'evil' };

  /** A program over a database in shared memory whose header is then overwritten. */
  function damaged(lines: boolean): { program: ScanProgram; repair: () => void } {
    const own = lines ? HS_FLAG.multiline : HS_FLAG.singleMatch;
    const shared = HsDatabase.deserializeShared(
      HsDatabase.compile([{ pattern: 'evil', flags: HS_FLAG.dotall | own, id: 0 }], {
        mode: 'block',
      }).serialize(),
    );
    const tier = lines ? { database: -1, lines: 0 } : { database: 0 };
    const one = {
      chains: Int32Array.of(0),
      patterns: Int32Array.of(0, 0, 0),
      tiers: [{ allowedMask: lines ? maskOfClasses('lower') : 0xffffffff, ...tier }],
      tests: [],
    };
    const nodes = Int32Array.from([-1, -1]);
    const databases = [HsDatabase.attach(shared)];
    const rowPart = [{ classes: Int32Array.of(0), named: [] }];
    const nothing = [{ classes: Int32Array.of(), named: [] }];
    const spec = { nodes, databases, classes: [one], rowParts: [...rowPart, ...nothing] };
    const program = new ScanProgram(spec, { memoEntries: 16 });
    const bytes = new Uint8Array(shared);
    const magic = bytes.slice(0, 4);
    bytes.fill(0, 0, 4);
    return { program, repair: () => bytes.set(magic) };
  }

  test.each([
    ['one by one', false],
    ['joined with others', true],
  ])('is an error for values scanned %s, and is not remembered', (_, lines) => {
    const { program, repair } = damaged(lines);
    for (let round = 0; round < 3; round++) {
      expect(() => hitsOf(program, [row])).toThrow(failed);
    }
    repair();
    expect(hitsOf(program, [row])).toHaveLength(1);
    expect(hitsOf(program, [row, { ...row, value: 'good' }])).toHaveLength(1);
    program.close();
  });
});

/**
 * Proves that a call with many rows says the same as calls with few of them: values that join a
 * bundle, values that are looked at class by class, and both of them.
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { maskOfClasses } from './byte-class.ts';
import { HS_FLAG, HsDatabase } from './hyperscan.ts';
import { ScanProgram } from './scan-program.ts';
import type { ScanClass } from './scan-program.ts';
import { transformationIds } from './transformations.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
const patterns = ['evil', '^ab', 'a[^\\n]b$', 'EVIL'];

function compile(flags: number, only: readonly number[]): HsDatabase {
  const list = only.map((id) => ({ pattern: patterns[id]!, flags: HS_FLAG.dotall | flags, id }));
  return HsDatabase.compile(list, { mode: 'block' });
}

const databases = [
  compile(HS_FLAG.multiline, [0, 1, 2, 3]),
  compile(HS_FLAG.multiline, [0]),
  HsDatabase.compile([{ pattern: 'vi', flags: 0, id: 0 }], { mode: 'block' }),
  compile(HS_FLAG.singleMatch, [0, 1, 2, 3]),
];
afterAll(() => databases.forEach((one) => one.close()));

const plain = maskOfClasses('lower', 'upper', 'digit');
const whole = { allowedMask: 0xffffffff, database: 3 };
const lines = { allowedMask: plain, database: -1, lines: 0 };
const guarded = { allowedMask: plain, database: -1, guarded: 1, guard: 2 };
/** Target ids of a class begin at `first`; pattern 3 is searched for in the second chain. */
function classOf(first: number, chains: number[], tier: ScanClass['tiers'][number]): ScanClass {
  const rows = patterns.flatMap((_, id) => [first + id, chains.length > 1 && id === 3 ? 1 : 0, 0]);
  return {
    chains: Int32Array.from(chains),
    patterns: Int32Array.from(rows),
    tiers: [tier, whole],
    tests: [],
  };
}

const negated = {
  ...classOf(8, [0], lines),
  patterns: Int32Array.of(8, 0, 1, 9, 0, 0, -1, 0, 0, -1, 0, 0),
};
const number = { kind: 'number', relation: 'ge', operand: 5n } as const;
const classes: ScanClass[] = [
  classOf(0, [0, 1], lines),
  classOf(4, [0], guarded),
  negated,
  {
    ...classOf(12, [0, 3], lines),
    tests: [{ ...number, chain: 1, targetId: 16, negated: false, skipMask: 0 }],
  },
  {
    ...classOf(20, [0, 2], lines),
    tests: [{ kind: 'sqli', chain: 0, targetId: 24, negated: false, skipMask: plain }],
  },
];

const texts = [
  'evil',
  'ab',
  'xab',
  'EVIL',
  'a1b',
  'a b',
  'eVi',
  '%65vil',
  "1' or 1=1 -- ",
  'a\nb',
  'cc',
  '',
];
const value = fc
  .array(fc.constantFrom(...texts), { minLength: 0, maxLength: 3 })
  .map((parts) => parts.join(''));

test('many rows in one call answer as in calls of a few', () => {
  const program = new ScanProgram({
    nodes: Int32Array.of(
      -1,
      -1,
      0,
      transformationIds.uppercase,
      0,
      transformationIds.urlDecodeUni,
      0,
      transformationIds.length,
    ),
    databases,
    classes,
    rowParts: [
      {
        classes: Int32Array.of(0, 1, 2, 3, 4),
        named: [{ key: 'evil', classes: Int32Array.of(1) }],
      },
      { classes: Int32Array.of(0, 1), named: [] },
    ],
  });
  const rows = fc.array(fc.tuple(value, value), { minLength: 300, maxLength: 900 });
  fc.assert(
    fc.property(rows, (list) => {
      const few = hitsOf(program, list, 100);
      expect(hitsOf(program, list, list.length)).toEqual(few);
    }),
    { seed, numRuns: 60 },
  );
  program.close();
});

function hitsOf(program: ScanProgram, rows: readonly [string, string][], step: number): string[] {
  const slab = Buffer.from(rows.map((row) => row.join('')).join(''), 'latin1');
  const offsets: number[][] = [[], [], []];
  let at = 0;
  for (const [key, text] of rows) {
    offsets[0]!.push(at);
    offsets[1]!.push((at += key.length));
    offsets[2]!.push((at += text.length));
  }
  const [keyStart, start, end] = offsets.map((list) => Int32Array.from(list));
  const table = program.newTable();
  const source = new Uint8Array(rows.length);
  program.attach(table, {
    slab,
    source,
    keyStart: keyStart!,
    keyEnd: start!,
    start: start!,
    end: end!,
  });
  const found = new Set<string>();
  for (let from = 0; from < rows.length; from += step) {
    const count = program.scanRows(table, from, Math.min(rows.length, from + step));
    for (let i = 0; i < count; i++) {
      found.add(`${program.hits[2 * i]}@${program.hits[2 * i + 1]}`);
    }
  }
  program.releaseTable(table);
  return [...found].sort();
}

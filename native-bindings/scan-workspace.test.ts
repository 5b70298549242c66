/**
 * Proves that programs of one thread, which share buffers and what is remembered, answer as if each
 * were alone, and that the thread remembers no more than it may.
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { maskOfClasses } from './byte-class.ts';
import { HS_FLAG, HsDatabase } from './hyperscan.ts';
import { ScanProgram, type ScanClass, type ScanOptions, type ScanTier } from './scan-program.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
const flags = HS_FLAG.dotall | HS_FLAG.singleMatch | HS_FLAG.allowEmpty;
const lineFlags = HS_FLAG.dotall | HS_FLAG.allowEmpty | HS_FLAG.multiline;
const nodes = Int32Array.of(-1, -1);
const everything = 0xffffffff;

function compile(patterns: readonly string[], all = flags): HsDatabase {
  const expressions = patterns.map((pattern, id) => ({ pattern, flags: all, id }));
  return HsDatabase.compile(expressions, { mode: 'block' });
}

const words = compile(['evil', 'bad', 'a']);
const lines = compile(['evil', 'bad', 'a'], lineFlags);
const guard = compile(['guarded'], lineFlags);
afterAll(() => [words, lines, guard].forEach((one) => one.close()));

const classOf = (ids: readonly number[], tier: Partial<ScanTier> = {}): ScanClass => ({
  chains: Int32Array.of(0),
  patterns: Int32Array.from(ids.flatMap((id) => [id, 0, 0])),
  tiers: [{ allowedMask: everything, database: 0, ...tier }],
  tests: [],
});

/** One source, all of whose values are looked at. */
function programOf(
  one: ScanClass,
  options: ScanOptions,
  databases: readonly HsDatabase[] = [words],
): ScanProgram {
  const rowParts = [
    { classes: Int32Array.of(0), named: [] },
    { classes: Int32Array.of(), named: [] },
  ];
  return new ScanProgram({ nodes, databases, classes: [one], rowParts }, options);
}

function hitsOf(program: ScanProgram, values: readonly string[]): string[] {
  const id = program.newTable();
  const ends: number[] = [];
  values.reduce((sum, { length }, at) => (ends[at] = sum + length), 0);
  const none = new Int32Array(values.length);
  program.attach(id, {
    slab: Buffer.from(values.join(''), 'latin1'),
    source: new Uint8Array(values.length),
    keyStart: none,
    keyEnd: none,
    start: Int32Array.from(values, ({ length }, at) => ends[at]! - length),
    end: Int32Array.from(ends),
  });
  const found = program.scanRows(id, 0, values.length);
  program.releaseTable(id);
  const pair = (at: number): string => `${program.hits[2 * at]}@${program.hits[2 * at + 1]}`;
  return [...new Set(Array.from({ length: found }, (_, at) => pair(at)))].sort();
}

test('no program answers from what another has met', () => {
  const ids = [
    [0, 1, 2],
    [7, -1, 9],
    [2, 1, 0],
  ];
  const value = fc.constantFrom('evil', 'bad', 'a', 'none', 'an evil and bad', 'x'.repeat(300));
  const call = fc.tuple(fc.nat({ max: ids.length - 1 }), fc.array(value, { maxLength: 4 }));
  fc.assert(
    fc.property(fc.array(call, { maxLength: 30 }), (calls) => {
      const shared = ids.map((list) => programOf(classOf(list), { memoEntries: 16 }));
      const alone = ids.map((list) => programOf(classOf(list), {}));
      for (const [at, values] of calls) {
        expect(hitsOf(shared[at]!, values)).toEqual(hitsOf(alone[at]!, values));
      }
      // One that comes later has a number of its own.
      shared[0]!.close();
      const later = programOf(classOf([5, 6, 7]), { memoEntries: 16 });
      expect(hitsOf(later, ['evil', 'evil'])).toEqual(['5@0', '5@2']);
      for (const one of [...shared, ...alone, later]) one.close();
    }),
    { seed, numRuns: 100 },
  );
});

test('programs of a thread share what is remembered, up to their bound', () => {
  const options = { memoEntries: 16, memoEntriesMax: 16 };
  const [first, second] = [0, 1].map(() => programOf(classOf([0, 1, 2]), options));
  const rounds = (program: ScanProgram, values: readonly string[]): number => {
    const before = program.stats().remembered;
    for (let round = 0; round < 3; round++) hitsOf(program, values);
    return program.stats().remembered - before;
  };
  expect(rounds(first!, ['evil'])).toBe(1);
  hitsOf(first!, ['evil']);
  expect(first!.stats().remembered).toBe(2);
  // Each of them is met three times and kept in the first program's place.
  rounds(
    second!,
    Array.from({ length: 500 }, (_, at) => `value ${at}`),
  );
  hitsOf(first!, ['evil']);
  expect(first!.stats().remembered).toBe(2);
  first!.close();
  second!.close();
});

test('more programs remember more', () => {
  const options = { memoEntries: 16, memoEntriesMax: 4_096 };
  const values = Array.from({ length: 200 }, (_, at) => `value ${at}`);
  const remembered = (program: ScanProgram): number => {
    for (let round = 0; round < 4; round++) for (const value of values) hitsOf(program, [value]);
    return program.stats().remembered;
  };
  const alone = programOf(classOf([0, 1, 2]), options);
  const little = remembered(alone);
  const others = Array.from({ length: 63 }, () => programOf(classOf([0, 1, 2]), options));
  expect(remembered(others[0]!)).toBeGreaterThan(little + 100);
  for (const one of [alone, ...others]) one.close();
});

test('a guard of one program does not hold back lines of another', () => {
  const mask = maskOfClasses('lower', 'space');
  const guarded = programOf(
    classOf([0, 1, 2], { allowedMask: mask, database: -1, guarded: 0, guard: 1 }),
    {},
    [lines, guard],
  );
  const plain = programOf(classOf([0, 1, 2], { allowedMask: mask, database: -1, lines: 0 }), {}, [
    lines,
  ]);
  expect(hitsOf(guarded, ['evil'])).toEqual([]);
  expect(hitsOf(plain, ['evil'])).toEqual(['0@0']);
  expect(hitsOf(guarded, ['guarded evil'])).toEqual(['0@0', '2@0']);
  guarded.close();
  expect(hitsOf(plain, ['evil', 'bad'])).toEqual(['0@0', '1@2', '2@2']);
  plain.close();
});

test.each([false, true])('several expressions are one pattern (negated: %s)', (negated) => {
  const one: ScanClass = {
    ...classOf([]),
    patterns: Int32Array.of(4, 0, negated ? 1 : 0, -1, 0, 0),
    owners: 0,
  };
  const rowParts = [{ classes: Int32Array.of(0), named: [] }];
  const nothing = { classes: Int32Array.of(), named: [] };
  const spec = { nodes, databases: [words], rowParts: [...rowParts, nothing], classes: [one] };
  const program = new ScanProgram({ ...spec, owners: [Int32Array.of(0, 0, -1)] });
  const values = ['evil', 'bad', 'a', 'none'];
  const wanted = negated ? ['4@4', '4@6'] : ['4@0', '4@2'];
  expect(hitsOf(program, values)).toEqual(wanted);
  program.close();
  expect(() => new ScanProgram({ ...spec, owners: [Int32Array.of(0, 2)] })).toThrow(
    'an expression belongs to no pattern',
  );
  expect(() => new ScanProgram({ ...spec, owners: [] })).toThrow('a class names no owners');
});

/** Proves the scan program against a naive reading of its specification, and its edges. */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { byteClassOf, maskOfClasses, maskOfValue } from './byte-class.ts';
import { HS_FLAG, HsDatabase } from './hyperscan.ts';
import { detectSqli, detectXss, hasBadUrlEncoding, hasBadUtf8 } from './injection.ts';
import { isOutsideByteRange } from './injection.ts';
import { Pcre } from './pcre.ts';
import { ScanProgram } from './scan-program.ts';
import type { ScanClass, ScanQuestion, ScanTest, TierPart } from './scan-program.ts';
import { transformationIds, transformText } from './transformations.ts';
import { draws } from '../test/support/soak.ts';

const flags = HS_FLAG.dotall | HS_FLAG.singleMatch | HS_FLAG.allowEmpty;
const everything = 0xffffffff;
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
const numRuns = draws(300, 5_000, 'FUZZ_RUNS');

const patterns = [
  '^\\z',
  'a',
  'A',
  'sel.?ect',
  '[^\\w]{2}',
  '^[a-z]+\\z',
  '(?:<|%3c)script',
  '\\x00',
  '\\xc3\\xa9',
  'x*\\z',
  "'\\s*or",
  '\\.\\./',
];
const exact = patterns.map((pattern) => new Pcre(pattern, { dotall: true, dollarEndOnly: true }));
afterAll(() => exact.forEach((pcre) => pcre.close()));

const allowed = new Uint8Array(32).fill(0xff, 4, 16);

/** Questions, each with the naive answer. */
const questions: readonly (readonly [ScanQuestion, (value: string) => boolean])[] = [
  [{ kind: 'sqli' }, (value) => detectSqli(value) !== null],
  [{ kind: 'xss' }, detectXss],
  [{ kind: 'byteRange', table: allowed }, (value) => isOutsideByteRange(value, allowed)],
  [{ kind: 'urlEncoding' }, hasBadUrlEncoding],
  [{ kind: 'utf8' }, hasBadUtf8],
  [{ kind: 'present' }, () => true],
  [
    { kind: 'within', text: '/a/ /xx/select/', prefix: '/', suffix: '/' },
    (value) => '/a/ /xx/select/'.includes(`/${value}/`),
  ],
  [
    { kind: 'within', text: 'selectect', prefix: '', suffix: '' },
    (value) => 'selectect'.includes(value),
  ],
  [
    { kind: 'number', relation: 'gt', operand: 0n },
    (value) => (/^[ \t-\r]*\+?(\d+)/.exec(value)?.[1] ?? '0').replace(/^0+/, '') !== '',
  ],
];

interface Wish {
  readonly pattern: number;
  readonly targetId: number;
  readonly chain: number;
  readonly negated: boolean;
}

interface TestWish {
  readonly question: number;
  readonly targetId: number;
  readonly chain: number;
  readonly negated: boolean;
}

interface Plan {
  readonly nodes: readonly (readonly [number, number])[];
  readonly chains: readonly number[];
  readonly wishes: readonly Wish[];
  readonly tests: readonly TestWish[];
  readonly values: readonly string[];
}

const ids = [...new Set(Object.values(transformationIds))];

const anyPlan: fc.Arbitrary<Plan> = fc
  .tuple(
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...ids)), { maxLength: 8 }),
    fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
  )
  .chain(([rawNodes, rawChains]) => {
    const nodes = rawNodes.map(([parent, id], i) => [parent % (i + 1), id] as const);
    const chains = rawChains.map((chain) => chain % (nodes.length + 1));
    const chain = fc.nat({ max: chains.length - 1 });
    const targetId = fc.nat({ max: 9 });
    const wish = fc.record({
      pattern: fc.nat({ max: patterns.length - 1 }),
      targetId,
      chain,
      negated: fc.boolean(),
    });
    const question = fc.nat({ max: questions.length - 1 });
    const scanTest = fc.record({ chain, targetId, negated: fc.boolean(), question });
    return fc.record({
      nodes: fc.constant(nodes),
      chains: fc.constant(chains),
      wishes: fc.array(wish, { maxLength: 10 }),
      tests: fc.array(scanTest, { maxLength: 3 }),
      values: fc.array(anyValue, { minLength: 1, maxLength: 6 }),
    });
  });

const parts = [
  '1',
  '007',
  'a',
  'A',
  'select',
  'SEL',
  'ect',
  '<script',
  '%3c',
  '%',
  '+',
  '\0',
  '\xc3\xa9',
  ' ',
];
const moreParts = ["'or", '../', './', '&lt;', '\\x41', '/*', '*/', '--', '\xa0', '1=1', '#', 'xx'];
const anyValue = fc
  .array(fc.constantFrom(...parts, ...moreParts), { maxLength: 8 })
  .map((chosen) => chosen.join(''));

/** What each chain of the plan makes of a value. */
function outputsOf(plan: Plan, value: string): string[] {
  const outputs = [value];
  for (const [parent, id] of plan.nodes) outputs.push(transformText(id, outputs[parent] ?? ''));
  return plan.chains.map((node) => outputs[node] ?? '');
}

function naiveTargetIds(plan: Plan, value: string): number[] {
  const outputs = outputsOf(plan, value);
  const targetIds = new Set<number>();
  for (const { pattern, targetId, chain, negated } of plan.wishes) {
    if (exact[pattern]?.test(outputs[chain] ?? '') !== negated) targetIds.add(targetId);
  }
  for (const { question, targetId, chain, negated } of plan.tests) {
    if (questions[question]![1](outputs[chain] ?? '') !== negated) targetIds.add(targetId);
  }
  return [...targetIds].sort((a, b) => a - b);
}

function testsOf(plan: Plan): ScanTest[] {
  return plan.tests.map(({ question, targetId, chain, negated }) => {
    return { ...questions[question]![0], targetId, chain, negated, skipMask: 0 };
  });
}

function flatNodes(plan: Plan): Int32Array {
  return Int32Array.from([[-1, -1], ...plan.nodes].flat());
}

/** One database of all wishes, and one for plain lower-case values without what needs more. */
function programOf(plan: Plan): ScanProgram {
  const expressions = plan.wishes.map(({ pattern }, id) => ({
    pattern: patterns[pattern] ?? '',
    flags,
    id,
  }));
  const lower = maskOfClasses('lower');
  const canMatchLower = expressions.filter(({ pattern }) => /^\^|^[a-z]|\*/.test(pattern));
  const databases = [expressions, canMatchLower]
    .filter((list) => list.length > 0)
    .map((list) => HsDatabase.compile(list, { mode: 'block' }));
  const small = canMatchLower.length === 0 ? -1 : 1;
  const scanClass: ScanClass = {
    chains: Int32Array.from(plan.chains),
    patterns: Int32Array.from(
      plan.wishes.flatMap(({ targetId, chain, negated }) => [targetId, chain, +negated]),
    ),
    tiers: [
      { allowedMask: lower, database: small },
      { allowedMask: everything, database: expressions.length === 0 ? -1 : 0 },
    ],
    tests: testsOf(plan),
  };
  return new ScanProgram({ nodes: flatNodes(plan), databases, classes: [scanClass] });
}

/** A database for each chain, instead of one for all. */
function partedProgramOf(plan: Plan): ScanProgram {
  const databases: HsDatabase[] = [];
  const parts = plan.chains.flatMap((_node, chain) => {
    const expressions = plan.wishes
      .map((wish, id) => ({ wish, id }))
      .filter(({ wish }) => wish.chain === chain)
      .map(({ wish, id }) => ({ pattern: patterns[wish.pattern] ?? '', flags, id }));
    if (expressions.length === 0) return [];
    databases.push(HsDatabase.compile(expressions, { mode: 'block' }));
    return [{ chains: Int32Array.of(chain), database: databases.length - 1 }];
  });
  const triples = plan.wishes.flatMap(({ targetId, chain, negated }) => [
    targetId,
    chain,
    +negated,
  ]);
  const scanClass: ScanClass = {
    chains: Int32Array.from(plan.chains),
    patterns: Int32Array.from(triples),
    tiers: [{ allowedMask: everything, database: -1, parts }],
    tests: testsOf(plan),
  };
  return new ScanProgram({ nodes: flatNodes(plan), databases, classes: [scanClass] });
}

/** Packs values and scans them; the scan targets of each row, ascending. */
function scanTargetIds(
  program: ScanProgram,
  values: readonly string[],
  capacity = 256,
): number[][] {
  const slab = Buffer.from(values.join(''), 'latin1');
  const rows = new Int32Array(values.length * 3);
  let at = 0;
  values.forEach((value, row) => {
    rows.set([at, at + value.length, 0], row * 3);
    at += value.length;
  });
  let hits = new Int32Array(capacity * 2);
  let count = program.scan(slab, rows, values.length, hits);
  if (count > capacity) {
    hits = new Int32Array(count * 2);
    count = program.scan(slab, rows, values.length, hits);
  }
  const targetIds: number[][] = values.map(() => []);
  for (let i = 0; i < count; i++) targetIds[hits[2 * i + 1] ?? -1]?.push(hits[2 * i] ?? -1);
  return targetIds.map((list) => list.sort((a, b) => a - b));
}

describe('ScanProgram', () => {
  test('agrees with one transformation and one PCRE2 search at a time', () => {
    console.log(`seed ${seed}, ${numRuns} programs`);
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const program = programOf(plan);
        const wanted = plan.values.map((value) => naiveTargetIds(plan, value));
        expect(scanTargetIds(program, plan.values)).toEqual(wanted);
        expect(scanTargetIds(program, plan.values, 1)).toEqual(wanted);
        program.close();
        const parted = partedProgramOf(plan);
        expect(scanTargetIds(parted, plan.values)).toEqual(wanted);
        parted.close();
      }),
      { seed, numRuns },
    );
  });

  const database = HsDatabase.compile([{ pattern: 'a', flags, id: 0 }], { mode: 'block' });
  const minimal = {
    nodes: Int32Array.from([-1, -1]),
    databases: [database],
    classes: [
      {
        chains: Int32Array.from([0]),
        patterns: Int32Array.from([7, 0, 0]),
        tiers: [{ allowedMask: everything, database: 0 }],
        tests: [],
      },
    ],
  };

  function partedBy(part: TierPart): Partial<typeof minimal> {
    const tiers = [{ allowedMask: everything, database: -1, parts: [part] }];
    return { classes: [{ ...minimal.classes[0]!, tiers }] };
  }

  test('keeps a closed database alive and takes slabs over shared memory', () => {
    const other = HsDatabase.compile([{ pattern: 'a', flags, id: 0 }], { mode: 'block' });
    const program = new ScanProgram({ ...minimal, databases: [other] });
    other.close();
    const slab = new Uint8Array(new SharedArrayBuffer(2));
    slab.set([0x62, 0x61]);
    const hits = new Int32Array(4);
    const rows = Int32Array.from([0, 1, 0, 0, 2, 0]);
    expect(program.scan(slab, rows, 2, hits)).toBe(1);
    expect([...hits.slice(0, 2)]).toEqual([7, 1]);
    program.close();
    expect(() => program.scan(slab, rows, 2, hits)).toThrow(/closed/);
  });

  test('notices a detached slab', () => {
    const program = new ScanProgram(minimal);
    const slab = new Uint8Array(1000).fill(0x61);
    const rows = Int32Array.from([0, 1000, 0]);
    const hits = new Int32Array(2);
    expect(program.scan(slab, rows, 1, hits)).toBe(1);
    structuredClone(slab.buffer, { transfer: [slab.buffer] });
    expect(() => program.scan(slab, rows, 1, hits)).toThrow(TypeError);
  });

  test.each([
    ['eq', '7', 7n, true],
    ['eq', ' +07x', 7n, true],
    ['ge', '-3', -3n, true],
    ['lt', '-4', -3n, true],
    ['le', '', 0n, true],
    ['gt', '99999999999999999999', 2n ** 63n - 1n, false],
    ['eq', '99999999999999999999', 2n ** 63n - 1n, true],
    ['eq', '-99999999999999999999', -(2n ** 63n), true],
  ] as const)('compares numbers: %s of %j and %d', (relation, value, operand, wanted) => {
    const tests = [
      { kind: 'number', relation, operand, targetId: 3, chain: 0, negated: false } as const,
    ];
    const scanClass = { ...minimal.classes[0]!, tests: tests.map((t) => ({ ...t, skipMask: 0 })) };
    const program = new ScanProgram({ ...minimal, classes: [scanClass] });
    expect(scanTargetIds(program, [value])).toEqual([wanted ? [3] : []]);
    program.close();
  });

  test.each([
    ['negative start', [-1, 1, 0], 1],
    ['end before start', [2, 1, 0], 1],
    ['end after the slab', [0, 5, 0], 1],
    ['unknown class', [0, 1, 1], 1],
    ['more rows than given', [0, 1, 0], 2],
  ])('refuses a row with %s', (_name, row, count) => {
    const program = new ScanProgram(minimal);
    const scan = (): number =>
      program.scan(new Uint8Array(4), Int32Array.from(row), count, new Int32Array(2));
    expect(scan).toThrow(TypeError);
  });

  test.each([
    ['a parent that comes later', { nodes: Int32Array.from([-1, -1, 1, 1]) }],
    ['an unknown transformation', { nodes: Int32Array.from([-1, -1, 0, 200]) }],
    ['a chain without node', { classes: [{ ...minimal.classes[0], chains: Int32Array.of(5) }] }],
    [
      'a pattern without chain',
      { classes: [{ ...minimal.classes[0], patterns: Int32Array.of(1, 3, 0) }] },
    ],
    [
      'a tier without database',
      { classes: [{ ...minimal.classes[0], tiers: [{ allowedMask: 0, database: 4 }] }] },
    ],
    ['a part without database', partedBy({ chains: Int32Array.of(0), database: 4 })],
    ['a part without chain', partedBy({ chains: Int32Array.of(1), database: 0 })],
  ])('refuses %s', (_name, change) => {
    const spec = { ...minimal, ...change } as typeof minimal;
    expect(() => new ScanProgram(spec)).toThrow(
      expect.objectContaining({ code: 'bad_scan_program' }) as Error,
    );
  });

  test('skips a test within its mask, and fails where transformations do not fit the arena', () => {
    const scanTest = { chain: 0, targetId: 1, negated: false, kind: 'urlEncoding' as const };
    const classes = [
      {
        chains: Int32Array.from([1]),
        patterns: new Int32Array(0),
        tiers: [],
        tests: [{ ...scanTest, skipMask: maskOfClasses('percent', 'lower') }],
      },
    ];
    const nodes = Int32Array.from([-1, -1, 0, transformationIds.hexEncode]);
    const spec = { nodes, databases: [], classes };
    const program = new ScanProgram(spec, { arenaBytesMax: 128 * 1024 });
    expect(scanTargetIds(program, ['%zz', '%z1'])).toEqual([[], []]);
    const long = `%${'z'.repeat(100_000)}!`;
    const full = expect.objectContaining({ code: 'arena_full' }) as Error;
    expect(() => scanTargetIds(program, [long])).toThrow(full);
    expect(program.stats()).toMatchObject({ rows: 3, overflows: 1, skipped: 2, scans: 0 });
    expect(scanTargetIds(program, ['%zz'])).toEqual([[]]);
  });

  test('has 32 byte classes that agree with the masks', () => {
    expect(new Set(byteClassOf).size).toBe(32);
    expect(maskOfValue('aZ0')).toBe(maskOfClasses('lower', 'upper', 'digit'));
    expect(maskOfValue('\xff')).toBe(2 ** 31);
  });
});

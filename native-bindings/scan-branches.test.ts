/** Proves that a value whose outputs do not fit the arena together is scanned as any other. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { maskOfClasses } from './byte-class.ts';
import { HS_FLAG, HsDatabase } from './hyperscan.ts';
import { ScanProgram } from './scan-program.ts';
import type { ScanProgramSpec } from './scan-program.ts';
import { transformationIds } from './transformations.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
const everything = 0xffffffff;
/** Less than the first block of an arena: every value that changes is walked by branches. */
const noArena = { arenaBytesMax: 60_000 };

const patterns = ['a', '^A', '<', '^[a-z]+$', '\\.\\./', "'or", 'b$'];
const flags = HS_FLAG.dotall | HS_FLAG.allowEmpty;
const whole = HsDatabase.compile(
  patterns.map((pattern, id) => ({ pattern, id, flags: flags | HS_FLAG.singleMatch })),
  { mode: 'block' },
);
const lines = HsDatabase.compile(
  patterns.map((pattern, id) => ({ pattern, id, flags: flags | HS_FLAG.multiline })),
  { mode: 'block' },
);
afterAll(() => {
  whole.close();
  lines.close();
});

const names = [
  'lowercase',
  'urlDecodeUni',
  'htmlEntityDecode',
  'removeWhitespace',
  'lowercase',
  'base64Decode',
  'hexEncode',
] as const;

/** Every pattern in every node of the trie; of each second one that it does not match. */
function specOf(parents: readonly number[]): ScanProgramSpec {
  const nodes = [[-1, -1], ...parents.map((parent, i) => [parent, transformationIds[names[i]!]])];
  const chains = nodes.map((_, node) => node);
  const triples = chains.flatMap((chain) =>
    patterns.map((_, id) => [chain * patterns.length + id, chain, id % 2]),
  );
  const owners = chains.map((chain) =>
    Int32Array.from(patterns, (_, id) => chain * patterns.length + id),
  );
  return {
    nodes: Int32Array.from(nodes.flat()),
    databases: [whole, lines],
    owners,
    classes: chains.map((chain) => {
      const scanned = { database: -1, parts: [{ chains: Int32Array.of(chain), database: 0 }] };
      return {
        chains: Int32Array.from(chains),
        patterns: Int32Array.from(triples.flat()),
        owners: chain,
        tiers: [
          { allowedMask: maskOfClasses('lower', 'space'), ...scanned, lines: 1 },
          { allowedMask: everything, ...scanned },
        ],
        tests: [
          { kind: 'sqli', chain, targetId: 900 + chain, negated: chain % 2 === 1, skipMask: 0 },
        ],
      };
    }),
  };
}

function hitsOf(program: ScanProgram, values: readonly string[], classCount: number): string[] {
  const slab = Buffer.from(values.join(''), 'latin1');
  const rows: number[] = [];
  let at = 0;
  for (const { length } of values) {
    for (let id = 0; id < classCount; id++) rows.push(at, at + length, id);
    at += length;
  }
  const hits = new Int32Array(65_536);
  const count = program.scan(slab, Int32Array.from(rows), rows.length / 3, hits);
  expect(2 * count).toBeLessThanOrEqual(hits.length);
  const found = Array.from({ length: count }, (_, i) => `${hits[2 * i]}@${hits[2 * i + 1]}`);
  return [...new Set(found)].sort();
}

function expectSame(parents: readonly number[], values: readonly string[]): void {
  const spec = specOf(parents);
  const programs = [new ScanProgram(spec), new ScanProgram(spec, noArena)];
  const [roomy, narrow] = programs.map((one) => hitsOf(one, values, parents.length + 1));
  expect(narrow).toEqual(roomy);
  for (const program of programs) program.close();
}

const pieces = ['a', 'B', 'YSc=', '&lt;', '%41', '%26lt;', ' ', '../', "1'or'1'='1", 'b'];
const anyValue = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((all) => all.join(''));

test(`random tries (FUZZ_SEED=${seed})`, () => {
  const trie = fc
    .array(fc.nat(), { minLength: 1, maxLength: names.length })
    .map((raw) => raw.map((parent, at) => parent % (at + 1)));
  fc.assert(fc.property(trie, fc.array(anyValue, { minLength: 1, maxLength: 4 }), expectSame), {
    seed,
    numRuns: 500,
  });
});

test('outputs that fill a batch of lines', () => {
  const text = 'lamp and b';
  const spec = specOf([0, 0, 2]);
  const roomy = new ScanProgram(spec);
  const narrow = new ScanProgram(spec, { arenaBytesMax: 2_500_000 });
  const values = [text.repeat(120_000), `${text.toUpperCase().repeat(110_000)}%61&lt;`, 'a'];
  expect(hitsOf(narrow, values, 4)).toEqual(hitsOf(roomy, values, 4));
  narrow.close();
  roomy.close();
});

test('one branch that does not fit fails', () => {
  const spec = specOf([0, 1, 2, 3]);
  const program = new ScanProgram(spec, noArena);
  const full = expect.objectContaining({ code: 'arena_full' }) as Error;
  expect(() => hitsOf(program, ['A'.repeat(100_000)], 5)).toThrow(full);
  expect(program.stats().overflows).toBe(1);
  expect(hitsOf(program, ['a'], 5)).toContain('0@0');
  program.close();
});

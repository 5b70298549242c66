/** Proves that RE2 and PCRE2 agree wherever compileExact picks RE2. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Pcre } from '../../native-bindings/index.ts';
import { crsPatterns, valueNear } from './crs-patterns.test-support.ts';
import { compileExact } from './regex.ts';

/** Fails with a readable pair when both engines do not give the same captures. */
function agreement(pattern: string, caseless: boolean): { check(v: string): void; close(): void } {
  const ours = compileExact(pattern, { caseless });
  const theirs = new Pcre(pattern, { caseless, dotall: true, dollarEndOnly: true });
  const check = (value: string): void => {
    const pairs = theirs.exec(value);
    if (typeof pairs === 'number') return;
    const found = ours.exec(value);
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

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 20);
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);

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
});

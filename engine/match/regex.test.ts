/** Proves that RE2 and PCRE2 agree wherever compileExact picks RE2. */
import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Pcre } from '../../native-bindings/index.ts';
import { compileExact } from './regex.ts';

const crsFolders = [
  join(process.env['WAF_CORPUS_DIR'] ?? join(process.cwd(), '..', 'shared'), 'crs/4.28.0/rules'),
  '/usr/share/modsecurity-crs/rules',
];

/** The @rx arguments of every rule file, quotes unescaped. */
function crsPatterns(): string[] {
  const found = new Set<string>();
  for (const folder of crsFolders.filter((name) => existsSync(name))) {
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.conf'))) {
      const text = readFileSync(join(folder, file), 'latin1').replace(/\\\n\s*/g, '');
      for (const line of text.split('\n')) {
        if (!line.trimStart().startsWith('SecRule')) continue;
        const rule = /"!?@rx ((?:[^"\\]|\\[\s\S])*)"/.exec(line);
        if (rule?.[1] !== undefined && !rule[1].includes('%{')) {
          found.add(rule[1].replaceAll('\\"', '"'));
        }
      }
    }
  }
  return [...found];
}

/** Values that share many bytes with the pattern, so that matches and near misses are common. */
function valueNear(pattern: string): fc.Arbitrary<string> {
  const words = pattern.split(/[^0-9A-Za-z_]+/).filter((word) => word !== '');
  const marks = [...pattern].filter((c) => !/[\w]/.test(c));
  const byte = fc.integer({ min: 0, max: 255 }).map((c) => String.fromCharCode(c));
  const part = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...words, 'a', 'select', '0') },
    { weight: 3, arbitrary: fc.constantFrom(...marks, ' ', '\n', '\x0b', '\x85', '\xa0', '\xe9') },
    { weight: 1, arbitrary: byte },
  );
  const cased = fc.tuple(part, fc.boolean()).map(([text, up]) => (up ? text.toUpperCase() : text));
  return fc
    .array(cased, { maxLength: 12 })
    .map((parts) => parts.join(''))
    .map((text) => text.replace(/[^\0-\xff]/g, 'x'));
}

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

/** Compares which configurations load with ModSecurity's own regression cases. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fullCatalog } from '../features/full-catalog.ts';
import { formatDiagnostic } from '../language/diagnostic.ts';
import { loadSourceSet, type SourceFile } from '../language/include.ts';
import { buildProgram, closeProgram } from './build-program.ts';

const root = process.env['WAF_CORPUS_DIR'] ?? join(import.meta.dirname, '../../../../shared');
const corpus = join(root, 'corpus/modsec-regression.jsonl');

interface Case {
  readonly title: string;
  readonly rules: string;
  readonly needs?: readonly string[];
  readonly expected: { readonly parser_error?: string };
}

/** Not loaded here although ModSecurity loads them, each with the reason. */
const deviations: Readonly<Record<string, string>> = {
  'operator-rx#3': 'an invalid expression is an error when rules are loaded, not at each match',
};

/** What a diagnostic says where a rule set asks for what this product does not do. */
const outOfScope = /unsupported|refused|scripts are not run|not downloaded/;

function readLines(path: string): unknown[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

function readData(): SourceFile[] {
  const path = join(root, 'corpus/modsec-regression-data.jsonl');
  return (readLines(path) as { path: string; content_b64: string }[]).map((file) => ({
    path: file.path,
    text: Buffer.from(file.content_b64, 'base64').toString('latin1'),
  }));
}

describe.skipIf(!existsSync(corpus))('ModSecurity regression cases (skipped: no corpus)', () => {
  it('load, or fail to load, as ModSecurity says', () => {
    const data = readData();
    const find = (pattern: string): SourceFile[] => {
      const escaped = pattern.replace(/[.+?()[\]\\|^$]/g, '\\$&').replaceAll('*', '.*');
      const expression = new RegExp(`^(?:.*/)?${escaped}$`);
      return data.filter((file) => expression.test(file.path));
    };
    const cases = readLines(corpus) as Case[];
    const wrong: string[] = [];
    const skipped: string[] = [];
    for (const { title, rules, needs = [], expected } of cases) {
      const text = Buffer.from(rules, 'utf8').toString('latin1');
      const set = loadSourceSet([{ path: 'case.conf', text }], find);
      const result = buildProgram(set, fullCatalog, (name) => find(name)[0]?.text ?? null);
      const shown = result.diagnostics
        .filter((diagnostic) => diagnostic.severity === 'error')
        .map(formatDiagnostic);
      if (result.program !== null) closeProgram(result.program);
      if ((result.program === null) === (expected.parser_error !== undefined)) continue;
      const isSkipped =
        deviations[title] !== undefined ||
        shown.some((line) => outOfScope.test(line)) ||
        (needs.includes('file') && rules.includes('https://'));
      (isSkipped ? skipped : wrong).push(`${title}: ${shown.join('; ')}`);
    }
    console.log(`${cases.length} cases, ${skipped.length} out of scope`);
    expect(wrong).toEqual([]);
    expect(skipped.length).toBeLessThan(cases.length / 15);
  });
});

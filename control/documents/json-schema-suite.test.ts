/**
 * Runs the cases of the JSON Schema test suite through compiled checks: whatever is reported as
 * compiled has to agree with the suite on every value; what is not compiled is counted by keyword.
 */

import { expect, test } from 'vitest';
import { Re2 } from '../../native-bindings/re2/re2.ts';
import { loadChecks, type ApiCheck } from '../../engine/base/check-code.ts';
import { checkBothSides } from '../../engine/base/number-reading.ts';
import { readCorpus } from '../../test/seclang/corpus.ts';
import { SchemaCompiler } from './schema-compiler.ts';
import type { Dialect } from './schema-keywords.ts';

interface Group {
  readonly title: string;
  readonly draft: 'draft4' | 'draft7' | 'draft2020-12';
  readonly file: string;
  readonly optional: boolean;
  readonly schema: unknown;
  readonly tests: readonly { description: string; data: unknown; valid: boolean }[];
}

const dialects: Readonly<Record<Group['draft'], Dialect>> = {
  draft4: 'draft4',
  draft7: 'draft7',
  'draft2020-12': '2020-12',
};
const corpus = readCorpus<Group>('json-schema.jsonl');
const groups = (corpus ?? [])
  // 1.0 and 1 are one number for whoever reads JSON with JavaScript.
  .filter(({ file }) => !file.endsWith('zeroTerminatedFloats.json'));

test.skipIf(corpus === null)('what is reported as compiled agrees with the suite', () => {
  const left = new Map<string, number>();
  const wrong: string[] = [];
  const count = { groups: 0, values: 0, leftGroups: 0 };
  for (const { title, draft, file, optional, schema, tests } of groups) {
    // The suite asserts formats in its optional part only.
    const formats = optional || draft === 'draft7' || draft === 'draft4';
    const compiler = new SchemaCompiler(schema, {
      dialect: dialects[draft],
      openApi: false,
      formats,
    });
    const { check, faults } = compiler.add(schema, '');
    if (faults.length > 0) {
      count.leftGroups++;
      for (const one of new Set(faults.map(({ keyword }) => keyword || 'whole'))) {
        left.set(`${draft} ${one}`, (left.get(`${draft} ${one}`) ?? 0) + 1);
      }
    } else count.groups++;
    let run: ApiCheck | undefined;
    try {
      run = loadChecks(compiler.code(), (source) => new Re2(source, 'text'))[check ?? -1];
    } catch (error) {
      wrong.push(`${title}: ${String(error)}`);
      continue;
    }
    for (const { description, data, valid } of tests) {
      count.values++;
      // As values are checked in the engine: what was read before has no effect.
      const found = checkBothSides(() => (run === undefined || run(data) ? null : false)) === null;
      // A check that was compiled in part accepts more, never less.
      if (faults.length > 0 ? valid && !found : found !== valid) {
        wrong.push(`${title} (${file}): ${description}: ${found} instead of ${valid}`);
      }
    }
  }
  const byKeyword = [...left].map(([keyword, many]) => `${keyword} ${many}`).sort();
  console.log(JSON.stringify(count), byKeyword.join(', '));
  expect(wrong).toEqual([]);
  expect(count.groups).toBeGreaterThan(600);
});

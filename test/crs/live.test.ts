/**
 * CRS's own regression tests through the live proxy, as `waf crs test` runs them: all must pass.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { compileAlone } from '../support/databases.ts';
import { missingBuild, root, runWaf } from '../support/product.ts';

const shared = process.env['WAF_CORPUS_DIR'] ?? resolve(root, '..', 'shared');
const folder = mkdtempSync(join(tmpdir(), 'waf-crs-live-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `refused`: tests where the front's own recorded 400 stands for the rule; no other may. */
const suites = [
  { name: 'CRS 3.3.4', corpus: 'crs334-regression.jsonl', ruleset: 'crs-3.3.4', refused: [] },
  {
    name: 'CRS 4.28.0',
    corpus: 'crs4-regression.jsonl',
    ruleset: join(shared, 'crs', '4.28.0'),
    refused: [
      '920100-4 connect_method',
      '920181-1 content_length_and_transfer_encoding',
      '920620-1 content_type_twice',
    ],
  },
];

/** A first run compiles the rule databases of paranoia level 4. */
const timeoutMs = 15 * 60_000;

interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly tests: readonly {
    readonly title: string;
    readonly result: string;
    readonly reasons: readonly string[];
    readonly refusal: string | null;
  }[];
}

const reportOf = async (
  { name, corpus, ruleset }: (typeof suites)[number],
  options: readonly string[],
): Promise<{ report: Report; stdout: string }> => {
  const file = join(folder, `${corpus}${options.join('')}.json`);
  const path = join(shared, 'corpus', corpus);
  const line = ['crs', 'test', path, '--ruleset', ruleset, '--report', file, ...options];
  const { stdout, stderr } = await compileAlone(`${name} level 4`, () => runWaf(line));
  expect(existsSync(file), stderr).toBe(true);
  return { report: JSON.parse(readFileSync(file, 'utf8')) as Report, stdout };
};

describe.each(suites)('$name', (suite) => {
  const { corpus, refused } = suite;
  const path = join(shared, 'corpus', corpus);
  const missing = missingBuild ?? (existsSync(path) ? null : 'skipped: no corpus');
  if (missing !== null) console.log(`${missing} (${corpus})`);

  test.skipIf(missing !== null)(
    'every test passes',
    async () => {
      const { report, stdout } = await reportOf(suite, []);
      const titles = readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => (JSON.parse(line) as { title: string }).title);
      expect(report.tests.filter((one) => one.result !== 'pass')).toEqual([]);
      expect(report.passed).toBe(new Set(titles).size);
      const seen = report.tests.filter(({ refusal }) => refusal !== null);
      expect(seen.map(({ title, refusal }) => `${title} ${refusal}`).toSorted()).toEqual(refused);
      expect(stdout.trimEnd().split('\n').at(-1)).toBe(
        `${report.passed} passed, 0 failed, 0 skipped`,
      );
    },
    timeoutMs,
  );

  test.skipIf(missing !== null)(
    'through uWebSockets.js, every test passes but those listed with their reason',
    async () => {
      const options = ['--listener', 'uws', '--workers', '2', '--lanes', '16', '--timeout', '2500'];
      const { report } = await reportOf(suite, options);
      const { always, racy } = deviationsOf(suite.name);
      const failed = report.tests.filter(({ result }) => result !== 'pass');
      const titles = failed.map(({ title }) => title).filter((title) => !racy.includes(title));
      expect(titles.toSorted()).toEqual(always);
    },
    timeoutMs,
  );
});

interface Deviation {
  readonly suite: string;
  readonly reason: string;
  readonly tests: readonly string[];
  /** They fail or pass as packets happen to arrive. */
  readonly racy?: boolean;
}

/** Titles of the tests that uWebSockets.js cannot pass, in `uws-deviations.jsonl`. */
function deviationsOf(suite: string): { always: string[]; racy: string[] } {
  const text = readFileSync(join(root, 'test/crs/uws-deviations.jsonl'), 'utf8').trim();
  const rows = text
    .split('\n')
    .map((line) => JSON.parse(line) as Deviation)
    .filter((row) => row.suite === suite && row.reason !== '');
  const titles = (wanted: boolean): string[] =>
    rows.filter(({ racy = false }) => racy === wanted).flatMap(({ tests }) => tests);
  return { always: titles(false).toSorted(), racy: titles(true) };
}

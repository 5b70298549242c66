/**
 * `waf policy import` judges once: what the compiler or the policy would refuse is refused in the
 * report, at its place in the operator's own file, and the rest becomes a policy.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';
import { importFaults, type ImportFault } from './import-faults-table.ts';

if (missingBuild !== null) console.log(missingBuild);

interface Entry {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly fate: string;
  readonly note: string;
}

const mark = '§';
const rows = importFaults.map((fault, at) => ({
  ...fault,
  file: `fault-${String(at).padStart(2, '0')}.conf`,
  content: `# ${fault.name}\n\n${fault.text.replaceAll('%ID', String(20_000 + at))}\n`,
}));

function placeOf(content: string): { line: number; column: number } {
  const before = content.slice(0, content.indexOf(mark)).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

describe.skipIf(missingBuild !== null)('waf policy import', () => {
  let product: Product;
  let folder = '';
  let report: readonly Entry[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'waf-judged-'));
    writeFileSync(path.join(folder, 'modsecurity.conf'), 'SecRuleEngine On\n');
    writeFileSync(path.join(folder, 'names.data'), 'no address\n');
    const good = 'SecRule ARGS:good "@streq yes" "id:19999,phase:2,deny,status:418"\n';
    writeFileSync(path.join(folder, 'good.conf'), good);
    for (const { file, content } of rows) {
      writeFileSync(path.join(folder, file), content.replace(mark, ''));
    }
    product = await borrowProduct('--no-demo');
    const line = ['policy', 'import', folder, '--name', 'judged', '--output', 'json'];
    const made = product.waf(...line, '--partial', '--no-wait');
    if (made.code !== 0) throw new Error(made.stderr);
    report = (JSON.parse(made.stdout) as { directives: Entry[] }).directives;
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(rows)(
    'refuses $name at its place',
    ({ file, content, note }: ImportFault & (typeof rows)[number]) => {
      const lost = report.filter((entry) => entry.file === file && entry.fate === 'refused');
      const at = placeOf(content);
      expect(lost.map(({ line, column }) => ({ line, column }))).toContainEqual(at);
      const found = lost.find(({ line, column }) => line === at.line && column === at.column);
      expect(found?.note).toMatch(note);
    },
  );

  test('makes the rest with --partial', { timeout: 300_000 }, async () => {
    expect(report.filter(({ file }) => file === 'good.conf')).toMatchObject([{ fate: 'honored' }]);
    await eventually(() => {
      const { stdout } = product.waf('policy', 'test', 'judged', '--url', '/?good=yes');
      return stdout.includes('blocked, status 418');
    });
  });

  test('makes nothing without it, and says how many directives are refused', () => {
    const { code, stderr } = product.waf('policy', 'import', folder, '--name', 'none');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/\d+ directives are refused/)]);
    expect(product.waf('policy', 'list').stdout).not.toContain('none');
  });
});

/** What `waf seclang test` says of files that it cannot run. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { missingBuild, root } from '../support/product.ts';

const script = path.join(root, '.build', 'engine', 'simulate', 'seclang-test.js');
const folder = mkdtempSync(path.join(tmpdir(), 'seclang-'));
const row = { kind: 'operator', name: 'rx', title: 'a', param: 'a', input_b64: 'YQ==', ret: 1 };

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(text: string | null): { status: number | null; last: string; said: string } {
  const file = path.join(folder, 'cases.jsonl');
  if (text !== null) writeFileSync(file, text);
  const target = text === null ? folder : file;
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, target], {
    encoding: 'utf8',
  });
  return { status, last: stdout.trim().split('\n').at(-1) ?? '', said: stderr };
}

describe.skipIf(missingBuild !== null)('waf seclang test', () => {
  test('counts what it ran', () => {
    const wrong = { ...row, title: 'b', ret: 0 };
    expect(run(`${JSON.stringify(row)}\n`)).toMatchObject({
      status: 0,
      last: '1 passed, 0 failed, 0 skipped',
    });
    expect(run(`\uFEFF${JSON.stringify(row)}\r\n`).last).toBe('1 passed, 0 failed, 0 skipped');
    expect(run(`${JSON.stringify(row)}\n${JSON.stringify(wrong)}\n`)).toMatchObject({
      status: 1,
      last: '1 passed, 1 failed, 0 skipped',
    });
  });

  test.each([
    ['', 'holds no cases'],
    ['\n\n', 'holds no cases'],
    [`${JSON.stringify(row)}\n{broken\n`, 'cases.jsonl:2: not a JSON object on one line'],
    ['[]\n', 'cases.jsonl:1: expected a unit row'],
    ['{"title":"x"}\n', 'cases.jsonl:1: expected a unit row'],
    [`${JSON.stringify({ ...row, input_b64: 5 })}\n`, 'cases.jsonl:1: input_b64 must be a text'],
    ['{"title":"x","request":null}\n', 'cases.jsonl:1: rules must be a text'],
    [null, 'is a folder'],
  ])('refuses %j', (text, message) => {
    const { status, said } = run(text);
    expect(status).toBe(2);
    expect(said).toContain(message);
    expect(said.trim().split('\n')).toHaveLength(1);
  });
});

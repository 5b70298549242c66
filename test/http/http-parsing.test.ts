/**
 * Runs the HTTP parsing corpus (llhttp, gunicorn, request smuggling) against the strict parsers.
 * Every case in which we differ from the verdict is listed below by kind, with the reason.
 */

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { judge, type ParsingCase } from './judge.ts';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const folder = process.env['WAF_CORPUS_DIR'] ?? path.resolve(root, '../shared/corpus');
const file = path.join(folder, 'http-parsing.jsonl');

test('http parsing corpus', () => {
  if (!existsSync(file)) {
    console.log('skipped: no corpus (http-parsing.jsonl), 1 suite');
    return;
  }
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const cases = lines.map((line) => JSON.parse(line) as ParsingCase);
  const tally: Record<string, number> = { passed: 0, explained: 0, skipped: 0, failed: 0 };
  const notes: string[] = [];
  const failures: string[] = [];
  for (const item of cases) {
    const judged = judge(item);
    tally[judged.result] = (tally[judged.result] ?? 0) + 1;
    if (judged.result === 'failed') failures.push(`${item.title}: ${judged.reason}`);
    else if (judged.result !== 'passed')
      notes.push(`${judged.result}: ${item.title}: ${judged.reason}`);
  }
  console.log(notes.join('\n'));
  console.log(`http-parsing: ${JSON.stringify(tally)} of ${cases.length}`);
  const sum = Object.values(tally).reduce((total, count) => total + count, 0);
  expect(sum).toBe(cases.length);
  expect(failures).toEqual([]);
});

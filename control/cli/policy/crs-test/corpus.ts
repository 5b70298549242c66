/** Reads a JSONL corpus: one line a stage, stages of one case share the title. */

import { readFileSync } from 'node:fs';
import { AppError } from '../../../../base/errors.ts';
import {
  numberList,
  recordOf,
  textOrNull,
  type Expectation,
  type Stage,
  type TestCase,
} from './case.ts';

/** Reads a corpus file. Errors: AppError bad_corpus with the line's number. */
export function readCorpus(path: string): TestCase[] {
  const cases = new Map<string, { family: string; stages: (Stage & { order: number })[] }>();
  const lines = readFileSync(path, 'utf8')
    .replace(/^\uFEFF/, '')
    .split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const row = parseLine(line, path, index + 1);
    const title = textOrNull(row['title']);
    const wire = textOrNull(row['wire_b64']);
    if (title === null || wire === null) {
      throw badCorpus(path, index + 1, 'title and wire_b64 are needed');
    }
    const found = cases.get(title) ?? { family: textOrNull(row['family']) ?? '', stages: [] };
    found.stages.push({
      wire: Buffer.from(wire, 'base64'),
      expect: readExpectation(recordOf(row['expect'])),
      order: Number(row['stage'] ?? found.stages.length + 1),
    });
    cases.set(title, found);
  }
  return [...cases].map(([title, { family, stages }]) => ({
    title,
    family,
    stages: stages.toSorted((a, b) => a.order - b.order),
    skip: null,
  }));
}

function readExpectation(expect: Readonly<Record<string, unknown>>): Expectation {
  return {
    ids: numberList(expect['expect_ids']),
    noIds: numberList(expect['no_expect_ids']),
    noIdsAtAll: expect['expect_no_ids_at_all'] === true,
    statuses: numberList(expect['status']),
    error: expect['expect_error'] === true,
    logRegex: textOrNull(expect['log_regex']),
    noLogRegex: textOrNull(expect['no_log_regex']),
    retryOnce: expect['retry_once'] === true,
  };
}

function parseLine(line: string, path: string, number: number): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(line));
  } catch {
    throw badCorpus(path, number, 'no JSON');
  }
}

function badCorpus(path: string, line: number, why: string): AppError {
  return new AppError('bad_corpus', `${path}:${line}: ${why}`, { source: 'config' });
}

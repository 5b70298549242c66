/**
 * Reads a folder of go-ftw YAML tests, both the form of CRS 3 (`stage:`, `log_contains`) and that
 * of CRS 4 (`log: expect_ids`).
 */

import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../../../base/errors.ts';
import {
  noExpectation,
  numberList,
  recordOf,
  scalarText,
  textOrNull,
  type Expectation,
  type Stage,
  type TestCase,
} from './case.ts';
import { readYaml } from '../../../documents/yaml-text.ts';
import { renderWire } from './ftw-request.ts';

/** Reads every `.yaml` and `.yml` below `folder`, or one file. Errors: AppError bad_test_file. */
export function readFtw(path: string): TestCase[] {
  return yamlFiles(path).flatMap(readFile);
}

function yamlFiles(path: string): string[] {
  if (/\.ya?ml$/.test(path)) return [path];
  return readdirSync(path, { withFileTypes: true })
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
    .flatMap((entry) => {
      const child = join(path, entry.name);
      if (entry.isDirectory()) return yamlFiles(child);
      return /\.ya?ml$/.test(entry.name) ? [child] : [];
    });
}

function readFile(path: string): TestCase[] {
  const file = recordOf(readDocument(path));
  const meta = recordOf(file['meta']);
  const tests = Array.isArray(file['tests']) ? (file['tests'] as unknown[]) : [];
  const family = basename(dirname(path));
  return tests.map(recordOf).map((test) => {
    const rule = scalarText(file['rule_id']) || basename(path).replace(/\.ya?ml$/, '');
    const title = textOrNull(test['test_title']) ?? `${rule}-${scalarText(test['test_id'])}`;
    requireStages(test['stages'], `${path}: test ${title}`);
    return toCase(title, family, test, test['enabled'] ?? meta['enabled']);
  });
}

function readDocument(path: string): unknown {
  try {
    return readYaml(readFileSync(path, 'utf8'), path)[0]?.value;
  } catch (cause) {
    if (cause instanceof AppError) throw badTestFile(cause.message, cause);
    throw badTestFile(`${path}: the file cannot be read`, cause);
  }
}

/** A stage that sends or expects nothing would pass whatever happens. Errors: bad_test_file. */
function requireStages(stages: unknown, place: string): void {
  if (stages === undefined || stages === null) return;
  if (!Array.isArray(stages)) throw badTestFile(`${place}: stages must be a list`);
  for (const [index, entry] of (stages as unknown[]).entries()) {
    const stage = recordOf(entry)['stage'] ?? entry;
    for (const part of ['input', 'output']) {
      const value = recordOf(stage)[part];
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) continue;
      throw badTestFile(`${place}: stage ${index + 1}: ${part} must be a mapping`);
    }
  }
}

function badTestFile(message: string, cause?: unknown): AppError {
  return new AppError('bad_test_file', message, { source: 'config', cause });
}

function toCase(
  title: string,
  family: string,
  test: Readonly<Record<string, unknown>>,
  enabled: unknown,
): TestCase {
  const raw = Array.isArray(test['stages']) ? (test['stages'] as unknown[]) : [];
  const stages: Stage[] = [];
  let skip = enabled === false ? 'disabled in its file' : null;
  for (const entry of raw.map(recordOf)) {
    const stage = entry['stage'] === undefined ? entry : recordOf(entry['stage']);
    const wire = renderWire(recordOf(stage['input']));
    if (wire.problem !== null) skip ??= wire.problem;
    else stages.push({ wire: wire.bytes, expect: readOutput(recordOf(stage['output'])) });
  }
  return { title, family, stages, skip: stages.length === 0 ? (skip ?? 'no stages') : skip };
}

function readOutput(output: Readonly<Record<string, unknown>>): Expectation {
  const log = recordOf(output['log']);
  const contains = textOrNull(output['log_contains']);
  const lacks = textOrNull(output['no_log_contains']);
  const idsIn = idsNamed(contains);
  const idsOut = idsNamed(lacks);
  return {
    ...noExpectation,
    ids: [...numberList(log['expect_ids']), ...idsIn],
    noIds: [...numberList(log['no_expect_ids']), ...idsOut],
    noIdsAtAll: Array.isArray(log['expect_ids']) && log['expect_ids'].length === 0,
    statuses: numberList(output['status']),
    error: output['expect_error'] === true,
    logRegex: textOrNull(log['match_regex']) ?? (idsIn.length === 0 ? contains : null),
    noLogRegex: textOrNull(log['no_match_regex']) ?? (idsOut.length === 0 ? lacks : null),
    retryOnce: output['retry_once'] === true,
  };
}

/** The rule ids of a `log_contains` such as `id "920100"`; none when it looks for other text. */
function idsNamed(text: string | null): number[] {
  const match = /^\s*\[?id "(\d+)"\]?\s*$/.exec(text ?? '');
  return match === null ? [] : [Number(match[1])];
}

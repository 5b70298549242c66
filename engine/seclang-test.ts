/**
 * The program behind `waf seclang test`: runs a JSONL file of unit rows or of libmodsecurity's
 * regression cases and prints a table, every failure, and the closing line. Composition only.
 */

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from './base/errors.ts';
import { fullCatalog } from './rules/catalog/full-catalog.ts';
import { runModsecCase, type ModsecCase } from './rules/oracle/conformance/modsec-case.ts';
import { runUnitRow, type UnitRow } from './rules/oracle/conformance/unit-table.ts';

interface Result {
  readonly title: string;
  readonly family: string;
  readonly result: 'pass' | 'fail' | 'skip';
  readonly detail: string;
}

const [file = '', flag, reportFile] = process.argv.slice(2);
try {
  const results = runFile(file);
  if (flag === '--report' && reportFile !== undefined) {
    writeFileSync(reportFile, JSON.stringify(results, null, 1) + '\n');
  }
  process.exitCode = print(results);
} catch (thrown) {
  if (!(thrown instanceof AppError)) throw thrown;
  process.stderr.write(`waf: ${thrown.message}\n`);
  process.exitCode = 2;
}

/** Errors: `bad_test_file` for what is no file of cases. */
function runFile(path: string): Result[] {
  const rows = readRows(path);
  if (rows.length === 0) throw badFile(`${path} holds no cases`);
  const beside = path.replace(/\.jsonl$/, '-data.jsonl');
  const data = existsSync(beside) ? beside : join(dirname(path), 'modsec-regression-data.jsonl');
  const files = new Map(
    readRows(data, true).map((row) => [
      String(row['path']),
      Buffer.from(String(row['content_b64']), 'base64').toString('latin1'),
    ]),
  );
  return rows.map((row) => {
    const title = String(row['title']);
    if (row['kind'] === 'transformation' || row['kind'] === 'operator') {
      const unit = row as unknown as UnitRow;
      const { result, detail } = runUnitRow(unit, fullCatalog);
      return { title, family: `${unit.kind} ${unit.name}`, result, detail };
    }
    const { result, detail } = runModsecCase(row as unknown as ModsecCase, fullCatalog, files);
    return { title, family: String(row['file']), result, detail };
  });
}

/** Rows of a JSONL file; none when it is missing and may be. */
function readRows(path: string, mayMiss = false): Record<string, unknown>[] {
  if (!existsSync(path)) {
    if (mayMiss) return [];
    throw badFile(`${path} does not exist`);
  }
  if (!statSync(path).isFile()) throw badFile(`${path} is a folder; name a JSONL file of cases`);
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line, index) =>
    line.trim() === '' ? [] : [readRow(line, `${path}:${index + 1}`, mayMiss)],
  );
}

/** One row, which must be of a kind that can be run, or a data file (`isData`). */
function readRow(line: string, place: string, isData: boolean): Record<string, unknown> {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (cause) {
    throw badFile(`${place}: not a JSON object on one line`, cause);
  }
  const has = (...names: string[]): boolean =>
    typeof row === 'object' && row !== null && names.every((name) => name in row);
  if (isData ? has('path', 'content_b64') : has('kind', 'name', 'title', 'ret', 'input_b64')) {
    return row as Record<string, unknown>;
  }
  if (!isData && has('title', 'rules', 'request', 'response', 'client', 'server', 'expected')) {
    return row as Record<string, unknown>;
  }
  const wanted = isData
    ? 'path and content_b64'
    : 'a unit row (kind, name, title, input_b64, ret) or a regression case ' +
      '(title, rules, client, server, request, response, expected)';
  throw badFile(`${place}: expected ${wanted}`);
}

function badFile(message: string, cause?: unknown): AppError {
  return new AppError('bad_test_file', message, { source: 'config', cause });
}

/** Prints everything; returns the exit code. */
function print(results: readonly Result[]): number {
  const families = new Map<string, { pass: number; fail: number; skip: number }>();
  for (const { family, result } of results) {
    const counts = families.get(family) ?? { pass: 0, fail: 0, skip: 0 };
    counts[result]++;
    families.set(family, counts);
  }
  const lines = [...families].map(([family, { pass, fail, skip }]) =>
    [family.padEnd(40), pass, fail, skip].map((cell) => String(cell).padStart(7)).join(' '),
  );
  const count = (wanted: Result['result']): number =>
    results.filter(({ result }) => result === wanted).length;
  const reasons = results
    .filter(({ result }) => result !== 'pass')
    .map(
      ({ title, result, detail }) =>
        `${result === 'skip' ? 'skipped' : 'FAILED'} ${title}: ${detail.replace(`${title}: `, '')}`,
    );
  const head = `${'FAMILY'.padEnd(40)}  PASSED  FAILED SKIPPED`;
  const closing = `${count('pass')} passed, ${count('fail')} failed, ${count('skip')} skipped`;
  process.stdout.write([head, ...lines, ...reasons, closing].join('\n') + '\n');
  return count('fail') === 0 ? 0 : 1;
}

/**
 * The program of `waf seclang test`: runs a JSONL file of unit rows or of libmodsecurity's
 * regression cases and prints a table, every failure, and the closing line. Composition only.
 */

import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { fullCatalog } from '../rules/features/full-catalog.ts';
import { runModsecCase, type ModsecCase } from '../rules/oracle/conformance/modsec-case.ts';
import { runUnitRow, type UnitRow } from '../rules/oracle/conformance/unit-table.ts';
import { badFile, readRows, type Row } from './seclang-cases.ts';

interface Result {
  readonly title: string;
  readonly family: string;
  readonly result: 'pass' | 'fail' | 'skip';
  readonly detail: string;
}

const [file = '', flag, reportFile] = process.argv.slice(2);
try {
  const results = runFile(file);
  if (flag === '--report' && reportFile !== undefined) writeReport(reportFile, results);
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
  return rows.map((row) => runRow(row, files));
}

function runRow(row: Row, files: ReadonlyMap<string, string>): Result {
  const title = String(row['title']);
  if ('input_b64' in row) {
    const unit = row as unknown as UnitRow;
    const { result, detail } = runUnitRow(unit, fullCatalog);
    return { title, family: `${unit.kind} ${unit.name}`, result, detail };
  }
  const { result, detail } = runModsecCase(row as unknown as ModsecCase, fullCatalog, files);
  return { title, family: String(row['file']), result, detail };
}

/** Errors: `report_unwritable`, when everything has run: the results are printed before. */
function writeReport(path: string, results: readonly Result[]): void {
  try {
    writeFileSync(path, JSON.stringify(results, null, 1) + '\n');
  } catch (cause) {
    print(results);
    const { code = '' } = cause as NodeJS.ErrnoException;
    const message = `--report: ${path} cannot be written (${code})`;
    throw new AppError('report_unwritable', message, { source: 'config', cause });
  }
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

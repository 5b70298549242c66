/** `waf crs test`: a rule set's own regression tests through a live proxy. */

import { existsSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import { createProgressView } from '../../supervisor/progress.ts';
import { switchFlag, textFlag, type CommandContext, type CommandDefinition } from '../command.ts';
import type { TestCase } from './crs-test/case.ts';
import { closingLine, familyTable, type RunReport } from './crs-test/summary.ts';
import { readCount } from '../paging.ts';
import { inspectionFlag, listenerFlag } from '../process/engine-flags.ts';

/** The command. */
export const crsTestCommand: CommandDefinition = {
  path: ['crs', 'test'],
  summary: "Run a rule set's regression tests through a live proxy",
  help: `Reads a corpus (JSONL) or a file or folder of go-ftw YAML tests, starts an engine and a
reflecting origin, sends every request as raw bytes and compares the rules that matched. Settings
are those that CRS's tests assume: detection only, paranoia 4, response bodies read, low argument
limits. A recorded 400 of the proxy itself may stand for a rule: such cases are counted and listed.

The last line is "N passed, N failed, N skipped"; exit code 1 when a case failed.`,
  arguments: [{ name: '<file-or-folder>', summary: 'tests' }],
  flags: [
    {
      flags: '--ruleset <name-or-dir>',
      summary: 'crs-3.3.4 (built in) or a folder that holds rules/',
      default: 'crs-3.3.4',
    },
    { flags: '--policy <file>', summary: 'documents to run under instead (Policy and Site)' },
    { flags: '--paranoia <level>', summary: 'paranoia level', default: '4' },
    { flags: '--blocking', summary: 'block instead of detecting only' },
    { flags: '--only <text>', summary: 'only cases whose title or family contains the text' },
    { flags: '--lanes <n>', summary: 'connections at a time', default: '8' },
    { flags: '--timeout <ms>', summary: 'longest wait for an answer', default: '5000' },
    { flags: '--report <file>', summary: 'write results as JSON' },
    inspectionFlag,
    listenerFlag,
    { flags: '--workers <n>', summary: 'front threads', default: '1' },
  ],
  run: async (context, [path = ''], flags) => {
    const only = textFlag(flags, 'only') ?? '';
    const all = await readCases(resolve(path));
    const cases = all.filter(({ title, family }) => title.includes(only) || family.includes(only));
    if (cases.length === 0) {
      throw new AppError('no_tests', `${path} holds no tests`, { source: 'config' });
    }
    const inspection = textFlag(flags, 'inspection');
    const policyFile = textFlag(flags, 'policy');
    const { runAgainstEngine } = await import('./crs-test/session.ts');
    const report = await runAgainstEngine(cases, {
      packageFolder: context.packageFolder,
      ruleset: textFlag(flags, 'ruleset') ?? '',
      policyFile: policyFile === undefined ? undefined : resolve(policyFile),
      paranoia: readCount(flags, 'paranoia', '--paranoia'),
      blocking: switchFlag(flags, 'blocking'),
      lanes: readCount(flags, 'lanes', '--lanes'),
      timeoutMs: readCount(flags, 'timeout', '--timeout'),
      engineArgs: [
        ['--workers', String(readCount(flags, 'workers', '--workers'))],
        inspection === undefined ? [] : ['--inspection', inspection],
      ].flat(),
      listener: textFlag(flags, 'listener') === 'uws' ? 'uws' : 'strict',
      logLevel: context.options.logLevel === 'info' ? 'warn' : context.options.logLevel,
      progress: createProgressView({
        isTty: process.stderr.isTTY,
        columns: process.stderr.columns ?? 80,
        write: (text) => process.stderr.write(text),
      }),
    });
    return show(context, report, textFlag(flags, 'report'));
  },
};

async function readCases(path: string): Promise<TestCase[]> {
  if (!existsSync(path)) {
    throw new AppError('no_tests', `${path} does not exist`, { source: 'config' });
  }
  if (statSync(path).isDirectory() || /\.ya?ml$/.test(path)) {
    return (await import('./crs-test/ftw.ts')).readFtw(path);
  }
  return (await import('./crs-test/corpus.ts')).readCorpus(path);
}

function show({ output }: CommandContext, report: RunReport, file: string | undefined): number {
  const unwritten = file === undefined ? null : writeReport(file, report);
  output.result(report, familyTable(report));
  const list = (title: string, lines: readonly string[]): void => {
    if (lines.length === 0) return;
    output.line(`\n${title}`);
    for (const line of lines) output.line(`  ${line}`);
  };
  const { tests } = report;
  list(
    'Refused by the proxy itself with a recorded 400, which stands for the rule:',
    tests.filter((one) => one.refusal !== null).map((one) => `${one.title}: ${one.refusal ?? ''}`),
  );
  list(
    'Status met by the verdict that detection-only withheld:',
    tests.filter((one) => one.withheld).map((one) => one.title),
  );
  for (const [result, title] of [
    ['skip', 'Skipped:'],
    ['fail', 'Failed:'],
  ] as const) {
    const found = tests.filter((one) => one.result === result);
    list(
      title,
      found.map((one) => `${one.title}: ${one.reasons.join('; ')}`),
    );
  }
  output.line('');
  output.line(closingLine(report));
  if (unwritten !== null) throw unwritten;
  return report.failed === 0 ? 0 : 1;
}

/** The error when the report cannot be written; the results are still printed. */
function writeReport(file: string, report: RunReport): AppError | null {
  try {
    writeFileSync(file, JSON.stringify(report, null, 1) + '\n');
    return null;
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const message = `--report: ${file} cannot be written (${code})`;
    return new AppError('report_unwritable', message, { source: 'config', cause });
  }
}

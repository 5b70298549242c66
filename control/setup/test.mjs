/**
 * `npm test`: the same set-up as `npm start`, the static gates, then every test. The last line is
 * `N passed, N failed, N skipped`, where each gate counts as one.
 */

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { gateCount, runGates } from './gates.mjs';
import { cacheFolder, inRoot } from './paths.mjs';
import { prepare } from './prepare.mjs';
import { main, run, say } from './process.mjs';
import { ensureTestPackages } from './system-packages.mjs';
import { cpuByFolder, readReport } from './test-report.mjs';

// The same seeds every time: a run fails for a change, not for luck; `npx vitest` draws new ones.
for (const name of ['FUZZ_SEED', 'WAF_FUZZ_SEED', 'WAF_SEED']) process.env[name] ??= '20261121';

/** Gates that tests stand for: the tidy ones, of which one runs the tool that knows the arrows. */
const askedByTests = ['arrows', 'tidy'];

await main(async () => {
  await prepare({ tests: true });
  await ensureTestPackages();
  say('static gates');
  const failedGates = await runGates(askedByTests);
  say('tests');
  const tests = await runVitest(process.argv.slice(2));
  const passed = gateCount - askedByTests.length - failedGates.length + tests.passed;
  const failed = failedGates.length + tests.failed;
  if (failedGates.length > 0) say(`gates failed: ${failedGates.join(', ')}`);
  process.stdout.write(`${passed} passed, ${failed} failed, ${tests.skipped} skipped\n`);
  return failed === 0 ? 0 : 1;
});

/** Runs vitest with its own progress on the terminal and its counts from a JSON report. */
async function runVitest(args) {
  const report = `${cacheFolder}/tests.json`;
  const cpuNotes = `${cacheFolder}/tests-cpu.jsonl`;
  for (const file of [report, cpuNotes]) rmSync(file, { force: true });
  const { code } = await run(
    inRoot('node_modules', '.bin', 'vitest'),
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args],
    { show: true, env: { WAF_TEST_CPU: cpuNotes } },
  );
  if (existsSync(cpuNotes)) say(`CPU time:\n${cpuByFolder(readFileSync(cpuNotes, 'utf8'))}`);
  try {
    const counts = readReport(JSON.parse(readFileSync(report, 'utf8')));
    // An error outside of any test fails the run, too.
    return counts.failed === 0 && code !== 0 ? { ...counts, failed: 1 } : counts;
  } catch (error) {
    say(`the report of the tests cannot be read: ${error.message}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

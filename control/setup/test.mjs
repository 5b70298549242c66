/**
 * `npm test`: the same set-up as `npm start`, the static gates, then every test. The last line is
 * `N passed, N failed, N skipped`, where each gate counts as one.
 */

import { readFileSync, rmSync } from 'node:fs';
import { gateCount, runGates } from './gates.mjs';
import { cacheFolder, inRoot, root } from './paths.mjs';
import { prepare } from './prepare.mjs';
import { main, run, say } from './process.mjs';
import { ensureTestPackages } from './system-packages.mjs';
import { filesToRerun, joinRuns, readReport } from './test-report.mjs';

// The same seeds every time: a run fails for a change, not for luck; `npx vitest` draws new ones.
for (const name of ['FUZZ_SEED', 'WAF_FUZZ_SEED', 'WAF_SEED']) process.env[name] ??= '20261121';

await main(async () => {
  await prepare({ tests: true });
  await ensureTestPackages();
  say('static gates');
  // The tidy tests run with all the others below.
  const failedGates = await runGates(['tidy']);
  say('tests');
  const tests = await runTests(process.argv.slice(2));
  const passed = gateCount - 1 - failedGates.length + tests.passed;
  const failed = failedGates.length + tests.failed;
  if (failedGates.length > 0) say(`gates failed: ${failedGates.join(', ')}`);
  process.stdout.write(`${passed} passed, ${failed} failed, ${tests.skipped} skipped\n`);
  return failed === 0 ? 0 : 1;
});

/**
 * Runs the tests; where few files failed, these once more by themselves. What passes only then is
 * named: it is a fault of the test or the product that shows under load.
 */
async function runTests(filters) {
  const first = await runVitest(filters);
  const again = first.broken ? [] : filesToRerun(first);
  if (again.length === 0) return first;
  say(`running again by themselves: ${again.join(', ')}`);
  const second = await runVitest(['--no-file-parallelism', ...again]);
  if (second.broken) return first;
  const joined = joinRuns(first, second);
  for (const name of joined.unsteady) say(`failed, then passed by itself: ${name}`);
  return joined;
}

/** Runs vitest with its own progress on the terminal and its counts from a JSON report. */
async function runVitest(args) {
  const report = `${cacheFolder}/tests.json`;
  rmSync(report, { force: true });
  const { code } = await run(
    inRoot('node_modules', '.bin', 'vitest'),
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args],
    { show: true },
  );
  const broken = { passed: 0, failed: 1, skipped: 0, failedFiles: [], broken: true };
  try {
    const counts = readReport(JSON.parse(readFileSync(report, 'utf8')), root);
    // An error outside of any test fails the run, too.
    return counts.failed === 0 && code !== 0 ? { ...counts, failed: 1, broken: true } : counts;
  } catch (error) {
    say(`the report of the tests cannot be read: ${error.message}`);
    return broken;
  }
}

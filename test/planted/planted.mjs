/**
 * `npm run test:planted [ROOM ...]`: plants each fault of `faults.jsonl`, one at a time, in a copy
 * of the checkout, and runs the test that has to find it; one that a fault keeps from ending has
 * found it. Prints a table; exit code 1 when a fault is not found, when a line is not there once,
 * or when a test fails without any fault.
 */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inRoot, root } from '../../control/setup/paths.mjs';
import { prepare } from '../../control/setup/prepare.mjs';
import { main, say } from '../../control/setup/process.mjs';

/** A test file takes seconds; one that a fault keeps from ending is ended then. */
const testMs = 5 * 60_000;
/** How `timeout` ends when it ended what it ran, by SIGTERM or SIGKILL. */
const timedOut = new Set([124, 137, null]);
/** What set-up made beside `.build` and `build`; the rest of `.cache` is not for tests. */
const kept = /^\.cache\/(?:[^/]+\.stamp|[^/]+\.tsbuildinfo|crs-test(?:\/.*)?)$/;

await main(async () => {
  const rows = readFaults(process.argv.slice(2));
  await prepare({ tests: true });
  const copy = mkdtempSync(path.join(tmpdir(), 'waf-planted-'));
  try {
    copyCheckout(copy);
    const tests = [...new Set(rows.map(({ test }) => test))];
    const sound = runTests(copy, tests);
    if (sound.failedFiles !== 0 || sound.passed === 0) {
      process.stdout.write(`without a fault ${sound.failedFiles} files fail: ${sound.names}\n`);
      return 1;
    }
    let lost = 0;
    for (const row of rows) {
      const verdict = plant(copy, row);
      if (!verdict.startsWith('found')) lost++;
      process.stdout.write(`${row.file}: ${verdict}\n`);
    }
    process.stdout.write(`${rows.length - lost} of ${rows.length} faults found\n`);
    return lost === 0 ? 0 : 1;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

/** The rows of the table whose files are in one of the folders; all without one. */
function readFaults(folders) {
  const text = readFileSync(new URL('faults.jsonl', import.meta.url), 'utf8');
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return folders.length === 0
    ? rows
    : rows.filter(({ file }) => folders.some((folder) => file.startsWith(folder)));
}

/** The files of the checkout as they are now, with what set-up made. */
function copyCheckout(copy) {
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    ...{ cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 },
  });
  if (listed.status !== 0) throw new Error(listed.stderr);
  for (const file of listed.stdout.split('\0').filter(Boolean)) {
    mkdirSync(path.join(copy, path.dirname(file)), { recursive: true });
    cpSync(inRoot(file), path.join(copy, file), { preserveTimestamps: true });
  }
  const filter = (source) => {
    const name = path.relative(root, source);
    return !name.startsWith('.cache/') || kept.test(name);
  };
  for (const made of ['.build', '.cache', 'build']) {
    const options = { recursive: true, preserveTimestamps: true, filter };
    cpSync(inRoot(made), path.join(copy, made), options);
  }
  symlinkSync(inRoot('node_modules'), path.join(copy, 'node_modules'));
}

/** Plants one fault, runs its test, takes the fault back; the verdict as a text. */
function plant(copy, { file, line, fault, test }) {
  const target = path.join(copy, file);
  const text = readFileSync(target, 'utf8');
  if (text.split(line).length !== 2) return `stale: the line is not there once: ${line}`;
  writeFileSync(
    target,
    text.replace(line, () => fault),
  );
  try {
    const { endless, failedFiles, failedTests, names } = runTests(copy, [test], testMs);
    if (endless) return `found by ${test}, which does not end`;
    if (failedTests > 0) return `found by ${names}`;
    const verdict = failedFiles > 0 ? 'NOT LOADED' : 'NOT FOUND';
    return `${verdict} by ${test}: ${line} => ${fault}`;
  } finally {
    writeFileSync(target, text);
  }
}

/**
 * Runs test files of the copy: tests that passed, files and tests that failed, and the first; or
 * only that they did not end within `timeout`, 0 for any time.
 */
function runTests(copy, files, timeout = 0) {
  const report = path.join(copy, '.cache', 'planted.json');
  rmSync(report, { force: true });
  const vitest = path.join(copy, 'node_modules', 'vitest', 'vitest.mjs');
  const args = ['run', '--reporter=json', `--outputFile.json=${report}`, ...files];
  const env = { ...process.env, WAF_CORPUS_DIR: process.env['WAF_CORPUS_DIR'] ?? corpus() };
  // `timeout` of coreutils ends what the test runner started, too.
  const line = ['--kill-after=5', String(timeout / 1000), process.execPath, vitest, ...args];
  const { status, stderr } = spawnSync('timeout', line, {
    ...{ cwd: copy, env, encoding: 'utf8', maxBuffer: 64 << 20 },
  });
  if (timedOut.has(status)) return { endless: true };
  try {
    const found = JSON.parse(readFileSync(report, 'utf8'));
    const broken = found.testResults.filter(({ status }) => status === 'failed');
    const names = broken.map(({ name, assertionResults }) => {
      const first = assertionResults.find(({ status }) => status === 'failed');
      return `${path.relative(copy, name)} > ${first?.fullName ?? 'the file does not load'}`;
    });
    say(`${files.length} files: ${found.numPassedTests} passed, ${broken.length} files failed`);
    return {
      passed: found.numPassedTests,
      failedFiles: broken.length,
      failedTests: found.numFailedTests,
      names: names.join('; '),
    };
  } catch (error) {
    throw new Error(`no report of ${files.join(' ')}:\n${stderr}`, { cause: error });
  }
}

/** Where the corpora lie beside the checkout. */
function corpus() {
  return path.resolve(root, '..', 'shared');
}

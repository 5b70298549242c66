/**
 * `npm run test:soak`: the tests that draw at random, with large numbers and a new seed. What the
 * last run was, and how it ended, is noted in `test/soak-last.json`, which is committed.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cacheFolder, inRoot } from './paths.mjs';
import { prepare } from './prepare.mjs';
import { main, run, say } from './process.mjs';
import { soakFiles } from './soak-files.mjs';
import { ensureTestPackages } from './system-packages.mjs';
import { readReport } from './test-report.mjs';

const msPerMinute = 60_000;

await main(async () => {
  const seed = process.env['WAF_SEED'] ?? String(Date.now() % 1_000_000_000);
  const names = ['FUZZ_SEED', 'WAF_FUZZ_SEED', 'WAF_SEED'];
  const env = { WAF_SOAK: '1', ...Object.fromEntries(names.map((name) => [name, seed])) };
  await prepare({ tests: true });
  await ensureTestPackages();
  const begun = Date.now();
  say(`a soak with seed ${seed}`);
  const report = `${cacheFolder}/soak.json`;
  rmSync(report, { force: true });
  const reports = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { code } = await run(
    inRoot('node_modules', '.bin', 'vitest'),
    ['run', '--testTimeout=0', ...reports, ...soakFiles],
    { show: true, env },
  );
  const { passed, failed, skipped } = readReport(JSON.parse(readFileSync(report, 'utf8')));
  const { output } = await run('git', ['rev-parse', 'HEAD']);
  const note = {
    ...{ at: new Date(begun).toISOString(), commit: output.trim(), seed },
    ...{ minutes: Math.round((Date.now() - begun) / msPerMinute), passed, failed, skipped },
  };
  writeFileSync(inRoot('test', 'soak-last.json'), `${JSON.stringify(note, null, 2)}\n`);
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  return code;
});

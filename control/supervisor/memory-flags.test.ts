/** Tests that V8 takes the flags of both programs, and that an engine's threads collect alone. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryFlags } from './memory-flags.ts';

test.each(['control', 'engine'] as const)('node starts with the flags of %s', (program) => {
  const print = "process.stdout.write('started')";
  const args = [...memoryFlags[program], '-e', print];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('started');
});

/** Collects 12 times in a thread and prints the CPU time of the thread and of the process, ms. */
const collecting = `
  const { Worker, isMainThread } = require('node:worker_threads');
  const { readFileSync } = require('node:fs');
  if (isMainThread) new Worker(__filename);
  else {
    const schedule = () => readFileSync('/proc/thread-self/schedstat', 'utf8');
    const ranMs = () => Number(schedule().split(' ')[0]) / 1e6;
    const kept = Array.from({ length: 200000 }, (_, at) => ({ at, text: 'x' + at }));
    const before = { own: ranMs(), all: process.cpuUsage() };
    for (let round = 0; round < 12; round++) gc();
    const { user, system } = process.cpuUsage(before.all);
    const own = ranMs() - before.own;
    console.log(JSON.stringify({ kept: kept.length, own, all: (user + system) / 1000 }));
  }`;

/** The share of CPU time that other threads of the process took meanwhile. */
function shareOfOthers(flags: readonly string[]): number {
  const folder = mkdtempSync(join(tmpdir(), 'flags-'));
  const file = join(folder, 'collecting.cjs');
  writeFileSync(file, collecting);
  const text = execFileSync(process.execPath, [...flags, '--expose-gc', file], {
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  const { own, all } = JSON.parse(text) as { own: number; all: number };
  return 1 - own / all;
}

test.runIf(process.platform === 'linux')('no thread of the engine waits for a helper', () => {
  expect(shareOfOthers(memoryFlags.engine)).toBeLessThan(0.1);
  // The same work with helpers: what is measured is there to be found.
  const helped = memoryFlags.engine.filter((flag) => flag !== '--single-threaded-gc');
  expect(shareOfOthers(helped)).toBeGreaterThan(0.1);
});

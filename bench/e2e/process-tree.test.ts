/** Tests that readings of /proc count what a process tree used. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { parseStat, readTree, treeOf } from './process-tree.ts';

test('reads a line whose name holds blanks and parentheses', () => {
  const fields = ['S', '7', ...Array<string>(9).fill('0'), '11', '12', '13', '14', '20', '0', '3'];
  const stat = parseStat(`42 (a) (b c) ${fields.join(' ')}`);
  expect(stat).toEqual({ pid: 42, parent: 7, ticks: 50, threads: 3 });
  expect(parseStat('no such line')).toBeNull();
});

test('follows children of children and nobody else', () => {
  const all = [
    { pid: 1, parent: 0 },
    { pid: 5, parent: 4 },
    { pid: 4, parent: 3 },
    { pid: 3, parent: 1 },
    { pid: 6, parent: 1 },
  ];
  expect(treeOf(3, all).map(({ pid }) => pid)).toEqual([3, 4, 5]);
  expect(treeOf(9, all)).toEqual([]);
});

test('counts a child that ended, and never goes back', async () => {
  // The shell waits for a line, for a child that burns CPU until it has used 100 ms, for a line.
  const burn = 'while (process.cpuUsage().user < 1e5);';
  const child = spawn('sh', [
    '-c',
    `read x; "${process.execPath}" -e '${burn}'; echo done; read x`,
  ]);
  const before = readTree(child.pid!).cpuUs;
  child.stdin.write('\n');
  await once(child.stdout, 'data');
  const after = readTree(child.pid!);
  child.stdin.end('\n');
  await once(child, 'exit');
  expect(after.cpuUs - before).toBeGreaterThanOrEqual(50_000);
  expect(after.rssBytes).toBeGreaterThan(0);
  expect(() => readTree(child.pid!)).toThrow(/is gone/);
});

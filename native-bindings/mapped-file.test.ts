/** Proves that mapped memory is the file: for other maps of it, other threads, and after a kill. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { mapFile } from './mapped-file.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waf-mapped-'));
  folders.push(folder);
  return join(folder, 'counts');
}

const addonPath = join(process.cwd(), 'build', 'Release', 'waf_native.node');
const numbersOf = (path: string): Float64Array =>
  new Float64Array(new Uint8Array(readFileSync(path)).buffer);

test('what is written is in the file, and in other maps of it', () => {
  const path = newPath();
  const one = new Float64Array(mapFile(path, 64));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  one[3] = 2 ** 40;
  const other = new Float64Array(mapFile(path, 64));
  expect(other[3]).toBe(2 ** 40);
  other[0] = 7;
  expect([one[0], numbersOf(path)[3]]).toEqual([7, 2 ** 40]);
});

test('what is in a file stays, and what is missing is zeros', () => {
  const path = newPath();
  writeFileSync(path, 'kept');
  const bytes = new Uint8Array(mapFile(path, 32));
  expect(Buffer.from(bytes.subarray(0, 6)).toString('latin1')).toBe('kept\0\0');
  expect(statSync(path).size).toBe(32);
});

test('what a thread wrote outlives its process that was killed', () => {
  const path = newPath();
  const script = `
    const { mapFile } = require(${JSON.stringify(addonPath)});
    const counts = new Float64Array(mapFile(${JSON.stringify(path)}, 64));
    for (let at = 0; at < 1000; at++) counts[1]++;
    process.kill(process.pid, 'SIGKILL');
    while (true);`;
  expect(spawnSync(process.execPath, ['-e', script]).signal).toBe('SIGKILL');
  expect(numbersOf(path)[1]).toBe(1000);
});

test('a worker maps it, and its end unmaps it without harm', async () => {
  const path = newPath();
  const own = new Float64Array(mapFile(path, 64));
  const script = `
    const { workerData } = require('node:worker_threads');
    const { mapFile } = require(workerData.addonPath);
    new Float64Array(mapFile(workerData.path, 64))[2] = 5;`;
  const worker = new Worker(script, { eval: true, workerData: { addonPath, path } });
  await once(worker, 'exit');
  own[1] = 1;
  expect([own[1], own[2]]).toEqual([1, 5]);
});

test('what cannot be mapped is said', () => {
  const path = newPath();
  expect(() => mapFile(join(path, 'none'), 64)).toThrow(
    expect.objectContaining({ code: 'ENOENT' }),
  );
  symlinkSync('/etc/hostname', path);
  expect(() => mapFile(path, 64)).toThrow(expect.objectContaining({ code: 'ELOOP' }));
  expect(() => mapFile('/dev/null', 64)).toThrow(expect.objectContaining({ code: 'EINVAL' }));
  expect(() => mapFile(newPath(), 0)).toThrow(TypeError);
  expect(() => mapFile(newPath(), 2 ** 21)).toThrow(TypeError);
});

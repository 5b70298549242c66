/** Proves that a lock is one opening's, and free again when its process is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { tryLock, unlock } from './file-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'waf-lock-'));
const opened: number[] = [];
const openFolder = (): number => {
  const fd = openSync(folder, 'r');
  opened.push(fd);
  return fd;
};
afterEach(() => {
  for (const fd of opened.splice(0)) closeSync(fd);
});

test('one opening at a time holds the lock, and the same one again', () => {
  const [one, other] = [openFolder(), openFolder()];
  expect([tryLock(one), tryLock(one), tryLock(other)]).toEqual([true, true, false]);
  unlock(one);
  expect([tryLock(other), tryLock(one)]).toEqual([true, false]);
});

test('a descriptor that is closed gives it free', () => {
  const one = openSync(folder, 'r');
  expect(tryLock(one)).toBe(true);
  closeSync(one);
  expect(tryLock(openFolder())).toBe(true);
});

test('what is no open file is an error', () => {
  expect(() => tryLock(-1)).toThrow(expect.objectContaining({ code: 'EBADF' }));
  expect(() => tryLock('x' as unknown as number)).toThrow(TypeError);
  expect(() => unlock(-1)).toThrow(expect.objectContaining({ code: 'EBADF' }));
});

test('a process that is killed gives it free', async () => {
  const addon = join(process.cwd(), 'build', 'Release', 'waf_files.node');
  const script = `const fd = require('node:fs').openSync(${JSON.stringify(folder)}, 'r');
    console.log(require(${JSON.stringify(addon)}).tryLock(fd));
    setInterval(() => undefined, 1000);`;
  const holder = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [said] = (await once(holder.stdout, 'data')) as [Buffer];
    expect(said.toString()).toBe('true\n');
    expect(tryLock(openFolder())).toBe(false);
  } finally {
    const gone = once(holder, 'exit');
    holder.kill('SIGKILL');
    await gone;
  }
  expect(tryLock(openFolder())).toBe(true);
  rmSync(folder, { recursive: true });
});

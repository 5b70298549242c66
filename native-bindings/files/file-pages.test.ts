/** Proves that pages of a store stop counting as the process's memory, and are there again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { expect, test } from 'vitest';
import { dropFilePages } from './file-pages.ts';

/** Pages of files, also of those in memory. */
const filePagesKb = (): number => {
  const status = readFileSync('/proc/self/status', 'utf8');
  const sizes = [...status.matchAll(/Rss(?:File|Shmem):\s+(\d+)/g)];
  return sizes.reduce((sum, [, size]) => sum + Number(size), 0);
};

test('pages of a store that were read are let go, and read again', async () => {
  const path = mkdtempSync(join(tmpdir(), 'waf-pages-'));
  const store = open<Buffer, number>({ path, encoding: 'binary', noSubdir: false });
  const value = (at: number): Buffer => Buffer.alloc(100_000, at % 256);
  await store.transaction(() => {
    for (let at = 0; at < 400; at++) store.putSync(at, value(at));
  });
  const right = (): number => {
    let found = 0;
    for (let at = 0; at < 400; at++) found += store.get(at)?.equals(value(at)) === true ? 1 : 0;
    return found;
  };
  expect(right()).toBe(400);
  const before = filePagesKb();
  expect(dropFilePages()).toBeGreaterThan(0);
  expect(filePagesKb()).toBeLessThan(before - 30_000);
  expect(right()).toBe(400);
  await store.close();
  rmSync(path, { recursive: true, force: true });
});

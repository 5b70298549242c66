/** Tests that files that would crash the library are distinguished from those it can open. */

import { mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLmdbKv } from './lmdb-kv.ts';
import { lmdbFileProblem } from '../../base/lmdb-file.ts';

const scratch = (): string => mkdtempSync(join(tmpdir(), 'waf-lmdb-'));

test('a store passes at every size it has', async () => {
  const folder = scratch();
  const file = join(folder, 'data.mdb');
  const kv = openLmdbKv({ folder, durable: true });
  expect(lmdbFileProblem(file)).toBeNull();
  for (let at = 0; at < 60; at++) {
    await kv.write((writer) => writer.put(`k${at}`, Buffer.alloc(1 + (at % 7) * 3000, 7)));
    expect(lmdbFileProblem(file)).toBeNull();
  }
  for (let at = 0; at < 60; at++) {
    await kv.write((writer) => writer.remove(`k${at}`));
    expect(lmdbFileProblem(file)).toBeNull();
  }
  await kv.close();
  expect(lmdbFileProblem(file)).toBeNull();
});

test('a file that is no store, or a truncated one, is refused and never opened', async () => {
  const folder = scratch();
  const kv = openLmdbKv({ folder, durable: true });
  await kv.write((writer) => {
    for (let at = 0; at < 500; at++) writer.put(`k${at}`, Buffer.alloc(1000, 7));
  });
  await kv.write((writer) => writer.put('last', Buffer.alloc(10)));
  await kv.close();
  const whole = readFileSync(join(folder, 'data.mdb'));
  const cases: [Buffer, string][] = [
    [Buffer.from('nonsense'), 'no store'],
    [Buffer.alloc(32_768), 'no store'],
    [Buffer.alloc(32_768, 'nonsense'), 'no store'],
    [whole.subarray(0, 4096), 'second page'],
    [Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length)]), 'second page'],
    [whole.subarray(0, 16_384), 'cut off'],
    [whole.subarray(0, whole.length / 2), 'cut off'],
  ];
  for (const [bytes, problem] of cases) {
    const path = scratch();
    writeFileSync(join(path, 'data.mdb'), bytes);
    expect(lmdbFileProblem(join(path, 'data.mdb'))).toContain(problem);
    for (const readOnly of [true, false]) {
      expect(() => openLmdbKv({ folder: path, durable: true, readOnly })).toThrow(problem);
    }
  }
  truncateSync(join(folder, 'data.mdb'), 0);
  await openLmdbKv({ folder, durable: true }).close();
});

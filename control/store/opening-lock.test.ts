/** Proves that commits and openings of one environment by other processes wait for each other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { tryLock } from '../../native-bindings/files/file-lock.ts';
import type { Kv } from './kv.ts';
import { openLmdbKv } from './lmdb-kv.ts';
import { openBeside } from './opening-lock.ts';

const folders: string[] = [];
const opened: Kv[] = [];
afterEach(async () => {
  for (const kv of opened.splice(0)) await kv.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function open(folder = mkdtempSync(join(tmpdir(), 'waf-opening-'))): { kv: Kv; folder: string } {
  folders.push(folder);
  const kv = openLmdbKv({ folder, durable: false });
  opened.push(kv);
  return { kv, folder };
}
const put = (kv: Kv, key: string): Promise<void> =>
  kv.write((writer) => writer.put(key, new Uint8Array([1])));
const openFile = (folder: string): number => openSync(join(folder, 'data.mdb'), 'r+');

/** A process that locks the file of an environment; before it ends it makes another file. */
const holder = `
  const { openSync, writeFileSync } = require('node:fs');
  const [file, freed, addon] = process.argv.slice(1);
  console.log(require(addon).tryLock(openSync(file, 'r+')));
  setTimeout(() => { writeFileSync(freed, ''); process.exit(); }, 300);`;

test('a commit holds the lock until it is there', async () => {
  const { kv, folder } = open();
  const fd = openFile(folder);
  const written = put(kv, 'a');
  expect(tryLock(fd)).toBe(false);
  await written;
  expect(tryLock(fd)).toBe(true);
  closeSync(fd);
});

test('a write waits while another process opens the environment', async () => {
  const { kv, folder } = open();
  const other = open();
  const fd = openFile(folder);
  expect(tryLock(fd)).toBe(true);
  const order: string[] = [];
  const written = put(kv, 'a').then(() => order.push('written'));
  // As long as ten writes take, which nothing stops.
  for (let at = 0; at < 10; at++) await put(other.kv, `${at}`);
  order.push('opened');
  closeSync(fd);
  await written;
  expect(order).toEqual(['opened', 'written']);
  expect(kv.get('a')).toEqual(Buffer.from([1]));
});

test('an opening waits for the commit of another process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-opening-'));
  await open(folder).kv.close();
  opened.length = 0;
  const freed = join(folder, 'freed');
  const addon = join(process.cwd(), 'build', 'Release', 'waf_files.node');
  const line = ['-e', holder, join(folder, 'data.mdb'), freed, addon];
  const child = spawn(process.execPath, line, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  expect(said.toString()).toBe('true\n');
  expect(openBeside(folder, () => existsSync(freed))).toBe(true);
});

test('the thread that writes opens what it has open, also during a commit', async () => {
  const { kv, folder } = open();
  const written = put(kv, 'a');
  const beside = openLmdbKv({ folder, durable: false, readOnly: true });
  await written;
  expect(beside.get('a')).toEqual(Buffer.from([1]));
  await beside.close();
});

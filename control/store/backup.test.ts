/** Tests that a backup taken during writes restores completely, and that damage is reported. */

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { verifyChain } from './audit-chain.ts';
import { writeBackup, type BackupOptions } from './backup.ts';
import { publications } from './collections.ts';
import { openLmdbKv } from './lmdb-kv.ts';
import { checkBackup, restoreBackup } from './restore.ts';
import { settleRestore } from './settle-restore.ts';
import { openStore, type Store } from './store.ts';

const note = {
  actorId: 'u',
  actorName: 'n',
  tenantId: 't',
  action: 'create',
  resourceType: 'publication',
};
const scratch = (): string => mkdtempSync(join(tmpdir(), 'waf-backup-'));
const open = (data: string): Promise<Store> =>
  openStore(openLmdbKv({ folder: join(data, 'control'), durable: true }), systemClock);
const publish = (store: Store): Promise<void> =>
  store.write((tx) => {
    const id = String(tx.next('n'));
    tx.put(publications, { id, revision: id, sha256: 'x'.repeat(500), createdAt: '' });
    tx.audit({ ...note, resourceId: id });
  });
const options = (data: string, target: string): BackupOptions => ({
  data,
  target,
  logs: true,
  overwrite: false,
  product: '1.2.3',
  nowMs: 1_700_000_000_000,
});
const big = Buffer.alloc(3_500_000, 7);

let data: string;
let store: Store;
let backup: string;
beforeAll(async () => {
  data = scratch();
  store = await open(data);
  for (let at = 0; at < 50; at++) await publish(store);
  await store.write((tx) => tx.putBlob('big', big));
  const events = openLmdbKv({ folder: join(data, 'events'), durable: false });
  await events.write((writer) => writer.put('e\u0000é', new Uint8Array([1, 2])));
  await events.close();
  mkdirSync(join(data, 'tls'));
  writeFileSync(join(data, 'tls', 'key.pem'), 'secret', { mode: 0o600 });
  writeFileSync(join(data, 'supervisor.pid'), '1');
  writeFileSync(join(data, 'old.wafbackup'), 'x');
  mkdirSync(join(data, 'engine', 'databases'), { recursive: true });
  writeFileSync(join(data, 'engine', 'last-good.bundle'), 'bundle');
  writeFileSync(join(data, 'engine', 'databases', 'a'), 'database');
  backup = join(scratch(), 'b.wafbackup');
  await writeBackup(options(data, backup));
});
afterAll(() => store.close());

const restore = (file: string, target: string, overwrite = false) =>
  restoreBackup({ file, data: target, overwrite, clock: systemClock });

describe('a backup', () => {
  test('is private, is written once, and says when it was made', async () => {
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    const again = writeBackup(options(data, backup));
    await expect(again).rejects.toMatchObject({ code: 'backup_exists' });
    const folder = scratch();
    const { file } = await writeBackup({ ...options(data, folder), logs: false });
    expect(file).toBe(join(folder, 'waf-20231114T221320Z.wafbackup'));
    expect(readdirSync(folder)).toHaveLength(1);
    const { header, sections } = await checkBackup(file, systemClock);
    expect(header).toMatchObject({ createdAt: '2023-11-14T22:13:20.000Z', product: '1.2.3' });
    expect(Object.keys(sections)).toEqual(['control', 'files']);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test('comes back whole in an empty folder: stores, files and their permissions', async () => {
    const target = join(scratch(), 'new');
    const report = await restore(backup, target);
    expect(report.store).toMatchObject({ problemCount: 0, auditRows: 50, blobs: 1 });
    expect(report.sections).toMatchObject({ events: 1, files: 1 });
    const again = await open(target);
    expect(again.list(publications)).toEqual(store.list(publications));
    expect(big.equals(again.blob('big') ?? Buffer.alloc(0))).toBe(true);
    expect([...again.auditRows()]).toEqual([...store.auditRows()]);
    await again.close();
    const events = openLmdbKv({ folder: join(target, 'events'), durable: false, readOnly: true });
    expect([...events.range({ start: 'e', end: 'f' })]).toEqual([
      { key: 'e\u0000é', value: Buffer.from([1, 2]) },
    ]);
    await events.close();
    expect(readFileSync(join(target, 'tls', 'key.pem'), 'utf8')).toBe('secret');
    expect(statSync(join(target, 'tls', 'key.pem')).mode & 0o777).toBe(0o600);
    expect(readdirSync(target).sort()).toEqual(['control', 'events', 'tls']);
  });

  test('taken under writes is one moment of the store', async () => {
    const busy = scratch();
    const writing = await open(busy);
    for (let at = 0; at < 200; at++) await publish(writing);
    let running = true;
    const load = (async () => {
      while (running) {
        await publish(writing);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const { file } = await writeBackup(options(busy, scratch()));
    running = false;
    await load;
    const written = writing.count(publications);
    await writing.close();
    const target = scratch();
    const { store: report } = await restore(file, target);
    expect(report.problemCount).toBe(0);
    const copy = await open(target);
    expect(copy.count(publications)).toBeGreaterThanOrEqual(200);
    expect(copy.count(publications)).toBeLessThanOrEqual(written);
    const { breaks, checked } = verifyChain(copy.auditRows(), copy.auditHead());
    expect(breaks).toEqual([]);
    expect(checked).toBe(copy.count(publications));
    await copy.close();
  });
});

describe('a restore', () => {
  test('keeps the keys of evidence that stays, and takes those of evidence that comes', async () => {
    for (const logs of [false, true]) {
      const from = scratch();
      const one = await open(from);
      await publish(one);
      const evidence = openLmdbKv({ folder: join(from, 'evidence'), durable: true });
      await evidence.write((writer) => writer.put('m', new Uint8Array([1])));
      writeFileSync(join(from, 'evidence-keys.json'), 'earlier', { mode: 0o600 });
      const { file } = await writeBackup({ ...options(from, join(scratch(), 'a')), logs });
      writeFileSync(join(from, 'evidence-keys.json'), 'later', { mode: 0o600 });
      await evidence.close();
      await one.close();
      await restore(file, from, true);
      const keys = readFileSync(join(from, 'evidence-keys.json'), 'utf8');
      expect([logs, keys]).toEqual([logs, logs ? 'earlier' : 'later']);
      // Where nothing was before, the backup's keys come, for evidence that may be copied later.
      const empty = scratch();
      await restore(file, join(empty, 'data'));
      expect(readFileSync(join(empty, 'data', 'evidence-keys.json'), 'utf8')).toBe('earlier');
    }
  });

  test('replaces a folder only when told to; logs without a copy and databases stay', async () => {
    const target = scratch();
    cpSync(data, target, { recursive: true });
    writeFileSync(join(target, 'stale'), 'x');
    await expect(restore(backup, target)).rejects.toMatchObject({ code: 'data_not_empty' });
    expect(existsSync(join(target, 'stale'))).toBe(true);
    const { file } = await writeBackup({ ...options(data, scratch()), logs: false });
    await restore(file, target, true);
    expect(existsSync(join(target, 'stale'))).toBe(false);
    expect(existsSync(join(target, 'events', 'data.mdb'))).toBe(true);
    expect(readdirSync(join(target, 'engine'))).toEqual(['databases']);
    expect(readdirSync(target).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test.each(['ready, nothing moved', 'old moved aside', 'half moved in'])(
    'that was interrupted is finished by the next start: %s',
    async (stage) => {
      const target = scratch();
      writeFileSync(join(target, 'stale'), 'x');
      const made = join(scratch(), 'made');
      await restore(backup, made);
      const name = stage.startsWith('ready') ? '.restore-ready' : '.restore-moving';
      cpSync(made, join(target, name), { recursive: true });
      if (name === '.restore-moving') {
        mkdirSync(join(target, '.restore-old'));
        renameSync(join(target, 'stale'), join(target, '.restore-old', 'stale'));
      }
      if (stage.startsWith('half')) {
        renameSync(join(target, name, 'control'), join(target, 'control'));
      }
      settleRestore(target);
      expect(readdirSync(target).sort()).toEqual(['control', 'events', 'tls']);
      const found = await open(target);
      expect(found.count(publications)).toBe(50);
      await found.close();
    },
  );

  test('that never got ready leaves nothing', () => {
    const target = scratch();
    writeFileSync(join(target, 'kept'), 'x');
    mkdirSync(join(target, '.restore-staging', 'control'), { recursive: true });
    settleRestore(target);
    expect(readdirSync(target)).toEqual(['kept']);
  });
});

describe('a damaged backup is refused and changes nothing', () => {
  const text = (): string[] => gunzipSync(readFileSync(backup)).toString().split('\n');
  const packed = (lines: string[]): Buffer => {
    expect(lines).not.toEqual(text());
    return gzipSync(lines.join('\n'), { level: 1 });
  };
  const without = (at: number): Buffer => packed(text().toSpliced(at, 1));
  const edited = (edit: (line: string) => string): Buffer => packed(text().map(edit));
  const cases: [string, () => Buffer, string][] = [
    ['cut off in the middle', () => readFileSync(backup).subarray(0, 3000), 'backup_damaged'],
    ['without its last line', () => without(text().length - 2), 'backup_damaged'],
    ['without an entry', () => without(4), 'backup_damaged'],
    ['with an entry twice', () => packed(text().toSpliced(4, 0, text()[4]!)), 'backup_damaged'],
    [
      'with a changed value',
      () => edited((line) => line.replace('"v":"BwcH', '"v":"BwcI')),
      'backup_damaged',
    ],
    ['with a line after its end', () => packed([...text(), '{}']), 'backup_damaged'],
    ['of no kind', () => gzipSync('{"hello":1}\n'), 'backup_damaged'],
    ['that is no archive', () => Buffer.from('hello'), 'backup_damaged'],
    ['that is empty', () => Buffer.alloc(0), 'backup_damaged'],
    [
      'of a newer format',
      () => edited((line) => line.replace('"waf-backup","version":1', '"waf-backup","version":2')),
      'backup_newer',
    ],
    [
      'of a newer layout',
      () => edited((line) => line.replace(/"schema":\d+/, '"schema":99')),
      'store_newer',
    ],
  ];
  test.each(cases)('%s', async (_name, bytes, code) => {
    const file = join(scratch(), 'x');
    writeFileSync(file, bytes());
    const target = scratch();
    writeFileSync(join(target, 'kept'), 'x');
    await expect(restore(file, target, true)).rejects.toMatchObject({ code });
    expect(readdirSync(target)).toEqual(['kept']);
    await expect(checkBackup(file, systemClock)).rejects.toMatchObject({ code });
  });

  test('a file name never leaves the folder', async () => {
    const { encodeBackup } = await import('./backup-format.ts');
    for (const key of ['../x', '/x', 'a/../../x', 'supervisor.pid', 'engine/x', '', 'a//b']) {
      const header = { format: 'waf-backup', version: 1, createdAt: '', product: '', schema: 1 };
      const entries = [{ key, value: new Uint8Array([1]) }];
      const sections = [
        { kind: 'store' as const, name: 'control', entries: [] },
        { kind: 'files' as const, name: 'files', entries },
      ];
      const bytes = [...encodeBackup(header as never, sections)];
      const file = join(scratch(), 'x');
      writeFileSync(file, gzipSync(Buffer.concat(bytes)));
      await expect(restore(file, scratch())).rejects.toThrow('not allowed');
    }
  });

  test('a target that cannot be written is reported, and no temporary file remains', async () => {
    const folder = scratch();
    const gone = writeBackup(options(data, join(folder, 'no', 'such')));
    await expect(gone).rejects.toMatchObject({ code: 'backup_unwritable' });
    chmodSync(folder, 0o700);
    expect(readdirSync(folder)).toEqual([]);
    const nothing = writeBackup(options(folder, join(folder, 'x')));
    await expect(nothing).rejects.toMatchObject({ code: 'store_missing' });
  });
});

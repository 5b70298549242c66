/**
 * Puts a backup back: read and checked beside the data folder's contents, then exchanged in steps
 * that a later start finishes when they were interrupted.
 */

import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { AppError } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import { storeLimits } from '../limits/store-limits.ts';
import { makeFolder } from '../../base/make-folder.ts';
import {
  damaged,
  decodeBackup,
  type BackupEntry,
  type BackupHeader,
  type BackupItem,
} from './backup-format.ts';
import { collections } from './collection-list.ts';
import {
  claimFile,
  engineFolder,
  isSafePath,
  mainStore,
  restoreFolders,
  storesIn,
  syncPath,
} from './data-files.ts';
import type { Kv } from './kv.ts';
import { openLmdbKv } from './lmdb-kv.ts';
import { schemaVersion } from './migrations.ts';
import { settleRestore } from './settle-restore.ts';
import { openStore } from './store.ts';
import { verifyStore, type StoreReport } from './verify.ts';

/** What a backup holds, and whether it is whole. */
export interface RestoreReport {
  readonly header: BackupHeader;
  /** Entries by section. */
  readonly sections: Readonly<Record<string, number>>;
  readonly store: StoreReport;
}

/** What to restore. */
export interface RestoreOptions {
  readonly file: string;
  readonly data: string;
  /** Replaces what is in the data folder. */
  readonly overwrite: boolean;
  readonly clock: Clock;
}

/**
 * Replaces the contents of a data folder that nobody uses. Logs that the backup does not hold stay.
 * Errors: AppError data_not_empty, backup_damaged, backup_newer; the folder is as it was then.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { data } = options;
  makeDataFolder(data);
  settleRestore(data);
  if (!options.overwrite && !isEmptyData(data)) {
    throw new AppError(
      'data_not_empty',
      `${data} is not empty: --force replaces what is in it, or give another --data`,
      { source: 'config' },
    );
  }
  const staging = join(data, restoreFolders.staging);
  try {
    const report = await unpackBackup(options.file, staging, options.clock);
    if (report.store.problemCount > 0) throw damaged('its store does not verify');
    renameSync(staging, join(data, restoreFolders.ready));
    syncPath(data);
    settleRestore(data);
    return report;
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw error;
  }
}

/** Checks a backup by restoring it into a folder that goes again. Errors: as `restoreBackup`. */
export async function checkBackup(file: string, clock: Clock): Promise<RestoreReport> {
  const folder = makeScratch(file);
  try {
    return await unpackBackup(file, join(folder, 'data'), clock);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Beside the backup, where there is room for it; elsewhere when that cannot be written. */
function makeScratch(file: string): string {
  try {
    return mkdtempSync(join(dirname(file), '.waf-verify-'));
  } catch {
    return mkdtempSync(join(tmpdir(), 'waf-verify-'));
  }
}

/** Whether a data folder holds nothing yet. */
export function isEmptyData(data: string): boolean {
  return readdirSync(data).every((name) => name === claimFile);
}

/** Writes a backup's contents into a new folder, on disk when it resolves, and checks the store. */
async function unpackBackup(file: string, folder: string, clock: Clock): Promise<RestoreReport> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  const target = new Unpacking(folder);
  try {
    for await (const item of decodeBackup(linesOf(file))) await target.take(item);
    const { header, sections } = target.finish();
    const kv = openLmdbKv({ folder: join(folder, mainStore), durable: true });
    // Opening brings an older layout up to date.
    const store = await openStore(kv, clock);
    const report = verifyStore(kv, collections);
    await store.close();
    for (const name of storesIn(folder)) {
      rmSync(join(folder, name, 'lock.mdb'), { force: true });
      syncPath(join(folder, name, 'data.mdb'));
      syncPath(join(folder, name));
    }
    syncPath(folder);
    return { header, sections, store: report };
  } catch (error) {
    await target.abandon();
    throw error instanceof AppError ? error : unreadable(file, error);
  }
}

/** A backup while it is written into a folder. */
class Unpacking {
  private readonly folder: string;
  private header: BackupHeader | null = null;
  private readonly sections: Record<string, number> = {};
  private kv: Kv | null = null;
  private batch: BackupEntry[] = [];
  private batchBytes = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  async take(item: BackupItem): Promise<void> {
    if (item.type === 'header') {
      this.header = item.header;
      if (item.header.schema > schemaVersion) throw newerStore(item.header.schema);
    } else if (item.type === 'section') {
      if (item.name in this.sections || isReserved(item.name)) throw damaged('a section is odd');
      this.sections[item.name] = 0;
      if (item.kind === 'store') {
        this.kv = openLmdbKv({ folder: join(this.folder, item.name), durable: false });
      }
    } else if (item.type === 'entry') {
      if (this.kv === null) this.writeFile(item.entry);
      else await this.put(item.entry);
    } else {
      await this.flush();
      this.sections[item.name] = item.count;
      await this.abandon();
    }
  }

  finish(): { header: BackupHeader; sections: Record<string, number> } {
    const { header, sections } = this;
    if (header === null || !(mainStore in sections)) throw damaged('it holds no store');
    return { header, sections };
  }

  /** Closes what is open; what was not flushed is given up. */
  async abandon(): Promise<void> {
    await this.kv?.close();
    this.kv = null;
  }

  private async put(entry: BackupEntry): Promise<void> {
    this.batch.push(entry);
    this.batchBytes += entry.key.length + entry.value.length;
    if (this.batchBytes >= storeLimits.restoreBatchBytes) await this.flush();
  }

  private async flush(): Promise<void> {
    const { batch, kv } = this;
    [this.batch, this.batchBytes] = [[], 0];
    if (batch.length === 0) return;
    await kv?.write((writer) => {
      for (const { key, value } of batch) writer.put(key, value);
    });
  }

  private writeFile({ key, value, mode = 0o600 }: BackupEntry): void {
    if (!isSafePath(key)) throw damaged('a file in it has a name that is not allowed');
    const path = join(this.folder, key);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Never wider than the owner asked for, and never for others to write.
    writeFileSync(path, value, { flag: 'wx', mode: mode & 0o755, flush: true });
  }
}

/** Names that would collide with what lies beside the stores. */
function isReserved(name: string): boolean {
  return name === engineFolder || name === 'backup';
}

/** Lines of a compressed file, each bounded. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const unzipped = createGunzip();
  const reading = pipeline(createReadStream(file), unzipped);
  // It also ends the loop below with the same error.
  reading.catch(() => undefined);
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of unzipped as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, end)]).toString('utf8');
      [rest, restBytes, start] = [[], 0, end + 1];
    }
    rest.push(chunk.subarray(start));
    restBytes += chunk.length - start;
    if (restBytes > storeLimits.backupLineBytesMax) throw damaged('a line is too long');
  }
  await reading;
  if (restBytes > 0) throw damaged('it is cut off');
}

function newerStore(schema: number): AppError {
  return new AppError(
    'store_newer',
    `the backup has layout ${schema}, this version reads up to ${schemaVersion}: use a newer version`,
    { source: 'config' },
  );
}

function unreadable(file: string, error: unknown): AppError {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code.startsWith('Z_')) {
    const cutOff = code === 'Z_BUF_ERROR';
    return damaged(cutOff ? 'it is cut off' : 'it cannot be unpacked');
  }
  if (code === 'ENOSPC') {
    const message = 'the disk is full: nothing was restored';
    return new AppError('store_full', message, { source: 'storage', cause: error });
  }
  return new AppError('backup_unreadable', `${file} cannot be read (${code})`, {
    source: 'config',
    cause: error,
  });
}

function makeDataFolder(data: string): void {
  try {
    makeFolder(data);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const message = `--data: the folder ${data} cannot be made (${code})`;
    throw new AppError('data_unwritable', message, { source: 'config', cause });
  }
}

/**
 * Makes a backup: a consistent state of the stores, read beside the process that writes, and the
 * files beside them. The file has mode 0600: it holds every key and secret.
 */

import { createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { AppError } from '../../base/errors.ts';
import {
  backupVersion,
  encodeBackup,
  type BackupHeader,
  type BackupSection,
} from './backup-format.ts';
import { backupSuffix, filesIn, mainStore, storesIn, syncPath } from './data-files.ts';
import type { Kv, KvEntry, KvSnapshot } from './kv.ts';
import { openLmdbKv } from './lmdb-kv.ts';
import { readSchema } from './migrations.ts';
import { replicaKey } from './shared/replica.ts';

/** What to back up, and where to. */
export interface BackupOptions {
  readonly data: string;
  /** A file, or a folder in which a file named by the time is made. */
  readonly target: string;
  /** Also the stores of events and logs. */
  readonly logs: boolean;
  /** Replaces a file that is there. */
  readonly overwrite: boolean;
  readonly product: string;
  readonly nowMs: number;
}

/** What was made. */
export interface BackupResult {
  readonly file: string;
  readonly bytes: number;
  readonly stores: readonly string[];
}

/**
 * Writes a backup; the file is there whole or not at all. Errors: AppError store_missing,
 * backup_exists, backup_unwritable.
 */
export async function writeBackup(options: BackupOptions): Promise<BackupResult> {
  const { data, nowMs, product } = options;
  if (!existsSync(join(data, mainStore, 'data.mdb'))) {
    throw new AppError('store_missing', `there is no store in ${data}; see --data`, {
      source: 'config',
    });
  }
  const file = fileFor(options.target, nowMs, options.overwrite);
  const names = storesIn(data).filter((name) => name === mainStore || options.logs);
  const open: { readonly name: string; readonly kv: Kv; readonly snapshot: KvSnapshot }[] = [];
  try {
    for (const name of names) {
      const kv = openLmdbKv({ folder: join(data, name), durable: true, readOnly: true });
      open.push({ name, kv, snapshot: kv.snapshot() });
    }
    const schema = readSchema(open[0]?.snapshot ?? emptyReader) ?? 0;
    const header: BackupHeader = {
      format: 'waf-backup',
      version: backupVersion,
      createdAt: new Date(nowMs).toISOString(),
      product,
      schema,
    };
    const sections: BackupSection[] = [
      ...open.map(({ name, snapshot }) => ({
        kind: 'store' as const,
        name,
        entries: withoutMark(snapshot.range(everyKey)),
      })),
      { kind: 'files', name: 'files', entries: filesIn(data) },
    ];
    await writeWhole(file, batched(encodeBackup(header, sections)));
    return { file, bytes: statSync(file).size, stores: names };
  } finally {
    for (const { kv, snapshot } of open) {
      snapshot.close();
      await kv.close();
    }
  }
}

/** Every key of a store; the first byte is never zero. */
const everyKey = { start: '\u0001', end: '\uffff' };

/** What is restored is a store of its own, whatever it was a copy of. */
function* withoutMark(entries: Iterable<KvEntry>): Generator<KvEntry> {
  for (const entry of entries) if (entry.key !== replicaKey) yield entry;
}

const emptyReader = { get: () => undefined, peek: () => undefined, range: () => [] };

function fileFor(target: string, nowMs: number, overwrite: boolean): string {
  const isFolder = target.endsWith('/') || (existsSync(target) && statSync(target).isDirectory());
  const stamp = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
  const file = isFolder ? join(target, `waf-${stamp}${backupSuffix}`) : target;
  if (existsSync(file) && !overwrite) {
    throw new AppError('backup_exists', `${file} is there already: give another name or --force`, {
      source: 'config',
    });
  }
  return file;
}

/** Lines are short; the compressor is handed larger pieces. */
function* batched(lines: Iterable<Buffer>): Generator<Buffer> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for (const line of lines) {
    batch.push(line);
    bytes += line.length;
    if (bytes < 256 * 1024) continue;
    yield Buffer.concat(batch);
    [batch, bytes] = [[], 0];
  }
  yield Buffer.concat(batch);
}

async function writeWhole(file: string, pieces: Iterable<Buffer>): Promise<void> {
  const scratch = `${file}.${process.pid}.tmp`;
  try {
    const out = createWriteStream(scratch, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline(Readable.from(pieces), createGzip({ level: 1 }), out);
    renameSync(scratch, file);
    syncPath(dirname(file));
  } catch (error) {
    rmSync(scratch, { force: true });
    if (error instanceof AppError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new AppError('backup_unwritable', `the backup cannot be written to ${file} (${code})`, {
      source: 'storage',
      cause: error,
    });
  }
}

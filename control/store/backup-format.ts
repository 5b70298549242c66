/**
 * The format of a backup: gzip over lines of JSON. The first line says what it is, each
 * section ends with its own checksum and count, the last line with the checksum of everything.
 *
 *     {"format":"waf-backup","version":1,"createdAt":…,"product":…,"schema":…}
 *     {"section":"store","name":"control"}
 *     {"k":key,"v":base64}                     a value; "more":true when the next line continues it
 *     {"end":"control","count":…,"sha256":…}   over the lines of the section
 *     {"section":"files","name":"files"}
 *     {"k":path,"v":base64,"mode":384}
 *     {"end":"files",…}
 *     {"end":"backup","sha256":…}              over every line before
 */

import { createHash, type Hash } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { storeLimits } from '../limits/store-limits.ts';

/** Version of the format; a newer one is refused. */
export const backupVersion = 1;

/** What a backup says of itself. */
export interface BackupHeader {
  readonly format: 'waf-backup';
  readonly version: number;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Version of the product that made it. */
  readonly product: string;
  /** Layout of the store in it. */
  readonly schema: number;
}

/** One key with its value, or one file. */
export interface BackupEntry {
  readonly key: string;
  readonly value: Uint8Array;
  /** Permissions of a file. */
  readonly mode?: number;
}

/** Entries of one kind. */
export interface BackupSection {
  readonly kind: 'store' | 'files';
  readonly name: string;
  readonly entries: Iterable<BackupEntry>;
}

/** What comes out of a backup, in order; a section's end comes after its checksum was compared. */
export type BackupItem =
  | { readonly type: 'header'; readonly header: BackupHeader }
  | { readonly type: 'section'; readonly kind: 'store' | 'files'; readonly name: string }
  | { readonly type: 'entry'; readonly entry: BackupEntry }
  | { readonly type: 'end'; readonly name: string; readonly count: number };

/** One line of the file. */
interface Line {
  readonly section?: unknown;
  readonly name?: unknown;
  readonly k?: unknown;
  readonly v?: unknown;
  readonly more?: unknown;
  readonly mode?: unknown;
  readonly end?: unknown;
  readonly count?: unknown;
  readonly sha256?: unknown;
}

/** The bytes of a backup before compression. */
export function* encodeBackup(
  header: BackupHeader,
  sections: Iterable<BackupSection>,
): Generator<Buffer> {
  const all = createHash('sha256');
  const line = (value: unknown, section: Hash | null): Buffer => {
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
    all.update(bytes);
    section?.update(bytes);
    return bytes;
  };
  yield line(header, null);
  for (const { kind, name, entries } of sections) {
    const hash = createHash('sha256');
    yield line({ section: kind, name }, hash);
    let count = 0;
    for (const entry of entries) {
      count++;
      for (const one of linesOf(entry)) yield line(one, hash);
    }
    yield line({ end: name, count, sha256: hash.digest('hex') }, null);
  }
  yield line({ end: 'backup', sha256: all.copy().digest('hex') }, null);
}

function* linesOf({ key, value, mode }: BackupEntry): Generator<Line> {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const piece = storeLimits.backupPieceBytes;
  for (let at = 0; at === 0 || at < bytes.length; at += piece) {
    yield {
      ...(at === 0 ? { k: key } : {}),
      v: bytes.toString('base64', at, at + piece),
      ...(at + piece < bytes.length ? { more: true } : {}),
      ...(at === 0 && mode !== undefined ? { mode } : {}),
    };
  }
}

/** Reads what `encodeBackup` made, line by line. Errors: AppError backup_damaged, backup_newer. */
export async function* decodeBackup(lines: AsyncIterable<string>): AsyncGenerator<BackupItem> {
  const reader = new BackupReader();
  for await (const line of lines) yield* reader.read(line);
  reader.finish();
}

/** Follows the order of lines. */
class BackupReader {
  private readonly all = createHash('sha256');
  private section: { name: string; kind: 'store' | 'files'; hash: Hash; count: number } | null =
    null;
  private begun = false;
  private ended = false;
  private open: { key: string; pieces: Buffer[]; bytes: number; mode: number | undefined } | null =
    null;

  *read(text: string): Generator<BackupItem> {
    if (this.ended) throw damaged('something follows its end');
    const line = parse(text);
    const bytes = Buffer.from(`${text}\n`);
    if (line.end === 'backup') this.readEnd(line);
    this.all.update(bytes);
    if (!this.begun) {
      this.begun = true;
      yield { type: 'header', header: readHeader(line) };
    } else if (line.section !== undefined) yield this.readSection(line, bytes);
    else if (line.end !== undefined && !this.ended) yield this.readSectionEnd(line);
    else if (!this.ended) yield* this.readEntry(line, bytes);
  }

  finish(): void {
    if (!this.ended) throw damaged('it is cut off');
  }

  private readEnd(line: Line): void {
    if (this.section !== null || line.sha256 !== this.all.copy().digest('hex')) {
      throw damaged('its checksum is wrong');
    }
    this.ended = true;
  }

  private readSection(line: Line, bytes: Buffer): BackupItem {
    const { section: kind, name } = line;
    if (this.section !== null || (kind !== 'store' && kind !== 'files')) throw disorder();
    if (typeof name !== 'string' || !/^[a-z][a-z0-9-]{0,40}$/.test(name)) throw disorder();
    const hash = createHash('sha256').update(bytes);
    this.section = { name, kind, hash, count: 0 };
    return { type: 'section', kind, name };
  }

  private readSectionEnd(line: Line): BackupItem {
    const { section } = this;
    if (section === null || line.end !== section.name || this.open !== null) throw disorder();
    if (line.count !== section.count || line.sha256 !== section.hash.digest('hex')) {
      throw damaged(`the checksum of ${section.name} is wrong`);
    }
    this.section = null;
    return { type: 'end', name: section.name, count: section.count };
  }

  private *readEntry(line: Line, bytes: Buffer): Generator<BackupItem> {
    const { section } = this;
    if (section === null || typeof line.v !== 'string') throw disorder();
    section.hash.update(bytes);
    if (this.open === null) {
      if (typeof line.k !== 'string') throw disorder();
      const mode = typeof line.mode === 'number' ? line.mode : undefined;
      this.open = { key: line.k, pieces: [], bytes: 0, mode };
      section.count++;
    } else if (line.k !== undefined) throw disorder();
    const piece = Buffer.from(line.v, 'base64');
    this.open.pieces.push(piece);
    this.open.bytes += piece.length;
    if (this.open.bytes > storeLimits.backupValueBytesMax) throw damaged('a value is too long');
    if (line.more === true) return;
    const { key, pieces, mode } = this.open;
    this.open = null;
    const value = pieces.length === 1 ? piece : Buffer.concat(pieces);
    yield { type: 'entry', entry: { key, value, ...(mode === undefined ? {} : { mode }) } };
  }
}

function parse(text: string): Line {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Told below.
  }
  throw damaged('a line cannot be read');
}

function readHeader(line: Line): BackupHeader {
  const header = line as Partial<BackupHeader>;
  if (header.format !== 'waf-backup' || typeof header.version !== 'number') {
    throw new AppError('backup_damaged', 'this file is no backup of waf', { source: 'config' });
  }
  if (header.version > backupVersion) {
    throw new AppError(
      'backup_newer',
      `the backup has format ${header.version}, this version reads up to ${backupVersion}: use a newer version`,
      { source: 'config' },
    );
  }
  if (typeof header.schema !== 'number') throw disorder();
  return { createdAt: '', product: '', ...header } as BackupHeader;
}

/** The error for a backup that is not whole. */
export function damaged(why: string): AppError {
  return new AppError('backup_damaged', `the backup is damaged: ${why}`, { source: 'config' });
}

function disorder(): AppError {
  return damaged('its lines are out of order');
}

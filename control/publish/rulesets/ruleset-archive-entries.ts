/** The files inside an uploaded tar.gz or zip archive. Bounded; never writes to disk. */

import { gunzipSync, inflateRawSync } from 'node:zlib';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { AppError } from '../../../base/errors.ts';

/** A plain file of an archive. */
export interface ArchiveEntry {
  readonly path: string;
  readonly content: Uint8Array;
}

const blockBytes = 512;
const zipStart = 0x04034b50;
const directoryEntry = 0x02014b50;
const directoryEnd = 0x06054b50;
/** The end record has 22 bytes and a remark of at most 65,535. */
const endSearchBytes = 22 + 65_535;

/** Reads an archive. Errors: AppError ruleset_unreadable. */
export function readArchive(archive: Uint8Array): ArchiveEntry[] {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const isZip = bytes.length >= 4 && bytes.readUInt32LE(0) === zipStart;
  return isZip ? readZip(bytes) : [...readTar(unpack(bytes))];
}

function unpack(archive: Buffer): Buffer {
  try {
    return gunzipSync(archive, { maxOutputLength: resourceLimits.archiveBytesMax });
  } catch (error) {
    throw unreadable('the archive is neither a zip nor a tar.gz, or too large', error);
  }
}

function* readTar(tar: Buffer): Generator<ArchiveEntry> {
  let at = 0;
  let longName = '';
  for (let count = 0; at + blockBytes <= tar.length; count++) {
    requireFew(count);
    const header = tar.subarray(at, at + blockBytes);
    if (header[0] === 0) return;
    const size = Number.parseInt(text(header, 124, 12).trim() || '0', 8);
    if (!Number.isInteger(size) || size < 0 || at + blockBytes + size > tar.length) {
      throw unreadable('the archive is cut short');
    }
    const content = tar.subarray(at + blockBytes, at + blockBytes + size);
    const type = String.fromCharCode(header[156] ?? 0);
    const prefix = text(header, 345, 155);
    const name = longName || (prefix === '' ? '' : `${prefix}/`) + text(header, 0, 100);
    longName = type === 'L' ? text(content, 0, content.length) : '';
    if (type === '0' || type === '\0') yield { path: name, content: new Uint8Array(content) };
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes;
  }
}

function readZip(zip: Buffer): ArchiveEntry[] {
  const end = findEnd(zip);
  const count = zip.readUInt16LE(end + 10);
  requireFew(count);
  const entries: ArchiveEntry[] = [];
  let left = resourceLimits.archiveBytesMax;
  let at = zip.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== directoryEntry) throw cut();
    const nameBytes = zip.readUInt16LE(at + 28);
    const path = zip.toString('utf8', at + 46, at + 46 + nameBytes);
    if (!path.endsWith('/')) {
      const content = readZipped(zip, at, left);
      left -= content.length;
      entries.push({ path, content });
    }
    at += 46 + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return entries;
}

function findEnd(zip: Buffer): number {
  for (let at = zip.length - 22; at >= Math.max(0, zip.length - endSearchBytes); at--) {
    if (zip.readUInt32LE(at) === directoryEnd) return at;
  }
  throw cut();
}

function readZipped(zip: Buffer, entry: number, bytesMax: number): Uint8Array {
  const method = zip.readUInt16LE(entry + 10);
  const packed = zip.readUInt32LE(entry + 20);
  const size = zip.readUInt32LE(entry + 24);
  const start = zip.readUInt32LE(entry + 42);
  if (start + 30 > zip.length || size > bytesMax) throw cut();
  const from = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28);
  const bytes = zip.subarray(from, from + packed);
  if (method === 0 && packed === size && bytes.length === size) return new Uint8Array(bytes);
  if (method !== 8) throw unreadable('the zip uses a compression that is not known here');
  try {
    return new Uint8Array(inflateRawSync(bytes, { maxOutputLength: Math.max(size, 1) }));
  } catch (error) {
    throw unreadable('the zip is damaged', error);
  }
}

function requireFew(count: number): void {
  if (count > resourceLimits.archiveEntriesMax)
    throw unreadable('the archive has too many entries');
}

function text(bytes: Buffer, start: number, length: number): string {
  const field = bytes.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

function cut(): AppError {
  return unreadable('the archive is cut short');
}

function unreadable(message: string, cause?: unknown): AppError {
  return new AppError('ruleset_unreadable', message, { source: 'config', cause });
}

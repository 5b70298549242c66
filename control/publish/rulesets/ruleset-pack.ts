/** Packs a folder as the tar.gz that imports take. Bounded by what an import may hold. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../../base/errors.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';

const blockBytes = 512;

/** A file of an archive. */
export interface ArchiveFile {
  readonly path: string;
  readonly content: Uint8Array;
}

/** A folder's files in an archive, under one folder as releases have it. Errors: of reading. */
export function packFolder(folder: string): Buffer {
  const files: ArchiveFile[] = [];
  const add = (from: string): void => {
    for (const name of readdirSync(path.join(folder, from)).sort()) {
      const inner = path.join(from, name);
      if (statSync(path.join(folder, inner)).isDirectory()) add(inner);
      else if (files.length >= resourceLimits.rulesetFilesMax) throw tooMany(folder);
      else files.push({ path: inner, content: readFileSync(path.join(folder, inner)) });
    }
  };
  add('');
  return packArchive(files.map((file) => ({ ...file, path: `release/${file.path}` })));
}

/** Files in a tar.gz. Paths have at most 100 characters. */
export function packArchive(files: readonly ArchiveFile[]): Buffer {
  const blocks = files.flatMap(({ path: name, content }) => {
    const padding = (blockBytes - (content.length % blockBytes)) % blockBytes;
    return [headerOf(name, content.length), Buffer.from(content), Buffer.alloc(padding)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]));
}

function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, 100, 'utf8');
  header.write('0000644\0', 100, 'latin1');
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.write('ustar\0', 257, 'latin1');
  header.write('0', 156, 'latin1');
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

function tooMany(folder: string): AppError {
  const message = `${folder} has more than ${resourceLimits.rulesetFilesMax} files`;
  return new AppError('ruleset_too_large', message, { source: 'config' });
}

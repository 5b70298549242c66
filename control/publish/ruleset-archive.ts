/** Owns reading a ruleset from a tar.gz archive, as the CRS project publishes it. Bounded. */

import { gunzipSync } from 'node:zlib';
import { controlLimits } from '../../engine/base/limits.ts';
import { AppError } from '../../engine/base/errors.ts';
import { describeRuleset, type ReadRuleset, type RulesetFile } from './ruleset-folder.ts';

const blockBytes = 512;

/** Reads an archive. Errors: AppError ruleset_unreadable, ruleset_empty, ruleset_too_large. */
export function readRulesetArchive(archive: Uint8Array): ReadRuleset {
  const files: RulesetFile[] = [];
  for (const { path, content } of entriesOf(unpack(archive))) {
    const found = /(?:^|\/)(rules|plugins)\/([^/]+\.(?:conf|data))$/.exec(path);
    if (found === null || /(?:^|\/)(?:tests|regex-assembly)\//.test(path)) continue;
    files.push({ path: `crs/${found[1]}/${found[2]}`, content: new Uint8Array(content) });
  }
  return describeRuleset(files, 'the archive');
}

function unpack(archive: Uint8Array): Buffer {
  try {
    return gunzipSync(archive, { maxOutputLength: controlLimits.archiveBytesMax });
  } catch (error) {
    throw unreadable('the archive is no tar.gz, or too large', error);
  }
}

function* entriesOf(tar: Buffer): Generator<{ path: string; content: Buffer }> {
  let at = 0;
  let longName = '';
  for (let count = 0; at + blockBytes <= tar.length; count++) {
    if (count > controlLimits.archiveEntriesMax)
      throw unreadable('the archive has too many entries');
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
    if (type === '0' || type === '\0') yield { path: name, content };
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes;
  }
}

function text(bytes: Buffer, start: number, length: number): string {
  const field = bytes.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

function unreadable(message: string, cause?: unknown): AppError {
  return new AppError('ruleset_unreadable', message, { source: 'config', cause });
}

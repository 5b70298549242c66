/**
 * Which of a site's prefixes a path belongs to: the longest one of whole segments, compared without
 * case with the path as it was sent.
 */

import { isPlainPath, READER, readPath } from '../../base/path-readings.ts';
import { REFUSAL, type Refusal } from './refusal.ts';

/** One prefix and what it stands for. */
export interface PathPrefix<Choice> {
  /** Lower case; empty for all paths. */
  readonly bytes: Uint8Array;
  readonly choice: Choice;
}

/** The bytes of a prefix as a site states it. */
export function prefixBytes(pathPrefix: string): Buffer {
  return Buffer.from(pathPrefix === '/' ? '' : pathPrefix, 'latin1');
}

/** See the header. */
export class PathPrefixes<Choice extends object> {
  private readonly prefixes: readonly PathPrefix<Choice>[];
  private readonly rest: Choice | null;

  /** `prefixes`: the longest first; `rest`: of all other paths. */
  constructor(prefixes: readonly PathPrefix<Choice>[], rest: Choice | null) {
    this.prefixes = prefixes;
    this.rest = rest;
  }

  /**
   * What the path in [start, end) stands for, query included; null for nothing. Errors: a path that
   * means one choice as it is sent and another as origins may understand it is refused:
   * `/open/../hidden` is not for the origin of `/open`. So is one of more readings than are known.
   */
  choose(bytes: Buffer, start: number, end: number): Choice | Refusal | null {
    const choice = this.match(bytes, start, end);
    const target = bytes.latin1Slice(start, end);
    const mark = target.search(/[?#]/);
    const path = mark < 0 ? target : target.slice(0, mark);
    if (isPlainPath(path)) return choice;
    const { list, complete } = readPath(path);
    if (!complete) return REFUSAL.pathAmbiguous;
    if (this.prefixes.length === 0) return choice;
    for (const { text, reader } of list) {
      if (reader !== READER.USUAL) break;
      const read = Buffer.from(text, 'latin1');
      if (this.match(read, 0, read.length) !== choice) return REFUSAL.pathAmbiguous;
    }
    return choice;
  }

  private match(bytes: Uint8Array, start: number, end: number): Choice | null {
    for (const { bytes: prefix, choice } of this.prefixes) {
      if (startsWith(bytes, start, end, prefix)) return choice;
    }
    return this.rest;
  }
}

function startsWith(bytes: Uint8Array, start: number, end: number, prefix: Uint8Array): boolean {
  const stop = start + prefix.length;
  if (stop > end) return false;
  for (let i = 0; i < prefix.length; i++) {
    const byte = bytes[start + i]!;
    const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    if (lower !== prefix[i]) return false;
  }
  if (stop === end) return true;
  const next = bytes[stop];
  return next === 0x2f || next === 0x3f || next === 0x23;
}

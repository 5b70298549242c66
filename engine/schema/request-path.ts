/**
 * The readings that origins may have of a path, as segments of texts: see `base/path-readings.ts`.
 * Where they mean different operations an attacker would choose.
 */

import { READER, readPath } from '../../base/path-readings.ts';
import { decodePercent } from './pairs.ts';

/** One reading: segments decoded, and as sent. */
export interface PathReading {
  readonly segments: readonly string[];
  /** Escaped, by segment; the same as `segments` where nothing was. */
  readonly raw: readonly string[];
  /** False for what only some platforms read: it leads to operations, and misses none. */
  readonly usual: boolean;
}

/** The readings of a path that begins with `/`, the one as sent first; [] for any other path. */
export function pathReadings(path: string): PathReading[] {
  if (path.charCodeAt(0) !== 0x2f) return [];
  const readings: PathReading[] = [];
  const known = new Set<string>();
  for (const { text, decoding, reader } of readPath(path).list) {
    // Segments are decoded here, and whoever decodes twice is no origin of documents.
    if (decoding === 'part' || reader === READER.RARE) continue;
    const parts = text === '/' ? [] : text.slice(1).split('/');
    const escaped = decoding === 'all' ? parts.map(escapePercent) : parts;
    const odd = text.includes('%') || /[\x80-\xff]/.test(text);
    const segments = odd ? escaped.map(decodeOnce) : parts;
    const key = segments.join('\0');
    if (known.has(key)) continue;
    known.add(key);
    readings.push({ segments, raw: escaped, usual: reader === READER.USUAL });
  }
  return readings;
}

/** What cannot be decoded stays as it was sent: a parameter that takes it is then refused. */
function decodeOnce(text: string): string {
  return decodePercent(text) ?? text;
}

/** So that what was decoded once is not decoded again. */
function escapePercent(text: string): string {
  return text.includes('%') ? text.replaceAll('%', '%25') : text;
}

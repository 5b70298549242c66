/**
 * The readings that origins may have of a path: as it was sent, each segment decoded once; and with
 * dot segments resolved, several slashes taken for one and `;` parameters dropped, as routing has
 * it. Where they mean different operations an attacker would choose.
 */

import { plainPathOf } from '../guard/request-view.ts';
import { decodePercent } from './pairs.ts';

/** One reading: segments decoded, and as sent. */
export interface PathReading {
  readonly segments: readonly string[];
  /** Escaped, by segment; the same as `segments` where nothing was. */
  readonly raw: readonly string[];
}

/** The readings of a path that begins with `/`, the one as sent first; [] for any other path. */
export function pathReadings(path: string): PathReading[] {
  if (path.charCodeAt(0) !== 0x2f) return [];
  const raw = path === '/' ? [] : path.slice(1).split('/');
  const readings: PathReading[] = [];
  const segments = path.includes('%') || /[\x80-\xff]/.test(path) ? raw.map(decodeOnce) : raw;
  readings.push({ segments, raw });
  const plain = plainPathOf(path);
  if (plain === null) return readings;
  const others = plain === '/' ? [] : plain.slice(1).split('/');
  const decoded = others.map((text) => decodePercentless(text));
  if (decoded.join('\0') !== segments.join('\0'))
    readings.push({ segments: decoded, raw: others.map(escapePercent) });
  return readings;
}

/** What cannot be decoded stays as it was sent: a parameter that takes it is then refused. */
function decodeOnce(text: string): string {
  return decodePercent(text) ?? text;
}

/** Bytes of UTF-8 as text; what is none stays as it is. */
function decodePercentless(text: string): string {
  return decodePercent(escapePercent(text)) ?? text;
}

/** So that what was decoded once is not decoded again. */
function escapePercent(text: string): string {
  return text.includes('%') ? text.replaceAll('%', '%25') : text;
}

/** Reads Content-Type strictly, and finds which media type of an operation it is. */

import { readAlike } from '../base/multipart-content-type.ts';
import type { ApiMedia } from '../contract/api-checks.ts';

/** A media type with the parameters that decide how a body is read. */
export interface MediaType {
  /** Lower case, without parameters. */
  readonly type: string;
  /** Lower case; '' for none. */
  readonly charset: string;
  /** '' for none, and where backends read different ones. */
  readonly boundary: string;
}

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const typePattern = new RegExp(`^(${token}/${token})[ \\t]*`);
const parameterPattern = new RegExp(
  `^;[ \\t]*(${token})=(?:(${token})|"((?:[^"\\\\\\x00-\\x1f\\x7f]|\\\\[\\x20-\\x7e])*)")[ \\t]*`,
);

/** Reads a value of Content-Type; null where it has no one reading. */
export function readMediaType(text: string): MediaType | null {
  const isMultipart = /^multipart\//i.test(text);
  const alike = isMultipart ? readAlike(text) : null;
  // All backends take a semicolon at the end then.
  const read = readStrictly(alike?.kind === 'boundary' ? text.replace(/; *$/, '') : text);
  if (read === null || alike === null) return read;
  return { ...read, boundary: alike.kind === 'boundary' ? alike.boundary : '' };
}

function readStrictly(text: string): MediaType | null {
  const start = typePattern.exec(text);
  if (start === null) return null;
  const seen = new Map<string, string>();
  let rest = text.slice(start[0].length);
  while (rest !== '') {
    const parameter = parameterPattern.exec(rest);
    if (parameter === null) return null;
    const name = parameter[1]!.toLowerCase();
    const value = parameter[2] ?? parameter[3]!;
    // Some readers undo a quoted pair, others keep the backslash.
    if (seen.has(name) || (name === 'charset' && value.includes('\\'))) return null;
    seen.set(name, value);
    rest = rest.slice(parameter[0].length);
  }
  const charset = (seen.get('charset') ?? '').toLowerCase();
  return { type: start[1]!.toLowerCase(), charset, boundary: seen.get('boundary') ?? '' };
}

/** The most specific range that takes a type; null for none. */
export function findMedia<T extends Pick<ApiMedia, 'range'>>(
  media: readonly T[],
  type: string,
): T | null {
  const family = `${type.slice(0, type.indexOf('/'))}/*`;
  return rangeOf(media, type) ?? rangeOf(media, family) ?? rangeOf(media, '*/*');
}

function rangeOf<T extends Pick<ApiMedia, 'range'>>(media: readonly T[], range: string): T | null {
  for (const one of media) if (one.range === range) return one;
  return null;
}

/** True where a part's type is one of a list; an empty list takes any. */
export function isListed(ranges: readonly string[], type: string): boolean {
  return (
    ranges.length === 0 ||
    findMedia(
      ranges.map((range) => ({ range })),
      type,
    ) !== null
  );
}

/**
 * Every reading that an origin may have of a path: what refuses or counts by path matches any of
 * them, what allows matches all. A path that all servers read alike costs one test and has one
 * reading. What is bounded here is refused past the bound, see `complete`.
 */

import { isUtf8 } from 'node:buffer';
import { encodeUtf8, withUtf8, type ByteString } from './byte-string.ts';

/** How widespread a reading is. */
export const READER = {
  /** Servers and frameworks as they are set up: what allows by path needs all of these. */
  USUAL: 0,
  /** Platforms: paths after a script's name, Windows names, `%00`, `%0a`, overlong UTF-8, NFC. */
  PLATFORM: 1,
  /** Origins that decode twice, take `+` for a space, bytes for Latin-1, wide letters for ASCII. */
  RARE: 2,
} as const;
/** One of them. */
export type Reader = (typeof READER)[keyof typeof READER];

/** What became of the escapes in a reading: `part` keeps those of slashes. */
export type Decoding = 'none' | 'part' | 'all';

/** One reading of a path. */
export interface PathReading {
  readonly text: ByteString;
  readonly decoding: Decoding;
  readonly reader: Reader;
}

/** The readings of a path. */
export interface PathReadings {
  /** The path as sent first; those of `USUAL` readers before the others. */
  readonly list: readonly PathReading[];
  /** False where there are more than are listed: such a request is refused. */
  readonly complete: boolean;
}

/** Bounds of the readings of one path. */
export const pathReadingLimits = {
  readingsMax: 64,
  /** Characters of all readings together. */
  charactersMax: 131_072,
  /** Places in one path where a script may end. */
  scriptsMax: 4,
} as const;

/** Names of scripts that servers run with the rest of the path as their argument. */
const scriptEnd = '\\.(?:php\\d?|phtml|phar|cgi|fcgi|pl|py|rb|aspx?|ashx|asmx|jspx?|do|cfm)/';
const scriptEnds = new RegExp(scriptEnd, 'gi');
const unplain = new RegExp(
  `[%;\\\\+\\x80-\\xff]|//|/\\.\\.?(?:/|$)|[. ](?:/|$)|${scriptEnd}|::\\$`,
  'i',
);

/** Whether every origin reads the path as it was sent. Cost: one pass. */
export function isPlainPath(path: ByteString): boolean {
  return !unplain.test(path);
}

/** The readings of a path without query. */
export function readPath(path: ByteString): PathReadings {
  const sent: PathReading = { text: path, decoding: 'none', reader: READER.USUAL };
  if (!path.startsWith('/') || isPlainPath(path)) return { list: [sent], complete: true };
  return new Reading(sent).read();
}

/** The readings of one path while they are found; each step adds to what was found before. */
class Reading {
  private readonly found = new Map<string, PathReading>();
  private characters = 0;
  private complete = true;

  constructor(sent: PathReading) {
    this.add(sent);
  }

  read(): PathReadings {
    this.each(READER.USUAL, ({ text }) => [withoutAuthority(text)]);
    this.eachText(backslashesAsSlashes);
    this.eachText(withoutParameters);
    this.decode();
    this.eachText(backslashesAsSlashes);
    this.eachText(withoutParameters);
    this.eachText(mergedSlashes);
    this.each(READER.USUAL, ({ text, decoding }) => [resolvedDots(text, decoding === 'none')]);
    this.eachText(mergedSlashes);
    this.each(READER.PLATFORM, platformReadings);
    this.each(READER.RARE, rareReadings);
    const list = [...this.found.values()].sort((left, right) => left.reader - right.reader);
    return { list, complete: this.complete };
  }

  private eachText(change: (text: ByteString) => ByteString | null): void {
    this.each(READER.USUAL, ({ text }) => [change(text)]);
  }

  private decode(): void {
    for (const { text, reader } of [...this.found.values()]) {
      if (!text.includes('%')) continue;
      this.add({ text: decode(text, false), decoding: 'all', reader });
      // Frameworks that split before they decode: an escaped slash is no slash.
      if (!/%(?:2f|5c)/i.test(text)) continue;
      this.add({ text: decode(text, true), decoding: 'part', reader });
    }
  }

  /** Adds what `change` makes of every reading so far. */
  private each(
    reader: Reader,
    change: (reading: PathReading) => readonly (ByteString | null)[],
  ): void {
    for (const reading of [...this.found.values()]) {
      if (!this.complete) return;
      const decoding = reader === READER.USUAL ? reading.decoding : 'all';
      for (const text of change(reading)) {
        if (text === null || text === reading.text) continue;
        this.add({ text, decoding, reader: Math.max(reader, reading.reader) as Reader });
      }
    }
  }

  private add(reading: PathReading): void {
    const { text, decoding } = reading;
    // Without escapes it makes no difference.
    const key = text.includes('%') ? `${decoding} ${text}` : text;
    if (this.found.has(key)) return;
    this.characters += text.length;
    const { readingsMax, charactersMax } = pathReadingLimits;
    if (this.found.size >= readingsMax || this.characters > charactersMax) this.complete = false;
    else this.found.set(key, reading);
  }
}

/** WHATWG URL: two slashes or more of either kind begin a host. */
function withoutAuthority(text: ByteString): ByteString | null {
  const lead = /^[/\\]{2,}[^/\\]*/.exec(text);
  if (lead === null) return null;
  const rest = text.slice(lead[0].length);
  return rest === '' ? '/' : rest;
}

function backslashesAsSlashes(text: ByteString): ByteString | null {
  return text.includes('\\') ? text.replaceAll('\\', '/') : null;
}

/** Servlet containers: what follows `;` in a segment is a parameter. */
function withoutParameters(text: ByteString): ByteString | null {
  return text.includes(';') ? text.replace(/;[^/]*/g, '') : null;
}

function mergedSlashes(text: ByteString): ByteString | null {
  return text.includes('//') ? text.replace(/\/{2,}/g, '/') : null;
}

/** Every escape once; `keepsSlashes`: but those of slashes of either kind. */
export function decode(text: ByteString, keepsSlashes: boolean): ByteString {
  return text.replace(/%([0-9a-f]{2})/gi, (escape, digits: string) => {
    const byte = Number.parseInt(digits, 16);
    return keepsSlashes && (byte === 0x2f || byte === 0x5c) ? escape : String.fromCharCode(byte);
  });
}

const dots = /^(?:\.|%2e)$/i;
const twoDots = /^(?:\.|%2e){2}$/i;

/** RFC 3986 section 5.2.4; `escaped`: also dots that are escaped, as WHATWG URL has it. */
function resolvedDots(text: ByteString, escaped: boolean): ByteString | null {
  if (!(escaped ? /\/(?:\.|%2e){1,2}(?:\/|$)/i : /\/\.{1,2}(?:\/|$)/).test(text)) return null;
  const segments = text.slice(1).split('/');
  const kept: string[] = [];
  segments.forEach((segment, at) => {
    const up = escaped ? twoDots.test(segment) : segment === '..';
    const here = escaped ? dots.test(segment) : segment === '.';
    if (up) kept.pop();
    if (!up && !here) kept.push(segment);
    else if (at === segments.length - 1) kept.push('');
  });
  return `/${kept.join('/')}`;
}

function platformReadings({ text }: PathReading): (ByteString | null)[] {
  const names = [windowsName(text), beforeNul(text), shortestUtf8(text), withoutLineEnd(text)];
  // File systems that keep one normal form for both, such as that of macOS.
  return [...names, normalized(text, 'NFC'), ...scriptsOf(text)];
}

/** Windows leaves dots and spaces at the end of a name out; `::$DATA` names the file itself. */
function windowsName(text: ByteString): ByteString | null {
  if (!/[. ](?:\/|$)|::\$/.test(text)) return null;
  return text
    .replace(/::\$[^/]*/g, '')
    .split('/')
    .map((name) => (/^\.{0,2}$/.test(name) ? name : trimmedEnd(name)))
    .join('/');
}

function trimmedEnd(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end--;
  return name.slice(0, end);
}

function beforeNul(text: ByteString): ByteString | null {
  const nul = text.indexOf('\0');
  return nul < 0 ? null : text.slice(0, nul);
}

/** `$` of PCRE and Python also matches before a line end that is the last character. */
function withoutLineEnd(text: ByteString): ByteString | null {
  return text.endsWith('\n') ? text.slice(0, -1) : null;
}

/** Lenient decoders: an ASCII character in two bytes or three. */
function shortestUtf8(text: ByteString): ByteString | null {
  if (!/[\xc0\xc1][\x80-\xbf]|\xe0[\x80\x81][\x80-\xbf]/.test(text)) return null;
  const short = text
    .replace(/\xe0([\x80\x81][\x80-\xbf])/g, (_, two: string) => low(two, two.charCodeAt(0) & 1))
    .replace(/([\xc0\xc1][\x80-\xbf])/g, (_, two: string) => low(two, two.charCodeAt(0) & 1));
  return resolvedDots(mergedSlashes(short) ?? short, false) ?? short;
}

function low(two: string, high: number): string {
  return String.fromCharCode((high << 6) | (two.charCodeAt(1) & 0x3f));
}

/** A script and the path that it is given: `/index.php/login` runs `/index.php`, means `/login`. */
function scriptsOf(text: ByteString): ByteString[] {
  const readings: ByteString[] = [];
  let left: number = pathReadingLimits.scriptsMax;
  for (const { 0: end, index } of text.matchAll(scriptEnds)) {
    if (left-- === 0) break;
    const slash = index + end.length - 1;
    readings.push(text.slice(0, slash), text.slice(slash));
  }
  return readings;
}

function rareReadings({ text, decoding }: PathReading): (ByteString | null)[] {
  const again =
    decoding === 'all' && /%[0-9a-f]{2}/i.test(text) ? cleaned(decode(text, false)) : null;
  const wide = /%u[0-9a-f]{4}/i.test(text) ? cleaned(wideDecoded(text)) : null;
  const narrow = normalized(text, 'NFKC');
  return [
    ...[again, wide, narrow === null ? null : cleaned(narrow), fromLatin1(text)],
    text.includes('+') ? text.replaceAll('+', ' ') : null,
  ];
}

function normalized(text: ByteString, form: 'NFC' | 'NFKC'): ByteString | null {
  return isAscii(text) ? null : withUtf8(text, (valid) => valid.normalize(form));
}

/** What is no UTF-8, for servers that take bytes for characters: `%e9` is é. */
function fromLatin1(text: ByteString): ByteString | null {
  return isAscii(text) || isUtf8(Buffer.from(text, 'latin1')) ? null : encodeUtf8(text);
}

function isAscii(text: ByteString): boolean {
  return !/[\x80-\xff]/.test(text);
}

/** As IIS once had it. */
function wideDecoded(text: ByteString): ByteString {
  return text.replace(/%u([0-9a-f]{4})/gi, (_, digits: string) =>
    encodeUtf8(String.fromCharCode(Number.parseInt(digits, 16))),
  );
}

function cleaned(text: ByteString): ByteString {
  const slashes = text.replaceAll('\\', '/').replace(/;[^/]*/g, '');
  const merged = slashes.replace(/\/{2,}/g, '/');
  return resolvedDots(merged, false) ?? merged;
}

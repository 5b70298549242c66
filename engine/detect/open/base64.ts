/**
 * Opens base64 and base64url, of a whole text, of runs in one, of tokens (JWT). What decodes to
 * bytes without a stretch of text is left alone, unless it begins as serialized objects do.
 * Source: RFC 4648, RFC 7519.
 */

import { toByteString, type ByteString } from '../../../base/byte-string.ts';
import { serialized } from '../serialized.ts';
import { base64BytesMin, type Leaves } from './leaves.ts';
import { climbsInForms } from './path-forms.table.ts';

const runPattern = /[A-Za-z0-9+/_-]{12,65536}={0,2}/g;
/** Stretch of printable bytes in decoded ones that is not chance: 1 in 100,000 for random bytes. */
const printableMin = 12;

/** Adds what runs of a text decode to. */
export function openBase64(text: ByteString, leaves: Leaves): void {
  if (text.length < base64BytesMin) return;
  runPattern.lastIndex = 0;
  for (let found = runPattern.exec(text); found !== null; found = runPattern.exec(text)) {
    if (found[0].startsWith('/')) openSegments(found[0], leaves);
    openRun(found[0], leaves);
  }
}

/** A path: its slashes are not of the alphabet. */
function openSegments(path: ByteString, leaves: Leaves): void {
  for (const segment of path.split('/')) {
    if (segment.length >= base64BytesMin) openRun(segment, leaves);
  }
}

/** With the padding. */
const shortBytesMax = 13;
const shortPattern = /^[A-Za-z0-9+/_-]{2,11}={1,2}$/;

/**
 * Adds what a whole value of a few padded bytes decodes to, where that has a mark of a shell, of
 * markup or of SQL: no word of a text has one. False where it is none.
 */
export function openShortBase64(text: ByteString, leaves: Leaves): boolean {
  if (text.length > shortBytesMax || !shortPattern.test(text)) return false;
  const decoded = toByteString(Buffer.from(text, 'base64'));
  if (!/[;|&`$<'"]|\b(?:x?or|and)\s.{0,12}[=<>]/i.test(decoded) || !printableIn(decoded).all)
    return false;
  leaves.add('base64', decoded);
  return true;
}

function openRun(run: string, leaves: Leaves): void {
  if (!hasBothCases(run)) return;
  const decoded = toByteString(Buffer.from(run, 'base64'));
  if (serialized.test(decoded)) {
    leaves.add('base64', decoded, 'binary');
    return;
  }
  const { longest, all } = printableIn(decoded);
  if (all && decoded.length >= 6) leaves.add('base64', decoded);
  else if (longest >= printableMin || climbsInForms(decoded)) leaves.add('base64', decoded);
}

function hasBothCases(run: string): boolean {
  return /[a-z]/.test(run) && /[A-Z]/.test(run);
}

function printableIn(decoded: ByteString): { longest: number; all: boolean } {
  let longest = 0;
  let run = 0;
  let all = true;
  for (let at = 0; at < decoded.length; at++) {
    const code = decoded.charCodeAt(at);
    if ((code >= 0x20 && code < 0x7f) || code === 10 || code === 13 || code === 9) {
      run++;
      if (run > longest) longest = run;
    } else {
      run = 0;
      all = false;
    }
  }
  return { longest, all };
}

const tokenPattern = /^(?:bearer[ ]{1,4})?(eyJ[\w-]{4,65536})\.([\w-]{2,65536})\.[\w-]{0,4096}$/i;

/** Adds head and claims of a JSON Web Token; false if it is none. */
export function openToken(text: ByteString, leaves: Leaves): boolean {
  const found = tokenPattern.exec(text);
  if (found === null) return false;
  leaves.add('token head', toByteString(Buffer.from(found[1]!, 'base64url')));
  leaves.add('token claims', toByteString(Buffer.from(found[2]!, 'base64url')));
  return true;
}

const basicPattern = /^basic[ ]{1,16}([A-Za-z0-9+/_-]{2,8192}={0,2})[ ]{0,4}$/i;

/** Adds user and password of HTTP's Basic scheme; false if it is another. Source: RFC 7617. */
export function openCredentials(text: ByteString, leaves: Leaves): boolean {
  const found = basicPattern.exec(text);
  if (found === null) return false;
  leaves.add('credentials', toByteString(Buffer.from(found[1]!, 'base64')), 'credentials');
  return true;
}

/**
 * What evidence keeps of an answer's head: status and fields, within a bound. An answer hands out
 * secrets that it made for this client (cookies, tokens): their values are hidden. Pure.
 */

import { isSecretName } from '../../base/secret-names.ts';
import { hiddenText } from '../../base/secret-text.ts';
import type { EvidenceAnswer } from '../../contract/evidence.ts';
import { wholeLines } from '../wire/whole-lines.ts';

const nothing = new Uint8Array();

/** The kept part of a head; `head` begins with the status line, which the answer leaves out. */
export function answerOf(status: number, head: Uint8Array, bytesMax: number): EvidenceAnswer {
  const from = head.indexOf(0x0a) + 1;
  if (from === 0 || bytesMax === 0) {
    return { status, headers: nothing, truncated: head.length > 0 };
  }
  const lines = hideInLines(head.subarray(from, endOfLines(head)));
  const headers = wholeLines(lines, bytesMax);
  return { status, headers, truncated: headers.length < lines.length };
}

/** Where the field lines end: before the empty line, where there is one. */
function endOfLines(head: Uint8Array): number {
  const { length } = head;
  const empty = [0x0d, 0x0a, 0x0d, 0x0a].every((byte, at) => head[length - 4 + at] === byte);
  return empty ? length - 2 : length;
}

/** The lines without secrets; the same bytes where they hold none. */
function hideInLines(lines: Uint8Array): Uint8Array {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length).latin1Slice();
  let [shown, kept] = ['', 0];
  for (let at = 0; at < text.length;) {
    const found = text.indexOf('\r\n', at);
    const end = found < 0 ? text.length : found;
    const colon = text.indexOf(':', at);
    const name = colon < 0 || colon >= end ? '' : text.slice(at, colon);
    if (isSetCookie(name) || isSecretName(name)) {
      shown += text.slice(kept, at) + hideInLine(name, text.slice(at, end));
      kept = end;
    }
    at = end + 2;
  }
  return kept === 0 ? lines : Buffer.from(shown + text.slice(kept), 'latin1');
}

const setCookie = 'set-cookie';

function isSetCookie(name: string): boolean {
  return name.length === setCookie.length && name.toLowerCase() === setCookie;
}

/** A cookie keeps its name and attributes, and fields with secret names keep their names. */
function hideInLine(name: string, line: string): string {
  if (isSetCookie(name)) return line.replace(/^([^=;]*=)[^;]*/, `$1${hiddenText}`);
  return `${name}: ${hiddenText}`;
}

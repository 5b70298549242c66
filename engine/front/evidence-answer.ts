/**
 * What evidence keeps of an answer's head: status and fields, within a bound. An answer hands out
 * secrets that it made for this client (cookies, tokens): their values are hidden. Pure.
 */

import { isSecretName } from '../base/secret-names.ts';
import { hiddenText } from '../base/secret-text.ts';
import type { EvidenceAnswer } from '../contract/evidence.ts';
import { wholeLines } from './whole-lines.ts';

const nothing = new Uint8Array();

/** The kept part of a head, the status line included in `head` and left out of the answer. */
export function answerOf(status: number, head: Uint8Array, bytesMax: number): EvidenceAnswer {
  const from = head.indexOf(0x0a) + 1;
  if (from === 0 || bytesMax === 0) {
    return { status, headers: nothing, truncated: head.length > 0 };
  }
  const text = Buffer.from(head.buffer, head.byteOffset + from, head.length - from);
  const shown = text.toString('latin1').replace(/\r\n\r\n$/, '\r\n');
  const lines = Buffer.from(shown.split('\r\n').map(hideInLine).join('\r\n'), 'latin1');
  const headers = new Uint8Array(wholeLines(lines, bytesMax));
  return { status, headers, truncated: headers.length < lines.length };
}

/** A cookie keeps its name and attributes, and fields with secret names keep their names. */
function hideInLine(line: string): string {
  const colon = line.indexOf(':');
  if (colon < 0) return line;
  const name = line.slice(0, colon);
  if (/^set-cookie$/i.test(name)) return line.replace(/^([^=;]*=)[^;]*/, `$1${hiddenText}`);
  return isSecretName(name) ? `${name}: ${hiddenText}` : line;
}

/**
 * Which content codings an origin may answer in where its answers are inspected: of those the
 * client takes, the ones that inspection can undo (RFC 9110 section 12.5.3).
 */

import { SPAN } from '../../contract/message.ts';
import { KIND_MASK, type HeadScanner } from '../../http/head-scanner.ts';
import { FIELD } from '../../http/tables.ts';

const undone: ReadonlySet<string> = new Set([
  'gzip',
  'x-gzip',
  'deflate',
  'br',
  'zstd',
  'identity',
]);

/** The last answer of the thread: browsers of a kind all send the same. */
let known = { asked: '', line: '' };

/**
 * The Accept-Encoding line for the origin, with its end; empty where the client sent none. A client
 * that takes none of what can be undone is answered without a coding.
 */
export function offeredCodings(
  bytes: Uint8Array,
  { spans, kinds, fieldCount }: HeadScanner,
): string {
  let asked: string | null = null;
  for (let i = 0; i < fieldCount; i++) {
    if ((kinds[i]! & KIND_MASK) !== FIELD.ACCEPT_ENCODING) continue;
    const at = SPAN.fields + 4 * i;
    const value = Buffer.prototype.latin1Slice.call(bytes, spans[at + 2]!, spans[at + 3]!);
    asked = asked === null ? value : `${asked},${value}`;
  }
  if (asked === null) return '';
  if (asked !== known.asked) known = { asked, line: lineFor(asked) };
  return known.line;
}

function lineFor(asked: string): string {
  const kept = asked
    .split(',')
    .map((one) => one.trim())
    .filter((one) => undone.has(one.split(';', 1)[0]!.trim().toLowerCase()));
  return `Accept-Encoding: ${kept.length > 0 ? kept.join(', ') : 'identity'}\r\n`;
}

/** The opening handshake of WebSocket (RFC 6455 section 4), over heads as they were parsed. */

import { createHash } from 'node:crypto';
import { SPAN } from '../contract/message.ts';
import type { HeadScanner } from './head-scanner.ts';

const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** The field that offers and takes extensions, lower case. */
export const extensionsField = 'sec-websocket-extensions';
/** Sixteen bytes in base64. */
const keyForm = /^[A-Za-z0-9+/]{22}==$/;

/** The client's key when the head asks for version 13 with one well-formed key; null otherwise. */
export function websocketKey(bytes: Uint8Array, head: HeadScanner): string | null {
  const version = soleValue(bytes, head, 'sec-websocket-version');
  const key = soleValue(bytes, head, 'sec-websocket-key');
  return version === '13' && key !== null && keyForm.test(key) ? key : null;
}

/** True when the answer proves that the origin understood a handshake with `key`. */
export function acceptsWebsocket(bytes: Uint8Array, head: HeadScanner, key: string): boolean {
  const upgrade = soleValue(bytes, head, 'upgrade');
  const expected = createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64');
  return (
    head.connectionUpgrade &&
    upgrade?.toLowerCase() === 'websocket' &&
    soleValue(bytes, head, 'sec-websocket-accept') === expected
  );
}

/** True when the head names extensions of the frames (RFC 6455 section 9). */
export function namesExtensions(bytes: Uint8Array, head: HeadScanner): boolean {
  for (let i = 0; i < head.fieldCount; i++) {
    const at = SPAN.fields + 4 * i;
    const name = text(bytes, head.spans[at]!, head.spans[at + 1]!).toLowerCase();
    if (name === extensionsField) return true;
  }
  return false;
}

/** The value of a field that comes exactly once; null otherwise. */
function soleValue(bytes: Uint8Array, head: HeadScanner, name: string): string | null {
  let found: string | null = null;
  for (let i = 0; i < head.fieldCount; i++) {
    const at = SPAN.fields + 4 * i;
    if (text(bytes, head.spans[at]!, head.spans[at + 1]!).toLowerCase() !== name) continue;
    if (found !== null) return null;
    found = text(bytes, head.spans[at + 2]!, head.spans[at + 3]!);
  }
  return found;
}

function text(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

/**
 * Undoes encoded words, in which mail writes text beyond ASCII; Tomcat and readers of mail decode
 * them in names of parts: `=?utf-8?q?caf=C3=A9?=`. Bytes stay in the charset that a word states.
 * Source: RFC 2047; RFC 2231 section 5.
 */

import type { ByteString } from '../../base/byte-string.ts';

/** Blanks between two words are no text. */
const wordPattern = /=\?([^?\s*]+)(?:\*[^?\s]*)?\?([bq])\?([^?\s]*)\?=(?:[ \t]+(?==\?))?/gi;

/** The text with its words decoded; the same text where it has none. Cost: linear. */
export function decodeEncodedWords(text: ByteString): ByteString {
  if (!text.includes('=?')) return text;
  return text.replaceAll(wordPattern, (_, _charset, encoding: string, content: ByteString) =>
    /b/i.test(encoding) ? Buffer.from(content, 'base64').toString('latin1') : decodeQ(content),
  );
}

/** The charsets that the words of a text state. */
export function charsetsOfWords(text: ByteString): ByteString[] {
  if (!text.includes('=?')) return [];
  return Array.from(text.matchAll(wordPattern), ([, charset = '']) => charset);
}

function decodeQ(content: ByteString): ByteString {
  return content
    .replaceAll('_', ' ')
    .replaceAll(/=([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
}

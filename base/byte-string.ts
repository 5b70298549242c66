/**
 * The byte string: a JavaScript string whose every char code is one byte (0..255). V8 keeps such
 * strings one byte a character; they hash, compare and cross to RE2 cheaply. Text for people is
 * UTF-8 and goes through `decodeUtf8` at the edge only.
 */

/** A string that stands for bytes: every char code is 0..255. */
export type ByteString = string;

// eslint-disable-next-line @typescript-eslint/unbound-method
const { latin1Slice } = Buffer.prototype;

/** Bytes of `source` in [start, end) as a byte string; copies. */
export function toByteString(source: Uint8Array, start = 0, end = source.length): ByteString {
  // Of any view of bytes, without a buffer around it.
  return latin1Slice.call(source as Buffer, start, end);
}

/** A fresh buffer that holds the bytes of `text`. */
export function fromByteString(text: ByteString): Buffer {
  return Buffer.from(text, 'latin1');
}

/** The byte string of `text`'s UTF-8 encoding; for text that came from people or JSON. */
export function encodeUtf8(text: string): ByteString {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** What a person reads: the bytes as UTF-8, with U+FFFD where they are not valid. */
export function decodeUtf8(bytes: ByteString): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** RFC 3629 section 4. */
const utf8Runs = new RegExp(
  '(?:[\\x00-\\x7f]|[\\xc2-\\xdf][\\x80-\\xbf]|\\xe0[\\xa0-\\xbf][\\x80-\\xbf]' +
    '|\\xed[\\x80-\\x9f][\\x80-\\xbf]|[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]{2}' +
    '|\\xf0[\\x90-\\xbf][\\x80-\\xbf]{2}|[\\xf1-\\xf3][\\x80-\\xbf]{3}' +
    '|\\xf4[\\x80-\\x8f][\\x80-\\xbf]{2})+',
  'g',
);

/** `change` applied to every run of valid UTF-8; bytes between them stay. Cost: linear. */
export function withUtf8(bytes: ByteString, change: (text: string) => string): ByteString {
  return bytes.replace(utf8Runs, (run) => encodeUtf8(change(decodeUtf8(run))));
}

/**
 * The same text, as the one copy that the JavaScript engine keeps for names: two of them are
 * compared by address. For names that stay as long as a policy. Cost: under a microsecond.
 */
export function internText(text: ByteString): ByteString {
  return Object.keys({ [text]: 0 })[0]!;
}

/**
 * Without the spaces and tabs at both ends. Cost: linear; an expression for the end, as
 * `[\t ]+$`, would begin anew at each of many blanks.
 */
export function trimBlankEnds(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/**
 * Decides how the bytes of an XML document are read, and gives it in UTF-8. An encoding in which
 * bytes of ASCII mean something else, and that is not decoded here, is named: what it hides from
 * the rules must not pass.
 */

import { decodeWide, wideEncodingOf, type WideEncoding } from './text-encoding.ts';

/** How a document is read; `hidden` and `unknown` are read as they are, `unknown` keeps ASCII. */
export type XmlEncoding = 'utf-8' | 'latin1' | 'unknown' | 'hidden' | WideEncoding;

/** Begins REQBODY_ERROR_MSG where the document may say something else than its bytes. */
export const hiddenEncodingReason = 'XML: an encoding that is not read';

/** `<?xml` in every EBCDIC code page. Source: XML 1.0, appendix F. */
const ebcdic = Buffer.from([0x4c, 0x6f, 0xa7, 0x94]);

/** Encodings whose bytes below 0x80 are ASCII, but for trail bytes; names without punctuation. */
const keepsAscii = new RegExp(
  `^(?:${[
    'utf8|ascii|usascii|latin\\d+|l\\d|iso8859\\d{1,2}|windows(?:125\\d|874|31j)|cp(?:125\\d|9\\d\\d)',
    'koi8\\w?|gb2312|gbk|gb18030|big5\\w*|euc\\w+|shiftjis|sjis|mskanji|tis620|macintosh|macroman',
    'ibm(?:437|85\\d|866)|cp(?:437|85\\d|866)',
    // Bytes that begin as ASCII are no UTF-16 or UTF-32: parsers pass over such a declaration.
    'utf16(?:le|be)?|utf32(?:le|be)?|ucs[24](?:le|be)?|iso10646ucs[24]',
  ].join('|')})$`,
);

/** XML 1.0 appendix F: the first bytes, then what the declaration says, else UTF-8. */
export function xmlEncodingOf(bytes: Buffer): XmlEncoding {
  const wide = wideEncodingOf(bytes, 0, bytes.length);
  if (wide !== null) return wide;
  if (bytes.subarray(0, ebcdic.length).equals(ebcdic)) return 'hidden';
  const names = declaredNames(bytes);
  const [name] = names;
  if (name === undefined) return 'utf-8';
  if (!names.every((one) => keepsAscii.test(one))) return 'hidden';
  if (names.length > 1) return 'unknown';
  if (/^(?:iso88591|latin1|windows1252)$/.test(name)) return 'latin1';
  return /^(?:utf8|usascii)$/.test(name) ? 'utf-8' : 'unknown';
}

/** All that the declaration gives as `encoding`, in lower case and without punctuation. */
function declaredNames(bytes: Buffer): string[] {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  if (bytes.toString('latin1', start, start + 5) !== '<?xml') return [];
  const end = bytes.indexOf('?>', start);
  const text = bytes.latin1Slice(start, end < 0 ? bytes.length : end);
  const found = text.matchAll(/encoding[\t\n\r ]*=[\t\n\r ]*(?:"([^"]*)"?|'([^']*)'?)/g);
  return Array.from(found, ([, double, single]) =>
    (double ?? single ?? '').toLowerCase().replaceAll(/[-_.]/g, ''),
  );
}

/** The document in UTF-8; the reader passes over a mark before it. Cost: at most a copy. */
export function xmlInUtf8(bytes: Buffer, encoding: XmlEncoding): Buffer {
  if (typeof encoding === 'object') return decodeWide(bytes, encoding);
  return encoding === 'latin1' ? Buffer.from(bytes.latin1Slice()) : bytes;
}

/** Decodes what stands for other bytes in texts: escapes, percent signs, long UTF-8. */

import { encodeUtf8, type ByteString } from '../../../base/byte-string.ts';

const simpleEscapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  0: '\0',
};
const escapePattern =
  /\\(?:u\{([0-9a-f]{1,6})\}|((?:u[0-9a-f]{4}\\){0,1}u[0-9a-f]{4})|x([0-9a-f]{2})|([^ux]))/gi;

/** Escapes of JSON and JavaScript; unknown ones are their second byte. Source: ECMA-262 12.9.4. */
export function decodeEscapes(text: ByteString): ByteString {
  return text.replace(
    escapePattern,
    (
      whole: string,
      point: string | undefined,
      units: string | undefined,
      byte: string | undefined,
      char: string | undefined,
    ) => {
      if (point !== undefined) return utf8Of(Number.parseInt(point, 16), whole);
      if (units !== undefined) {
        const codes = units.split('\\').map((unit) => Number.parseInt(unit.slice(1), 16));
        return encodeUtf8(String.fromCharCode(...codes));
      }
      if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
      return char === undefined ? whole : (simpleEscapes[char] ?? char);
    },
  );
}

function utf8Of(point: number, whole: string): ByteString {
  return point > 0x10_ffff ? whole : encodeUtf8(String.fromCodePoint(point));
}

const percentPattern = /%(?:u([0-9a-f]{4})|([0-9a-f]{2}))/gi;

/** `%41` and IIS's `%u0041`, once; what is no encoding stays. Source: RFC 3986 section 2.1. */
export function decodePercent(text: ByteString): ByteString {
  if (!text.includes('%')) return text;
  return text.replace(
    percentPattern,
    (_whole, unit: string | undefined, byte: string | undefined) => {
      if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
      return narrowed(Number.parseInt(unit ?? '0', 16));
    },
  );
}

/** A UTF-16 unit as a byte where servers map it to one ("best fit"), else as UTF-8. */
function narrowed(unit: number): ByteString {
  if (unit < 0x100) return String.fromCharCode(unit);
  if (unit >= 0xff01 && unit <= 0xff5e) return String.fromCharCode(unit - 0xfee0);
  const fit = bestFit.get(unit);
  return fit ?? encodeUtf8(String.fromCharCode(unit));
}

/** Characters that Windows code pages map to bytes of syntax. Source: Unicode's bestfit1252. */
const bestFit: ReadonlyMap<number, string> = new Map([
  [0x02b9, "'"],
  [0x02bc, "'"],
  [0x02c8, "'"],
  [0x2018, "'"],
  [0x2019, "'"],
  [0x2032, "'"],
  [0x2215, '/'],
  [0x2216, '\\'],
  [0x2044, '/'],
  [0x3008, '<'],
  [0x3009, '>'],
  [0x2329, '<'],
  [0x232a, '>'],
  [0x2024, '.'],
  [0xefc8, '/'],
  [0xf025, '/'],
]);

const longPattern =
  /([\xc0\xc1])([\x80-\xbf])|\xe0([\x80-\x9f])([\x80-\xbf])|\xef([\xbc\xbd])([\x80-\xbf])/g;
/** Characters whose low byte some servers write in place of them: a line end, `<`, `>`. */
const lowBytePattern = /\xe5\x98([\x8a\x8d\xbc\xbe])/g;

/**
 * UTF-8 that is longer than it may be, and full-width forms of ASCII, as the bytes that lenient
 * readers make of them. Source: Unicode 16, section 3.9; CVE-2000-0884, CVE-2016-2216.
 */
export function decodeLongUtf8(text: ByteString): ByteString {
  const narrow = text.replaceAll(lowBytePattern, (_whole, last: string) => {
    return String.fromCharCode(code(last) & 63);
  });
  return narrow.replace(
    longPattern,
    (
      whole: string,
      lead: string | undefined,
      tail: string | undefined,
      middle: string | undefined,
      last: string | undefined,
      wide: string | undefined,
      wideLast: string | undefined,
    ) => {
      if (lead !== undefined) return byteOf(((code(lead) & 1) << 6) | (code(tail) & 63), whole);
      if (middle !== undefined) {
        return byteOf(((code(middle) & 31) << 6) | (code(last) & 63), whole);
      }
      const unit = 0xf000 | ((code(wide) & 63) << 6) | (code(wideLast) & 63);
      return unit >= 0xff01 && unit <= 0xff5e ? String.fromCharCode(unit - 0xfee0) : whole;
    },
  );
}

function byteOf(value: number, whole: ByteString): ByteString {
  return value < 0x80 ? String.fromCharCode(value) : whole;
}

function code(byte: string | undefined): number {
  return byte?.charCodeAt(0) ?? 0;
}

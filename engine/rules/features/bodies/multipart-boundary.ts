/**
 * Reads the boundary out of a Content-Type: once as strictly as ModSecurity does, where what is
 * unusual is an error or a flag, and once as the backends do, whose readings may differ.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import { readAlike } from '../../../base/multipart-content-type.ts';

/** `failure` says why there is no usable boundary; `boundary` is empty then. */
export interface BoundaryReading {
  readonly boundary: ByteString;
  readonly failure: string | null;
  readonly quoted: boolean;
  readonly whitespace: boolean;
  readonly missingSemicolon: boolean;
  /** Some readers end the boundary earlier, or take none that long. */
  readonly ambiguous: boolean;
  /** The boundary that backends read, where all of them read the same; else null. */
  readonly alike: ByteString | null;
}

const mediaType = 'multipart/form-data';
const formType = /^multipart\/form-data\s*(?:;|$)/i;

/**
 * What every reader takes whole, as it is. Others end a boundary without quotes at a comma, a blank
 * or what RFC 2045 wants quoted. `=` stands in those of mail libraries and is taken by all.
 */
const commonPattern = /^[0-9A-Za-z'+_\-.=]+$/;

/** Reads the boundary parameter of `contentType`. Source: RFC 2046 section 5.1.1; ModSecurity. */
export function readBoundary(contentType: ByteString): BoundaryReading {
  const strict = readStrictly(contentType);
  if (!formType.test(contentType)) return strict;
  const alike = readAlike(contentType);
  if (alike.kind === 'boundary') return { ...strict, alike: alike.boundary };
  const { failure, ambiguous, quoted, whitespace, missingSemicolon } = strict;
  const plain = failure === null && !ambiguous && !quoted && !whitespace && !missingSemicolon;
  // Some readers find no part in these, none finds other ones.
  return alike.kind === 'unknown' && plain ? { ...strict, alike: strict.boundary } : strict;
}

function readStrictly(contentType: ByteString): BoundaryReading {
  const flags = {
    quoted: false,
    whitespace: false,
    missingSemicolon: false,
    ambiguous: false,
    alike: null,
  };
  const fail = (why: string): BoundaryReading => ({ ...flags, boundary: '', failure: why });
  if (contentType === '') return fail('Multipart: Content-Type header not available.');
  if (contentType.length > valueLimits.multipartContentTypeBytesMax) {
    return fail('Multipart: Invalid boundary in C-T (length).');
  }
  const lower = contentType.toLowerCase();
  if (!lower.startsWith(mediaType)) return fail('Multipart: Invalid MIME type.');
  if (countBoundaries(lower) > 1) return fail('Multipart: Multiple boundary parameters in C-T.');
  const at = contentType.indexOf('boundary');
  if (at < 0) {
    const otherCase = countBoundaries(lower) > 0;
    return fail(
      otherCase
        ? 'Multipart: Invalid boundary in C-T (case sensitivity).'
        : 'Multipart: Boundary not found in C-T.',
    );
  }
  const before = contentType.slice(mediaType.length, at);
  if (!/^\s*;?\s*$/.test(before)) return fail('Multipart: Invalid boundary in C-T (malformed).');
  flags.missingSemicolon = !before.includes(';');
  const equals = contentType.indexOf('=', at);
  if (equals < 0) return fail('Multipart: Invalid boundary in C-T (malformed).');
  const behindName = contentType.slice(at + 'boundary'.length, equals);
  if (!/^\s*$/.test(behindName)) {
    return fail('Multipart: Invalid boundary in C-T (parameter name).');
  }
  const value = contentType.slice(equals + 1);
  flags.whitespace = behindName !== '' || /^\s/.test(value);
  const plain = /^([^";][^;]*)(?:;.*)?$/s.exec(value);
  const quoted = /^"(.*)"(?:\s*;.*)?$/s.exec(value);
  flags.quoted = quoted !== null;
  // White space in front is flagged and is no part of what the body is searched for.
  const boundary = quoted?.[1] ?? plain?.[1]?.trimStart() ?? '';
  if (quoted === null && (value.startsWith('"') || boundary.endsWith('"'))) {
    return fail('Multipart: Invalid boundary in C-T (quote).');
  }
  if (boundary === '') return fail('Multipart: Invalid boundary in C-T (empty).');
  if (boundary.toLowerCase().includes('boundary') && boundary.includes('=')) {
    return fail('Multipart: Invalid boundary in C-T (content).');
  }
  if (!/^[0-9A-Za-z'()+_,\-./:=? ]*[0-9A-Za-z'()+_,\-./:=?]$/.test(boundary)) {
    return fail('Multipart: Invalid boundary in C-T (characters).');
  }
  flags.ambiguous =
    !commonPattern.test(boundary) || boundary.length > valueLimits.multipartBoundaryBytesMax;
  return { ...flags, boundary, failure: null };
}

/** How often the word stands in front of an equals sign, near or far. */
function countBoundaries(lower: string): number {
  const lastEquals = lower.lastIndexOf('=');
  let count = 0;
  for (let at = lower.indexOf('boundary'); at >= 0 && at < lastEquals;) {
    count++;
    at = lower.indexOf('boundary', at + 1);
  }
  return count;
}

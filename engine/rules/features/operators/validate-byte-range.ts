/** The operator `validateByteRange`: matches values with a byte outside the allowed ones. */

import type { ByteString } from '../../../../base/byte-string.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches when the value holds a byte that the list of numbers and ranges does not allow. */
export const validateByteRange: OperatorDefinition = {
  name: 'validateByteRange',
  summary: 'Matches when the value holds a byte outside the listed numbers and ranges.',
  example: 'SecRule ARGS "@validateByteRange 9,10,13,32-126" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, validateByteRange',
  argument: 'optional',
  bind: (argument) => {
    const allowed = parseRanges(argument);
    if (!allowed) return { failure: 'expected byte numbers and ranges from 0 to 255' };
    return {
      definition: validateByteRange,
      argument,
      prefilter: { kind: 'byteRange', allowed },
      evaluate: (value) => hasByteOutside(value, allowed),
    };
  },
};

/** Bitmap of 32 bytes; null when the text is not a list of bytes. */
function parseRanges(text: ByteString): Uint8Array | null {
  const allowed = new Uint8Array(32);
  if (text.trim() === '') return allowed;
  for (const item of text.split(',')) {
    const match = /^\s*(\d{1,3})\s*(?:-\s*(\d{1,3}))?\s*$/.exec(item);
    if (!match) return null;
    const from = Number(match[1]);
    const to = match[2] === undefined ? from : Number(match[2]);
    if (from > to || to > 255) return null;
    for (let byte = from; byte <= to; byte++) {
      allowed[byte >> 3] = (allowed[byte >> 3] ?? 0) | (1 << (byte & 7));
    }
  }
  return allowed;
}

function hasByteOutside(value: ByteString, allowed: Uint8Array): boolean {
  for (let i = 0; i < value.length; i++) {
    const byte = value.charCodeAt(i);
    if (((allowed[byte >> 3] ?? 0) & (1 << (byte & 7))) === 0) return true;
  }
  return false;
}

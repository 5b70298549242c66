/** The operator `validateUtf8Encoding`: matches values that are not UTF-8. */

import type { ByteString } from '../../../../base/byte-string.ts';
import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches on missing or wrong continuation bytes, overlong forms, surrogates, beyond U+10FFFF. */
export const validateUtf8Encoding: OperatorDefinition = {
  name: 'validateUtf8Encoding',
  summary: 'Matches when the value is not valid UTF-8 (RFC 3629).',
  example: 'SecRule ARGS "@validateUtf8Encoding" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, validateUtf8Encoding; RFC 3629 section 3',
  argument: 'none',
  bind: (argument) => ({
    definition: validateUtf8Encoding,
    argument,
    prefilter: { kind: 'utf8' },
    evaluate: (value) => !isUtf8(value),
  }),
};

function isUtf8(value: ByteString): boolean {
  for (let i = 0; i < value.length;) {
    const length = sequenceLength(value, i);
    if (length === 0) return false;
    i += length;
  }
  return true;
}

/** Bytes of the sequence at `at`; 0 when it is not valid. */
function sequenceLength(value: ByteString, at: number): number {
  const lead = value.charCodeAt(at);
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + length > value.length) return 0;
  let point = lead & (0xff >> (length + 1));
  for (let i = 1; i < length; i++) {
    const byte = value.charCodeAt(at + i);
    if ((byte & 0xc0) !== 0x80) return 0;
    point = (point << 6) | (byte & 0x3f);
  }
  const smallest = length === 4 ? 0x10000 : length === 3 ? 0x800 : 0x80;
  const surrogate = point >= 0xd800 && point <= 0xdfff;
  return point < smallest || point > 0x10ffff || surrogate ? 0 : length;
}

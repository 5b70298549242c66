/** Undoes the Content-Transfer-Encoding of a part, into the slab. Source: RFC 2045 section 6. */

import { hexValue } from '../../../../base/hex-value.ts';
import type { ValueTable } from '../../transaction/values.ts';

const LF = 0x0a;
const CR = 0x0d;
const EQUALS = 0x3d;

/** Where the decoded text begins, up to `values.used`; null where it is not base64 alone. */
export function decodeBase64(values: ValueTable, start: number, end: number): number | null {
  const text = values.slab.latin1Slice(start, end);
  if (!/^[A-Za-z0-9+/\s]*[=\s]*$/.test(text)) return null;
  return values.append(Buffer.from(text, 'base64'));
}

/** Where the decoded text begins, up to `values.used`. What is no escape stays as it is. */
export function decodeQuotedPrintable(
  values: ValueTable,
  start: number,
  end: number,
): number | null {
  values.reserve(end - start);
  const { slab } = values;
  const first = values.used;
  let out = first;
  for (let at = start; at < end; at++) {
    const byte = slab[at]!;
    if (byte !== EQUALS) {
      slab[out++] = byte;
      continue;
    }
    const high = at + 2 < end ? hexValue[slab[at + 1]!]! : -1;
    const low = at + 2 < end ? hexValue[slab[at + 2]!]! : -1;
    if (high >= 0 && low >= 0) {
      slab[out++] = (high << 4) | low;
      at += 2;
    } else if (slab[at + 1] === LF) at++;
    else if (slab[at + 1] === CR && slab[at + 2] === LF) at += 2;
    else slab[out++] = EQUALS;
  }
  values.used = out;
  return first;
}

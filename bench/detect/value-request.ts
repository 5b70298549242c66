/** Whole requests around one value, as browsers send it: in the query or in a form. Pure. */

import type { ByteString } from '../../base/byte-string.ts';

/** Where a value stands. */
export type ValuePlace = 'query' | 'form';

/** A request with a value in the argument `q`. */
export function requestWith(value: ByteString, place: ValuePlace = 'form'): Buffer {
  const field = `q=${percentOf(value)}`;
  const inForm = place === 'form';
  const head = [
    inForm ? 'POST /search HTTP/1.1' : `GET /search?${field} HTTP/1.1`,
    ...['Host: shop.example', 'User-Agent: Mozilla/5.0', 'Accept: */*'],
    ...(inForm
      ? ['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${field.length}`]
      : []),
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${inForm ? field : ''}`, 'latin1');
}

/** Every byte as percent signs, so that no parser reads a part of the value as syntax. */
function percentOf(value: ByteString): string {
  return [...Buffer.from(value, 'latin1')]
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .join('');
}

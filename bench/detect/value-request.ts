/** Whole requests around one value, as browsers send it: in the query or in a form. Pure. */

import type { ByteString } from '../../base/byte-string.ts';

/** Where a value stands. */
export type ValuePlace = 'query' | 'form';

/** The path of a request, and the name of its argument. */
interface ArgumentPlace {
  readonly target: string;
  readonly name: string;
}

const searched: ArgumentPlace = { target: '/search', name: 'q' };

/** A request with a value in an argument. */
export function requestWith(
  value: ByteString,
  place: ValuePlace = 'form',
  { target, name }: ArgumentPlace = searched,
): Buffer {
  const field = `${name}=${percentOf(value)}`;
  const inForm = place === 'form';
  const head = [
    inForm ? `POST ${target} HTTP/1.1` : `GET ${target}?${field} HTTP/1.1`,
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

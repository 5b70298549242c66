/** Rows on messages that have two readings, or are too large: refused, with their record. */

import type { ChainExpected, ChainGroup, ChainRow } from './chain-row.ts';
import { domain, firstHttp, inspectedBy, policyCalls, secondHttp, siteCall } from './chain-row.ts';

const host = `Host: messages.${domain}`;
const id = 'X-Request-Id: $id';
const usual = `${host}\r\n${id}\r\nUser-Agent: x\r\nAccept: */*\r\n`;
const refused = (refusal: string, status = 400): ChainExpected => {
  return { status, outcome: 'refused', refusal };
};

/** Refused before a site is looked for: which host it is for depends on the reader. */
const unplaced = (refusal: string, status = 400): ChainExpected => {
  return { ...refused(refusal, status), site: '' };
};

/** What stands on the wire, and why it is refused. */
const wires: readonly (readonly [says: string, raw: string, expected: ChainExpected])[] = [
  [
    'two lengths',
    `POST / HTTP/1.1\r\n${usual}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
    unplaced('content_length_twice'),
  ],
  [
    'a length that is none',
    `POST / HTTP/1.1\r\n${usual}Content-Length: +1\r\n\r\na`,
    unplaced('content_length'),
  ],
  [
    'a length and chunks',
    `POST / HTTP/1.1\r\n${usual}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    unplaced('content_length_and_transfer_encoding'),
  ],
  [
    'a transfer coding that is not known',
    `POST / HTTP/1.1\r\n${usual}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    unplaced('transfer_encoding'),
  ],
  [
    'chunked in HTTP/1.0',
    `POST / HTTP/1.0\r\n${usual}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    unplaced('transfer_encoding_in_http10'),
  ],
  [
    'a blank before a colon',
    `GET / HTTP/1.1\r\n${usual}X-A : b\r\n\r\n`,
    unplaced('space_before_colon'),
  ],
  ['a folded field', `GET / HTTP/1.1\r\n${usual}X-A: b\r\n c\r\n\r\n`, unplaced('obs_fold')],
  ['a name with odd bytes', `GET / HTTP/1.1\r\n${usual}X(A: b\r\n\r\n`, unplaced('field_name')],
  ['two hosts', `GET / HTTP/1.1\r\n${usual}${host}\r\n\r\n`, refused('host_twice')],
  [
    'a target of another host',
    `GET http://other.${domain}/ HTTP/1.1\r\n${usual}\r\n`,
    unplaced('host_mismatch'),
  ],
  [
    'a target with a user',
    `GET http://a@messages.${domain}/ HTTP/1.1\r\n${usual}\r\n`,
    refused('userinfo'),
  ],
  ['CONNECT', `CONNECT messages.${domain}:80 HTTP/1.1\r\n${usual}\r\n`, refused('connect_method')],
  ['TRACE', `TRACE / HTTP/1.1\r\n${usual}\r\n`, refused('trace_method', 405)],
  [
    'an expectation',
    `POST / HTTP/1.1\r\n${usual}Expect: more\r\nContent-Length: 0\r\n\r\n`,
    refused('expectation', 417),
  ],
  [
    'two types',
    `POST / HTTP/1.1\r\n${usual}Content-Type: text/plain\r\nContent-Type: text/html\r\n` +
      'Content-Length: 1\r\n\r\na',
    refused('content_type_twice'),
  ],
  [
    'a WebSocket without a key',
    `GET / HTTP/1.1\r\n${usual}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    refused('websocket'),
  ],
  [
    'a chunk size that is none',
    `POST / HTTP/1.1\r\n${usual}Transfer-Encoding: chunked\r\n\r\nx\r\n`,
    refused('chunk_size'),
  ],
  [
    'a chunk that does not end',
    `POST / HTTP/1.1\r\n${usual}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n`,
    refused('chunk_end'),
  ],
];

const wireRows = wires.flatMap(([says, raw, expected]) =>
  ['messages', 'messages-waf'].map((site): ChainRow => {
    const own = expected.site === '' ? {} : { site };
    return {
      says: `Messages, ${site === 'messages' ? 'WAF off' : 'WAF detecting'}: ${says}`,
      site,
      ways: firstHttp,
      request: { raw: raw.replaceAll(`messages.${domain}`, `${site}.${domain}`) },
      expected: { ...expected, ...own },
    };
  }),
);

/** What is too large over every protocol. */
const large: readonly ChainRow[] = [
  {
    says: 'Limits: a target that is too long',
    site: 'messages',
    ways: firstHttp,
    request: { path: `/${'a'.repeat(16_500)}` },
    expected: { ...unplaced('target_too_long', 414), unnamed: true },
  },
  {
    says: 'Limits: a target that is too long, over HTTP/2',
    site: 'messages',
    ways: secondHttp,
    request: { path: `/${'a'.repeat(16_500)}` },
    expected: { ...unplaced('target_too_long', 414), unnamed: true },
  },
  {
    says: 'Limits: many fields',
    site: 'messages',
    request: { headers: manyFields(150) },
    expected: { status: 200, origin: 'a' },
  },
  {
    says: 'Limits: too many fields',
    site: 'messages',
    request: { headers: manyFields(201) },
    expected: unplaced('too_many_fields', 431),
  },
];

function manyFields(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-f${at}`, '1']));
}

/** The group. */
export const messageGroup: ChainGroup = {
  setup: [
    ...policyCalls('messages', 'light'),
    siteCall('messages'),
    siteCall('messages-waf', inspectedBy('messages', 'WAF_MODE_DETECTION')),
  ],
  rows: [...wireRows, ...large],
};

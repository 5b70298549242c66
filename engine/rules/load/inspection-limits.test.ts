/** Tests every limit on what is inspected: it is reported, and what lies past it is inspected. */

import { describe, expect, test } from 'vitest';

import { valueLimits } from '../../../base/rule-limits.ts';
import {
  type InspectionLimitName,
  inspectionLimitNames,
  reachLimit,
} from '../transaction/inspection-limits.ts';
import { findVariable } from '../features/variables/list.ts';
import { loadRequestBody } from './request-body.ts';
import { loadResponseBody } from './response-body.ts';
import { transactionFor } from './test-sample.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { SOURCE } from '../transaction/values.ts';

const attack = 'attack-past-the-limit';
const many = (piece: string, count: number, separator = ''): string =>
  Array.from({ length: count }, () => piece).join(separator);
const parts = (all: readonly string[]): string => `--B\r\n${all.join('\r\n--B\r\n')}\r\n--B--\r\n`;
const field = (value: string, ...lines: string[]): string =>
  [`Content-Disposition: form-data; name="f"`, ...lines, '', value].join('\r\n');
const file = 'Content-Disposition: form-data; name="f"; filename="a"\r\n\r\nx';

type Settings = Parameters<typeof transactionFor>[1];
type Case = readonly [name: InspectionLimitName, read: (settings: Settings) => Transaction];

const body =
  (processor: string, text: string, truncated = false) =>
  (settings: Settings): Transaction => {
    const head = 'POST / HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=B';
    const tx = transactionFor(head, settings);
    tx.control.requestBodyProcessor = processor;
    loadRequestBody(tx, { bytes: Buffer.from(text, 'latin1'), truncated });
    return tx;
  };

const selected =
  (xpath: string, text: string) =>
  (settings: Settings): Transaction => {
    const tx = body('XML', text)(settings);
    findVariable('XML')!.forXPath!(xpath)!.select!(tx, xpath, new Map());
    return tx;
  };

const answered = (content: string, truncated: boolean): Transaction => {
  const tx = transactionFor('GET / HTTP/1.1');
  tx.control.responseBodyAccess = true;
  loadResponseBody(tx, { bytes: Buffer.from(content, 'latin1'), truncated });
  return tx;
};

/** A field 1 of that content, and a message of gRPC. */
const field1 = (content: string): string => {
  const length = Buffer.alloc(5);
  let at = 0;
  for (let left = content.length; ; left >>>= 7) {
    length[at++] = (left & 0x7f) | (left > 0x7f ? 0x80 : 0);
    if (left <= 0x7f) break;
  }
  return `\n${length.latin1Slice(0, at)}${content}`;
};
/** Content in groups of the largest number there is, which make long names. */
const named = (depth: number, content: string): string =>
  many('\xfb\xff\xff\xff\x0f', depth) + content + many('\xfc\xff\xff\xff\x0f', depth);
const nested = (depth: number): string => {
  let message = field1(attack);
  for (let i = 0; i < depth; i++) message = field1(message);
  return message;
};
const framed = (content: string): string => {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(content.length, 1);
  return prefix.latin1Slice() + content;
};

/** Each reaches one limit and has the attack past it. */
const inspectedPastIt: readonly Case[] = [
  [
    'cookies',
    (settings) => {
      const cookies = many('a=b', valueLimits.cookiesMax, '; ');
      return transactionFor(`GET / HTTP/1.1\r\nCookie: ${cookies}; c=${attack}`, settings);
    },
  ],
  [
    'arguments',
    (settings) => transactionFor(`GET /?${many('aa=b', 1000, '&')}&c=${attack} HTTP/1.1`, settings),
  ],
  ['arguments', body('URLENCODED', `${many('aa=b', 1000, '&')}&c=${attack}`)],
  ['arguments', body('JSON', `[${many('1,', 1000)}"${attack}"]`)],
  ['arguments', body('MULTIPART', parts([...Array<string>(1000).fill(field('a')), field(attack)]))],
  ['argument-rows', body('URLENCODED', `${many('aa=b', 70_000, '&')}&c=${attack}`)],
  ['argument-rows', body('JSON', `[${many('"long",', 70_000)}"${attack}"]`)],
  ['json-depth', body('JSON', `${many('[', 200)}"${attack}"${many(']', 200)}`)],
  ['json-nesting', body('JSON', `${many('[', valueLimits.jsonStackMax + 9)}"${attack}"`)],
  ['json-names', body('JSON', `{"${many('n', valueLimits.jsonPathBytesMax)}${attack}":1}`)],
  [
    'json-name-bytes',
    body('JSON', `{"${many('n', 1900)}":[${many('"long",', 900)}{"${attack}":1}]}`),
  ],
  ['xml-elements', body('XML', `<a>${many('<b/>', valueLimits.xmlElementsMax)}${attack}</a>`)],
  ['xml-depth', body('XML', `${many('<a>', 300)}${attack}`)],
  [
    'xml-attributes',
    body('XML', `<a>${many('<b c="1"/>', valueLimits.xmlAttributesMax)}<b c="${attack}"/></a>`),
  ],
  ['grpc-depth', body('GRPC', framed(nested(valueLimits.grpcDepthMax + 9)))],
  ['grpc-depth', body('GRPC', framed(many('\x0b', valueLimits.grpcDepthMax + 1) + attack))],
  ['grpc-fields', body('GRPC', framed(many('\x08\x01', valueLimits.grpcFieldsMax) + attack))],
  ['grpc-bytes', body('GRPC', framed(named(40, many(field1('long'), 900) + field1(attack))))],
  ['packets', body('URLENCODED', `${many('0\x1e', 2_000)}${attack}`)],
  ['arguments', body('GRPC', framed(many(field1('long'), 1000) + field1(attack)))],
  ['argument-rows', body('GRPC', framed(many(field1('long'), 70_000) + field1(attack)))],
];

/** What is refused under every policy, or lies where nothing is read any more. */
const onlyReported: readonly Case[] = [
  ['body-bytes', body('URLENCODED', 'a=b', true)],
  [
    'multipart-parts',
    body('MULTIPART', parts(Array<string>(valueLimits.multipartPartsMax + 1).fill(field('a')))),
  ],
  [
    'multipart-part-headers',
    body(
      'MULTIPART',
      parts([
        field(
          'a',
          ...Array.from({ length: valueLimits.multipartPartHeadersMax }, (_, i) => `X${i}: b`),
        ),
      ]),
    ),
  ],
  [
    'multipart-header-bytes',
    body('MULTIPART', parts([field('a', `X: ${many('x', valueLimits.multipartHeaderBytesMax)}`)])),
  ],
  ['multipart-files', body('MULTIPART', parts(Array<string>(101).fill(file)))],
  ['transaction-bytes', body('JSON', `"${many('x', 68_000_000)}"`)],
  ['xpath-nodes', selected('//b'.repeat(9), `${many('<b>', 250)}${many('</b>', 250)}`)],
  ['xpath-text', selected('//b', `${many('<b>', 200)}${many('x', 100_000)}${many('</b>', 200)}`)],
  ['response-bytes', () => answered('begun', true)],
];

/** Tested beside operators/number-search.ts, bodies/mixed.ts and bodies/file-sieve.ts. */
const elsewhere: readonly InspectionLimitName[] = [
  'verify-candidates',
  'multipart-depth',
  'file-bytes',
];

const inspected = [
  SOURCE.argGet,
  SOURCE.argPost,
  SOURCE.requestCookie,
  SOURCE.xmlText,
  SOURCE.xmlAttribute,
] as const;

function seesAttack(tx: Transaction): boolean {
  const { values } = tx;
  return inspected.some((source) =>
    values.rowsOf(source).some((row) => `${values.key(row)} ${values.value(row)}`.includes(attack)),
  );
}

describe('every limit is reported', () => {
  test.each([...inspectedPastIt, ...onlyReported])('%s, case %#', (name, read) => {
    for (const inspectsUnparsed of [false, true]) {
      const lenient = name === 'argument-rows' || name === 'packets';
      if (lenient && !inspectsUnparsed) continue;
      expect(read({ inspectsUnparsed }).limitsReached).toContain(name);
    }
  });

  test('none is missing here', () => {
    const named = [...inspectedPastIt, ...onlyReported].map(([name]) => name);
    expect(new Set([...named, ...elsewhere])).toEqual(new Set(inspectionLimitNames));
  });

  test('once, in order', () => {
    const tx = transactionFor('GET / HTTP/1.1');
    reachLimit(tx, 'cookies');
    reachLimit(tx, 'arguments');
    reachLimit(tx, 'cookies');
    expect(tx.limitsReached).toEqual(['cookies', 'arguments']);
  });
});

test.each(inspectedPastIt)('what lies past it is inspected: %s, case %#', (_name, read) => {
  expect(seesAttack(read({ inspectsUnparsed: true }))).toBe(true);
});

test('a request below all limits reaches none', () => {
  const tx = body('JSON', '{"a":[1,2]}')({ inspectsUnparsed: true });
  expect(tx.limitsReached).toEqual([]);
});

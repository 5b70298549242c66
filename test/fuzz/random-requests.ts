/** Random exchanges that share names and values with the random rule sets. */

import fc from 'fast-check';
import type { ByteString } from '../../base/byte-string.ts';
import {
  makeBody,
  makeConnection,
  makeRequest,
  makeResponse,
} from '../../engine/rules/oracle/conformance/exchange.ts';
import type { Exchange } from '../../engine/rules/oracle/evaluate.ts';
import { keys, word } from './rule-parts.ts';

/** One request with its answer; all texts are byte strings. */
export interface RandomExchange {
  readonly method: string;
  readonly target: ByteString;
  readonly headers: readonly (readonly [ByteString, ByteString])[];
  readonly body: ByteString | null;
  readonly response: { readonly type: string; readonly body: ByteString } | null;
}

type Pairs = readonly (readonly [ByteString, ByteString])[];

const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const value = fc.oneof(
  { weight: 4, arbitrary: word },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'abab1',
      'select',
      'x--y',
      '1 or 1=1',
      '<script>',
      'aa',
      '%3Cb',
      'YWI=',
      'A B',
      '5',
      'a\nb',
      'a/*b*/a',
      '&lt;b&#x61;',
      '\\x61b',
      '4111111111111111',
      `s"el'ect`,
      'x b$yusybox',
      ';a^b"ab)',
      `a\\ba'b <`,
      'a"bab)',
      'ab'.repeat(200),
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(...lineValues()) },
  { weight: 2, arbitrary: fc.string({ maxLength: 6 }) },
  { weight: 1, arbitrary: fc.array(byte, { maxLength: 5 }).map((list) => list.join('')) },
);

/**
 * Values that a scan of joined lines must not read otherwise than alone: newlines at each end and
 * inside, bytes that no line holds, runs beyond what is shared, remembered or scanned joined.
 */
function lineValues(): ByteString[] {
  const texts = ['a', 'select', 'x--y', 'a(b)=1', '<b', 'YWI='];
  const around = texts.flatMap((text) => [`${text}\n`, `\n${text}`, `${text}\r\n`, `\0${text}`]);
  const inside = ['a\nb\nselect', 'x\ny', '\n', '\n\n', '\0', 'ab\tb', 'YQpi', 'CmE='];
  const runs = ['a'.repeat(2_100), '1'.repeat(5_000), '<'.repeat(3_000), 'b '.repeat(9_000)];
  return [...around, ...inside, ...runs, `${'x'.repeat(20_000)}\nselect`];
}

const pairs: fc.Arbitrary<Pairs> = fc.array(fc.tuple(fc.constantFrom(...keys, 'z'), value), {
  maxLength: 5,
});

/** A request body with its media type. */
export interface TypedBody {
  readonly type: string;
  readonly text: ByteString;
}

const body: fc.Arbitrary<TypedBody> = fc.oneof(
  { weight: 5, arbitrary: pairs.map(formBody) },
  { weight: 2, arbitrary: pairs.map(jsonBody) },
  { weight: 2, arbitrary: pairs.map(multipartBody) },
  { weight: 1, arbitrary: pairs.map(brokenMultipart) },
  { weight: 1, arbitrary: pairs.map(mixedBody) },
  { weight: 2, arbitrary: pairs.map(xmlBody) },
  { weight: 1, arbitrary: pairs.map(grpcBody) },
  { weight: 1, arbitrary: value.map((text) => ({ type: 'text/plain', text })) },
);

/** Pairs as a form. */
export function formBody(list: Pairs): TypedBody {
  return { type: 'application/x-www-form-urlencoded', text: encodePairs(list) };
}

/** Pairs as one JSON object. */
export function jsonBody(list: Pairs): TypedBody {
  return { type: 'application/json', text: escapeHigh(JSON.stringify(Object.fromEntries(list))) };
}

/** Pairs as messages of gRPC, each with its name in field 1 and its value in field 2 of field 3. */
function grpcBody(list: Pairs): TypedBody {
  const field = (number: number, text: ByteString): ByteString =>
    String.fromCharCode(8 * number + 2, text.length & 0x7f) + text.slice(0, text.length & 0x7f);
  const messages = list.map(([name, text]) => field(1, name) + field(3, field(2, text)));
  const framed = messages.map(
    (one) => `\0\0\0${String.fromCharCode(one.length >> 8, one.length & 0xff)}${one}`,
  );
  return { type: 'application/grpc', text: framed.join('') };
}

function escapeHigh(text: string): ByteString {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Pairs as parts; every third one is a file. */
export function multipartBody(list: Pairs): TypedBody {
  const parts = list.map(([key, text], i) => {
    const file = i % 3 === 2 ? `; filename="${text.replace(/["\\\r\n]/g, '')}"` : '';
    return `--B\r\nContent-Disposition: form-data; name="${key}"${file}\r\n\r\n${text}\r\n`;
  });
  return { type: 'multipart/form-data; boundary=B', text: `${parts.join('')}--B--\r\n` };
}

/** The same as servers read it in two ways: line ends of one byte. */
function brokenMultipart(list: Pairs): TypedBody {
  const { type, text } = multipartBody(list);
  return { type, text: text.replaceAll('\r\n', '\n') };
}

/** A part for each pair, of another type each. */
function mixedBody(list: Pairs): TypedBody {
  const bodies = [formBody, jsonBody, xmlBody];
  const parts = list.map((pair, i) => {
    const { type, text } = bodies[i % bodies.length]!([pair]);
    return `--B\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`;
  });
  return { type: 'multipart/mixed; boundary=B', text: `${parts.join('')}--B--\r\n` };
}

/** The values as elements and attributes. */
export function xmlBody(list: Pairs): TypedBody {
  const items = list.map(([, text]) => {
    const safe = text.replace(/[^ -~]|[<&"]/g, '.');
    return `<b c="${safe}">${safe}</b>`;
  });
  return { type: 'text/xml', text: `<a>${items.join('')}</a>` };
}

/** Pairs as a query string. */
export function encodePairs(list: Pairs): ByteString {
  return list.map(([key, text]) => `${encodeBytes(key)}=${encodeBytes(text)}`).join('&');
}

function encodeBytes(text: ByteString): string {
  return text.replace(/[^\w.~()!*-]/g, (c) => {
    return `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

const response = fc.record({
  type: fc.constantFrom('text/html', 'text/plain; charset=x', 'image/png'),
  body: value,
});

/** Exchanges that share names and values with `ruleTexts`. */
export const randomExchanges: fc.Arbitrary<RandomExchange> = fc
  .tuple(
    fc.constantFrom('/', '/a', '/a/../b', '/x.php'),
    pairs,
    fc.option(body, { nil: null, freq: 2 }),
    fc.array(fc.tuple(fc.constantFrom('x', 'y', 'sid'), fc.constantFrom('a', 'b1', '1', 'ab<b')), {
      maxLength: 2,
    }),
    fc.constantFrom('curl/8', 'Mozilla select', 'a'),
    fc.option(response, { nil: null, freq: 3 }),
  )
  .map(([path, query, typed, cookies, agent, answer]) => {
    const headers: [string, string][] = [
      ['Host', 'a.example'],
      ['User-Agent', agent],
    ];
    if (cookies.length > 0) {
      headers.push(['Cookie', cookies.map(([key, text]) => `${key}=${text}`).join('; ')]);
    }
    if (typed !== null) {
      headers.push(['Content-Type', typed.type], ['Content-Length', String(typed.text.length)]);
    }
    return {
      method: typed === null ? 'GET' : 'POST',
      target: query.length === 0 ? path : `${path}?${encodePairs(query)}`,
      headers,
      body: typed?.text ?? null,
      response: answer,
    };
  });

/** The exchange in the form that both engines take. */
export function toExchange(random: RandomExchange): Exchange {
  const { method, target, headers, response: answer } = random;
  const head = makeRequest(method, target, 'HTTP/1.1', headers, makeConnection());
  const answerFields = [
    ['Content-Type', answer?.type ?? ''],
    ['X-A', answer?.body.replace(/[\r\n]/g, '') ?? ''],
  ] as const;
  return {
    request: { ...head, receivedAtMs: 1_700_000_000_000, grpcFields: true },
    requestBody: makeBody(bytesOf(random.body)),
    response: answer && makeResponse(200, 'HTTP/1.1', answerFields),
    responseBody: makeBody(bytesOf(answer?.body ?? null)),
  };
}

function bytesOf(text: ByteString | null): Uint8Array | null {
  return text === null ? null : Buffer.from(text, 'latin1');
}

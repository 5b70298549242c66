/** Tests of the strict HTTP/1.x request parser: tables of cases, and invariance under splitting. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SPAN } from '../contract/message.ts';
import { httpLimits } from '../../base/delivery-limits.ts';
import { ByteWriter } from './byte-writer.ts';
import { BODY, SCAN, type HeadLimits } from './head-scanner.ts';
import { RequestHeadParser, TARGET_FORM } from './request-head.ts';

interface Summary {
  readonly result: number;
  readonly reason: string | null;
  readonly line: readonly string[];
  readonly fields: readonly string[];
  readonly facts: readonly unknown[];
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function summarize(parser: RequestHeadParser, bytes: Buffer, result: number): Summary {
  const cut = (from: number, to: number): string =>
    bytes.toString('latin1', parser.spans[from], parser.spans[to]);
  const done = result === SCAN.DONE;
  const fields: string[] = [];
  for (let i = 0; done && i < parser.fieldCount; i++) {
    const at = SPAN.fields + 4 * i;
    fields.push(`${cut(at, at + 1)}=${cut(at + 2, at + 3)}#${parser.kinds[i]}`);
  }
  return {
    result,
    reason: parser.refusal?.reason ?? null,
    line: done
      ? [
          cut(SPAN.firstStart, SPAN.firstEnd),
          cut(SPAN.secondStart, SPAN.secondEnd),
          cut(SPAN.protocolStart, SPAN.protocolEnd),
        ]
      : [],
    fields,
    facts: done
      ? [parser.headEnd, parser.framing, parser.contentLength, parser.keepAlive, parser.hostStart]
      : [],
  };
}

function parseWhole(text: string, limits: HeadLimits = httpLimits): Summary {
  const bytes = bytesOf(text);
  const parser = new RequestHeadParser(limits);
  parser.reset(0);
  return summarize(parser, bytes, parser.execute(bytes, bytes.length));
}

function parseSplit(
  text: string,
  cuts: readonly number[],
  limits: HeadLimits = httpLimits,
): Summary {
  const bytes = bytesOf(text);
  const parser = new RequestHeadParser(limits);
  parser.reset(0);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  for (const end of [...ends, bytes.length]) {
    const result = parser.execute(bytes, end);
    if (result !== SCAN.MORE) return summarize(parser, bytes, result);
  }
  return summarize(parser, bytes, SCAN.MORE);
}

const host = 'Host: a.example\r\n';

describe('request heads', () => {
  const accepted: readonly (readonly [string, readonly string[], number])[] = [
    [`GET / HTTP/1.1\r\n${host}\r\n`, ['GET', '/', 'HTTP/1.1'], BODY.NONE],
    [`\r\nGET /a?b=c HTTP/1.1\r\n${host}\r\n`, ['GET', '/a?b=c', 'HTTP/1.1'], BODY.NONE],
    ['GET / HTTP/1.0\r\n\r\n', ['GET', '/', 'HTTP/1.0'], BODY.NONE],
    [`OPTIONS * HTTP/1.1\r\n${host}\r\n`, ['OPTIONS', '*', 'HTTP/1.1'], BODY.NONE],
    [`POST / HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\n`, ['POST', '/', 'HTTP/1.1'], BODY.LENGTH],
    [
      `POST / HTTP/1.1\r\n${host}Content-Length:\t003 \r\n\r\n`,
      ['POST', '/', 'HTTP/1.1'],
      BODY.LENGTH,
    ],
    [
      `POST / HTTP/1.1\r\n${host}transfer-ENCODING:  Chunked \r\n\r\n`,
      ['POST', '/', 'HTTP/1.1'],
      BODY.CHUNKED,
    ],
    [
      'GET http://a.example:80/x HTTP/1.1\r\nHost: a.example:80\r\n\r\n',
      ['GET', 'http://a.example:80/x', 'HTTP/1.1'],
      BODY.NONE,
    ],
    [
      `GET / HTTP/1.1\r\n${host}X_y.z: \xe4\xff\r\nEmpty:\r\n\r\n`,
      ['GET', '/', 'HTTP/1.1'],
      BODY.NONE,
    ],
  ];
  test.each(accepted)('takes case %#', (text, line, framing) => {
    const summary = parseWhole(text);
    expect(summary).toMatchObject({ result: SCAN.DONE, reason: null, line });
    expect(summary.facts[1]).toBe(framing);
  });

  const refused: readonly (readonly [string, string])[] = [
    [`GET / HTTP/1.1\n${host}\r\n`, 'bare_lf'],
    [`GET / HTTP/1.1\r${host}\r\n`, 'bare_cr'],
    [`GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n`, 'bare_cr'],
    [`GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n`, 'bare_lf'],
    [`GET / HTTP/1.1\r\nA: b\0c\r\n\r\n`, 'nul'],
    [`GET / HTTP/1.1\r\n${host} folded\r\n\r\n`, 'obs_fold'],
    [`GET / HTTP/1.1\r\nHost : a\r\n\r\n`, 'space_before_colon'],
    [`GET / HTTP/1.1\r\nTransfer Encoding: chunked\r\n\r\n`, 'space_before_colon'],
    [`GET / HTTP/1.1\r\nA\xffb: c\r\n\r\n`, 'field_name'],
    [`GET / HTTP/1.1\r\n: c\r\n\r\n`, 'field_name'],
    [`POST / HTTP/1.1\r\n${host}Content-Length: +3\r\n\r\n`, 'content_length'],
    [`POST / HTTP/1.1\r\n${host}Content-Length: 0x3\r\n\r\n`, 'content_length'],
    [`POST / HTTP/1.1\r\n${host}Content-Length: 3, 3\r\n\r\n`, 'content_length'],
    [`POST / HTTP/1.1\r\n${host}Content-Length:\r\n\r\n`, 'content_length'],
    [`POST / HTTP/1.1\r\n${host}Content-Length: 1234567890123456\r\n\r\n`, 'content_length'],
    [
      `POST / HTTP/1.1\r\n${host}Content-Length: 3\r\nContent-Length: 3\r\n\r\n`,
      'content_length_twice',
    ],
    [
      `POST / HTTP/1.1\r\n${host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n`,
      'content_length_and_transfer_encoding',
    ],
    [`POST / HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n`, 'transfer_encoding_in_http10'],
    [`POST / HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n`, 'transfer_encoding'],
    [`POST / HTTP/1.1\r\n${host}Transfer-Encoding: \x0bchunked\r\n\r\n`, 'transfer_encoding'],
    [`POST / HTTP/1.1\r\n${host}Transfer-Encoding:\tchunked\r\n\r\n`, 'transfer_encoding'],
    [`POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\t\r\n\r\n`, 'transfer_encoding'],
    [
      `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`,
      'transfer_encoding',
    ],
    ['\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n', 'empty_start_line'],
    [`GET /${'a'.repeat(17_000)} HTTP/1.1\r\n${host}\r\n`, 'target_too_long'],
    [`GET / HTTP/1.1\r\n${'A: b\r\n'.repeat(201)}\r\n`, 'too_many_fields'],
    [`GET / HTTP/1.1\r\nA: ${'b'.repeat(70_000)}\r\n\r\n`, 'head_too_large'],
  ];
  test.each(refused)('refuses case %#', (text, reason) => {
    const summary = parseWhole(text);
    expect(summary.result).toBe(SCAN.REFUSED);
    expect(summary.reason).toBe(reason);
  });

  const inspected: readonly (readonly [string, string, readonly string[]])[] = [
    ['GET / HTTP/1.1\r\n\r\n', 'host_missing', ['GET', '/', 'HTTP/1.1']],
    [`GET / HTTP/1.1\r\n${host}${host}\r\n`, 'host_twice', ['GET', '/', 'HTTP/1.1']],
    ['GET / HTTP/1.1\r\nHost: a b\r\n\r\n', 'host_invalid', ['GET', '/', 'HTTP/1.1']],
    [`GET http://b/ HTTP/1.1\r\n${host}\r\n`, 'host_mismatch', ['GET', 'http://b/', 'HTTP/1.1']],
    [
      `GET http://u@a.example/ HTTP/1.1\r\n${host}\r\n`,
      'userinfo',
      ['GET', 'http://u@a.example/', 'HTTP/1.1'],
    ],
    [`\tGET / HTTP/1.1\r\n${host}\r\n`, 'request_line', ['GET', '/', 'HTTP/1.1']],
    [`GET  / HTTP/1.1\r\n${host}\r\n`, 'request_line', ['GET', '/', 'HTTP/1.1']],
    [`GET /a b HTTP/1.1\r\n${host}\r\n`, 'target', ['GET', '/a b', 'HTTP/1.1']],
    [`GET /\xc3\xa4 HTTP/1.1\r\n${host}\r\n`, 'target', ['GET', '/\xc3\xa4', 'HTTP/1.1']],
    [`GET foo HTTP/1.1\r\n${host}\r\n`, 'target', ['GET', 'foo', 'HTTP/1.1']],
    [`GET /a?b#c HTTP/1.1\r\n${host}\r\n`, 'target', ['GET', '/a?b#c', 'HTTP/1.1']],
    ['GET / HTTP/1.1\r\nHost: a%00\r\n\r\n', 'host_invalid', ['GET', '/', 'HTTP/1.1']],
    ...['a/c', 'A/B', 'a/b'].map((second): [string, string, string[]] => [
      `GET / HTTP/1.1\r\n${host}Content-Type: a/b\r\nContent-type: ${second}\r\n\r\n`,
      'content_type_twice',
      ['GET', '/', 'HTTP/1.1'],
    ]),
    ...['Content-Type', 'content-encoding'].map((name): [string, string, string[]] => [
      `GET / HTTP/1.1\r\n${host}Connection: x, Content-TYPE, Content-Encoding\r\n${name}: a\r\n\r\n`,
      'connection_names_content',
      ['GET', '/', 'HTTP/1.1'],
    ]),
    [`GET / HTTP/1.1\r\n${host}Expect: a\r\n\r\n`, 'expectation', ['GET', '/', 'HTTP/1.1']],
    [`TRACE / HTTP/1.1\r\n${host}\r\n`, 'trace_method', ['TRACE', '/', 'HTTP/1.1']],
    [`G@T / HTTP/1.1\r\n${host}\r\n`, 'method', ['G@T', '/', 'HTTP/1.1']],
    [`GET / HTTP/4.0\r\n${host}\r\n`, 'version_unsupported', ['GET', '/', 'HTTP/4.0']],
    ...['2x', '2.', '2.0x', '22.0', '0.9', 'x.1'].map((version): [string, string, string[]] => [
      `GET / HTTP/${version}\r\n${host}\r\n`,
      version === '2.' ? 'version_unsupported' : 'version',
      ['GET', '/', `HTTP/${version}`],
    ]),
    [`GET / HTTP/0.9\r\n${host}\r\n`, 'version', ['GET', '/', 'HTTP/0.9']],
    [`GET / JUNK/1.0\r\n${host}\r\n`, 'version', ['GET', '/', 'JUNK/1.0']],
    [`GET / \r\n${host}\r\n`, 'version_missing', ['GET', '/', '']],
    [`GET /\r\n\r\n`, 'version_missing', ['GET', '/', '']],
    ['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 'connect_method', ['CONNECT', 'a:1', 'HTTP/1.1']],
    ['CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n', 'target', ['CONNECT', 'a', 'HTTP/1.1']],
    [`GET / HTTP/1.1\r\n${host}A: b\x07c\r\n\r\n`, 'field_value', ['GET', '/', 'HTTP/1.1']],
    [
      `GET / HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      'upgrade',
      ['GET', '/', 'HTTP/1.1'],
    ],
  ];
  test.each(inspected)('reads case %# for inspection only', (text, reason, line) => {
    const summary = parseWhole(text);
    expect(summary).toMatchObject({ result: SCAN.DONE, reason, line });
  });

  test('names the target form', () => {
    const bytes = bytesOf('GET HTTP://a.example?q HTTP/1.1\r\nHost: A.example\r\n\r\n');
    const parser = new RequestHeadParser();
    parser.reset(0);
    expect(parser.execute(bytes, bytes.length)).toBe(SCAN.DONE);
    expect(parser.targetForm).toBe(TARGET_FORM.ABSOLUTE);
    expect(bytes.toString('latin1', parser.hostStart, parser.hostEnd)).toBe('a.example');
    expect(bytes.toString('latin1', parser.pathStart, parser.pathEnd)).toBe('?q');
  });

  test('splitting never changes the reading', () => {
    const all = [...accepted.map((row) => row[0]), ...refused.map((row) => row[0])];
    const texts = [...all, ...inspected.map((row) => row[0])];
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(fc.nat(), { maxLength: 8 }), (text, cuts) => {
        expect(parseSplit(text, cuts)).toEqual(parseWhole(text));
      }),
      { numRuns: 2000 },
    );
    for (const text of texts) {
      if (text.length > 400) continue;
      const everywhere = Array.from({ length: text.length }, (_, index) => index);
      expect(parseSplit(text, everywhere)).toEqual(parseWhole(text));
    }
  });

  test('splitting never changes the reading of random bytes', () => {
    const piece = fc.constantFrom(
      ...[
        'GET',
        ' ',
        '/',
        'HTTP/1.1',
        '\r\n',
        '\r',
        '\n',
        'Host',
        ':',
        'a',
        '\t',
        '\0',
        '\xff',
        '"',
      ],
      ...[
        'Content-Length',
        'Transfer-Encoding',
        'chunked',
        '3',
        ',',
        'Connection: x\r\n',
        '\r\n\r\n',
      ],
    );
    const limits = { headBytesMax: 60, targetBytesMax: 12, fieldsMax: 3 };
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (pieces, cuts) => {
          const text = pieces.join('');
          expect(parseSplit(text, cuts)).toEqual(parseWhole(text));
          expect(parseSplit(text, cuts, limits)).toEqual(parseWhole(text, limits));
        },
      ),
      { numRuns: 3000 },
    );
  });
});

const token = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/);
const value = fc.stringMatching(
  /^([\x21-\x7e\x80-\xff]([\x20-\x7e\x80-\xff\t]{0,20}[\x21-\x7e\x80-\xff])?)?$/,
);

test('what was written is what is read', () => {
  const known = /^(host|content-length|transfer-encoding|connection|upgrade|expect)$/i;
  const field = fc.tuple(token, value).filter(([name]) => !known.test(name));
  fc.assert(
    fc.property(token, fc.webPath(), fc.array(field, { maxLength: 10 }), (method, path, fields) => {
      const writer = new ByteWriter();
      writer.text(`${method} /${path.replace(/[^\x21-\x7e]/g, '')} HTTP/1.1\r\n${host}`);
      for (const [name, text] of fields) writer.text(`${name}: ${text}\r\n`);
      writer.crlf();
      const bytes = writer.take();
      const parser = new RequestHeadParser();
      parser.reset(0);
      expect(parser.execute(bytes, bytes.length)).toBe(SCAN.DONE);
      expect(parser.headEnd).toBe(bytes.length);
      const read = fields.map((_, i) => {
        const [a, b, c, d] = parser.spans.slice(
          SPAN.fields + 4 * (i + 1),
          SPAN.fields + 4 * (i + 2),
        );
        return [bytes.toString('latin1', a, b), bytes.toString('latin1', c, d)];
      });
      expect(read).toEqual(fields);
    }),
  );
});

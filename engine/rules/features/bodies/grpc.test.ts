/** Tests reading gRPC bodies: fields, framing, compression, base64, limits, random input. */

import { deflateSync, gzipSync } from 'node:zlib';
import { toBinary, create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { fromByteString } from '../../../../base/byte-string.ts';
import { SiteSchema } from '../../../../proto/gen/waf/v1/site_pb.ts';
import { loadRequestBody } from '../../load/request-body.ts';
import { loadRequestHead } from '../../load/request-head.ts';
import {
  misplacedRows,
  requestFrom,
  rowTexts,
  samplePorts,
  sampleSettings,
} from '../../load/test-sample.ts';
import { Transaction } from '../../transaction/transaction.ts';
import type { ProgramSettings } from '../../transaction/types.ts';
import { SOURCE } from '../../transaction/values.ts';

interface Call {
  readonly type?: string;
  readonly lines?: string;
  readonly settings?: Partial<ProgramSettings>;
  readonly truncated?: boolean;
  readonly on?: boolean;
}

function callOf(body: Uint8Array, call: Call = {}): Transaction {
  const { type = 'application/grpc', lines = '', settings = {}, truncated = false } = call;
  const head = `POST /a.B/C HTTP/2.0\r\nContent-Type: ${type}${lines}`;
  const tx = new Transaction();
  const request = { ...requestFrom(head), grpcFields: call.on ?? true };
  tx.begin(request, { ...sampleSettings, ...settings }, samplePorts);
  loadRequestHead(tx);
  loadRequestBody(tx, { bytes: body, truncated });
  expect(misplacedRows(tx)).toEqual([]);
  return tx;
}

/** A GET with that query; `on`: fields of gRPC are read. */
function getOf(query: string, on: boolean): Transaction {
  const request = requestFrom(`GET /a.B/C?connect=v1&${query} HTTP/1.1\r\nHost: a`);
  const tx = new Transaction();
  const settings = { ...sampleSettings, inspectsUnparsed: true };
  tx.begin({ ...request, grpcFields: on }, settings, samplePorts);
  loadRequestHead(tx);
  loadRequestBody(tx, null);
  return tx;
}

const read = (body: Uint8Array, call: Call = {}): [rows: string[], error: string] => {
  const tx = callOf(body, call);
  return [rowTexts(tx, SOURCE.argPost), tx.bodyErrorMessage];
};

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...bytes, left];
    bytes.push((left % 128) | 128);
  }
}
const field = (number: number, content: Uint8Array | string): Buffer =>
  Buffer.concat([
    Buffer.from([...varint(number * 8 + 2), ...varint(content.length)]),
    typeof content === 'string' ? fromByteString(content) : content,
  ]);
const join = (...parts: readonly Uint8Array[]): Buffer => Buffer.concat(parts);
const framed = (content: Uint8Array, flags = 0): Buffer => {
  const prefix = Buffer.alloc(5, flags);
  prefix.writeUInt32BE(content.length, 1);
  return join(prefix, content);
};
const number = (of: number, value: number): Buffer => Buffer.from([of * 8, ...varint(value)]);

describe('fields', () => {
  test('have names by their paths', () => {
    const inside = join(number(1, 300), field(3, 'deep text'), field(3, 'and more'));
    const message = join(field(1, 'hello you'), field(2, inside), number(9, 1));
    expect(read(framed(message))[0]).toEqual([
      'grpc.1=hello you',
      'grpc.2.3=deep text',
      'grpc.2.3=and more',
    ]);
  });

  test('of every kind are passed over', () => {
    const fixed = Buffer.from([0x21, 1, 2, 3, 4, 5, 6, 7, 8, 0x2d, 1, 2, 3, 4]);
    const group = join(Buffer.from([0x33]), field(1, 'in a group'), Buffer.from([0x34]));
    expect(read(framed(join(fixed, group, field(15, ''), field(16, '\xff\xfe'))))).toEqual([
      ['grpc.6.1=in a group', 'grpc.15='],
      '',
    ]);
  });

  test('that are text and a message are read as both', () => {
    // The text "\n\x05hello" is the message {1: "hello"}; control bytes are shown as spaces.
    expect(read(framed(field(1, field(1, 'hello'))))[0]).toEqual([
      'grpc.1=\n hello',
      'grpc.1.1=hello',
    ]);
    // A text made of fields without text: tag and number, again and again.
    expect(read(framed(field(1, 'xyxyxyxy')))[0]).toEqual(['grpc.1=xyxyxyxy']);
    expect(read(framed(field(1, 'xy\x00y')))[0]).toEqual(['grpc.1=xy\x00y']);
  });

  test('that are neither are looked through for text', () => {
    const blob = join(Buffer.from([0xff, 0, 1, 0xfe]), Buffer.from('a text in a blob'));
    const settings = { inspectsUnparsed: true };
    expect(read(framed(field(1, blob)), { settings })[0]).toEqual(['=a text in a blob']);
    expect(read(framed(field(1, blob)))[0]).toEqual([]);
  });

  const settings = { inspectsUnparsed: true };
  const quoted = JSON.stringify({ q: '\u0027 or 1' }).replace("'", '\\u0027');
  test.each([
    ['JSON with escapes', quoted, "json.q=' or 1"],
    ['JSON in a string of JSON', JSON.stringify([quoted]), "json.q=' or 1"],
    ['a form', 'a=1&b=%27+or+1', "b=' or 1"],
    ['base64', Buffer.from("x' or 1=1 -- y").toString('base64'), "=x' or 1=1 -- y"],
    ['base64 of JSON', Buffer.from(quoted).toString('base64url'), "json.q=' or 1"],
  ])('that hold %s are read as that, too', (_, text, row) => {
    for (const message of [field(1, text), field(2, field(3, text))]) {
      expect(read(framed(message), { settings })).toEqual([expect.arrayContaining([row]), '']);
      const type = 'application/grpc-web-text';
      const body = Buffer.from(framed(message).toString('base64'));
      expect(read(body, { settings, type })[0]).toContain(row);
      expect(read(framed(message), { settings, type: 'application/grpc-web' })[0]).toContain(row);
      expect(read(framed(message))[0]).not.toContain(row);
    }
  });

  const inJson = (text: string): Buffer => framed(Buffer.from(text));
  test.each([
    ['JSON over gRPC', 'application/grpc+json', inJson(quoted), ''],
    ['JSON over gRPC-Web', 'application/grpc-web+json; charset=utf-8', inJson(quoted), ''],
    [
      'a stream of Connect',
      'application/connect+json',
      join(inJson('{"a":1}'), inJson(quoted)),
      '',
    ],
    [
      'a stream of Connect in Protocol Buffers',
      'application/connect+proto',
      framed(field(1, quoted)),
      '',
    ],
    [
      ...['a compressed stream of Connect', 'application/connect+json'],
      ...[framed(gzipSync(quoted), 1), '\r\nConnect-Content-Encoding: gzip'],
    ],
  ] as const)('%s', (_, type, body, lines) => {
    expect(read(body, { type, lines, settings })).toEqual([
      expect.arrayContaining(["json.q=' or 1"]),
      '',
    ]);
  });

  const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64url');
  test.each([
    ['JSON', `encoding=json&message=${encodeURIComponent(quoted)}`],
    ['JSON in base64', `encoding=json&base64=1&message=${base64(quoted)}`],
    ['compressed', `compression=gzip&encoding=json&base64=1&message=${base64(gzipSync(quoted))}`],
    ['Protocol Buffers', `encoding=proto&base64=1&message=${base64(field(1, quoted))}`],
    ['of two the first', `encoding=json&message=${encodeURIComponent(quoted)}&message=1`],
    ['of two the last', `encoding=json&message=1&message=${encodeURIComponent(quoted)}`],
    [
      'in the first of two encodings',
      `encoding=proto&base64=1&message=${base64(field(1, quoted))}&encoding=json&base64=0`,
    ],
    ['with a charset', `encoding=json%3B%20charset%3Dutf-8&message=${encodeURIComponent(quoted)}`],
  ])('a message in the query of a GET of Connect: %s', (_, query) => {
    for (const on of [true, false]) {
      const tx = getOf(query, on);
      expect([misplacedRows(tx), tx.bodyError]).toEqual([[], 0]);
      expect(rowTexts(tx, SOURCE.argPost).includes("json.q=' or 1")).toBe(on);
    }
  });

  const gzipped = gzipSync(quoted);
  const withoutEnd = base64(gzipped.subarray(0, -9));
  test.each([
    ['lz4', `compression=lz4&encoding=json&base64=1&message=${base64(gzipped)}`],
    ['two codings', `compression=gzip%2Cbr&encoding=json&base64=1&message=${base64(gzipped)}`],
    ['no gzip', 'compression=gzip&encoding=json&base64=1&message=c2VsZWN0IDEgZnJvbSBh'],
    [
      'damaged',
      `compression=br&encoding=proto&base64=1&message=${base64(gzipped.fill(7, 12, 20))}`,
    ],
    ['in the first', `compression=zstd&encoding=json&message=a&compression=identity&message={}`],
    ['not in base64', `compression=snappy&encoding=json&message=%01abc`],
  ])('a message of Connect is refused that is compressed as %s', (_, query) => {
    const tx = getOf(query, true);
    expect(tx.bodyErrorMessage).toBe('Content coding: an encoding that is not read');
    expect(getOf(query, false).bodyError).toBe(0);
  });

  test.each([
    ['identity', `compression=identity&encoding=json&message=%7B%7D`],
    ['an empty message', 'compression=gzip&encoding=proto&base64=1&message='],
    ['no message', 'compression=zstd&encoding=json'],
    ['no encoding', 'compression=zstd&message=hello'],
    ['a message that was cut', `compression=gzip&encoding=json&base64=1&message=${withoutEnd}`],
  ])('a query with %s is taken', (_, query) => {
    expect(getOf(query, true).bodyError).toBe(0);
  });

  test.each([
    ['a word', 'c29tZXdvcmQ='],
    ['what decodes to no text', 'AAECAwQF/////////w=='],
    ['a sentence', 'nothing is encoded here'],
  ])('that hold %s are read once', (_, text) => {
    const settings = { inspectsUnparsed: true };
    expect(read(framed(field(1, text)), { settings })[0]).toEqual([`grpc.1=${text}`]);
  });

  test('of messages that a library wrote are all there', () => {
    const site = create(SiteSchema, {
      ...{ id: 'the id', name: 'naïve name', primaryHost: 'a.example', aliases: ['b.example'] },
      upstreams: [{ inline: { url: 'http://origin' }, requestHeaders: { 'x-a': 'of a map' } }],
    });
    const rows = read(framed(toBinary(SiteSchema, site)))[0].map((row) => row.split('=')[1]);
    for (const text of [
      'the id',
      'na\xc3\xafve name',
      'a.example',
      'b.example',
      'http://origin',
      'of a map',
    ]) {
      expect(rows).toContain(text);
    }
  });
});

describe('messages', () => {
  const [one, two] = [framed(field(1, 'the first')), framed(field(1, 'the second'))];

  test('one after the other, and none', () => {
    expect(read(join(one, framed(Buffer.alloc(0)), two))).toEqual([
      ['grpc.1=the first', 'grpc.1=the second'],
      '',
    ]);
    expect(read(Buffer.alloc(0))).toEqual([[], '']);
  });

  test.each([
    'application/grpc',
    'Application/gRPC+proto',
    'application/grpc+unknown; a=b',
    'application/grpc-web',
    'application/grpc-web+proto',
  ])('as %s', (type) => {
    expect(read(one, { type })[0]).toEqual(['grpc.1=the first']);
  });

  test('only where the site asks for it, under a type of gRPC', () => {
    expect(callOf(one, { on: false }).bodyProcessor).toBe('');
    expect(callOf(one, { type: 'application/octet-stream' }).bodyProcessor).toBe('');
  });

  test('also fill REQUEST_BODY', () => {
    expect(callOf(one).values.rowsOf(SOURCE.requestBody)).toHaveLength(1);
  });

  test('in base64, whole and in pieces', () => {
    const type = 'application/grpc-web-text';
    const text = (body: Uint8Array): string => Buffer.from(body).toString('base64');
    const whole = Buffer.from(text(join(one, two)));
    const pieces = Buffer.from(text(one.subarray(0, 4)) + text(one.subarray(4)) + text(two));
    const rows = ['grpc.1=the first', 'grpc.1=the second'];
    expect(read(whole, { type })).toEqual([rows, '']);
    expect(read(pieces, { type: `${type}+proto` })).toEqual([rows, '']);
    const lines = Buffer.from(`${text(join(one, two)).replaceAll(/(.{7})/g, '$1\r\n')}\n`);
    expect(read(lines, { type })).toEqual([rows, '']);
    const other = framed(field(1, '???>>>')).toString('base64');
    const alphabet = Buffer.from(other.replaceAll('+', '-').replaceAll('/', '_'));
    expect(read(alphabet, { type })).toEqual([['grpc.1=???>>>'], '']);
    const odd = join(Buffer.from(text(one)), Buffer.from('<script>alert(1)</script>'));
    const [found, reason] = read(odd, { type, settings: { inspectsUnparsed: true } });
    expect(found).toContain('grpc.1=the first');
    expect(found).toContain('=<script>alert(1)</script>');
    expect(reason).toBe('GRPC: not base64');
    expect(read(one, { type })[1]).toBe('GRPC: not base64');
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ])('in %s', (coding, pack) => {
    const lines = `\r\nGrpc-Encoding: ${coding}`;
    const body = join(framed(pack(field(1, 'packed text')), 1), one);
    expect(read(body, { lines })).toEqual([['grpc.1=packed text', 'grpc.1=the first'], '']);
  });

  test('marked as compressed without a coding', () => {
    for (const lines of ['', '\r\ngrpc-encoding: identity']) {
      expect(read(framed(field(1, 'as it is'), 1), { lines })[0]).toEqual(['grpc.1=as it is']);
    }
  });
});

describe('what cannot be read is an error, and its text is inspected', () => {
  const text = Buffer.from('a text that is no message');
  const settings = { inspectsUnparsed: true };
  const lines = '\r\ngrpc-encoding: lz4';
  test.each<[string, Buffer, RegExp]>([
    ['not Protocol Buffers', framed(text), /not a message/],
    ['a field of number 0', framed(join(Buffer.from([2, 1, 1]), text)), /not a message/],
    ['a length past the end', framed(join(Buffer.from([10, 99]), text)), /not a message/],
    ['a number without an end', framed(join(Buffer.alloc(11, 0xff), text)), /not a message/],
    ['the end of no group', framed(join(Buffer.from([0x0c]), text)), /not a message/],
    ['flags of no request', framed(text, 0x80), /unknown flags/],
    ['a coding that is not known', framed(text, 1), /an encoding that is not read/],
  ])('%s', (_name, body, reason) => {
    const [rows, message] = read(body, { settings, lines });
    expect(message).toMatch(reason);
    expect(rows.join()).toContain('text that is no message');
  });

  test('a message that is not whole', () => {
    const whole = framed(field(1, 'seen to its end'));
    expect(read(whole.subarray(0, -3))[1]).toBe('GRPC: a message is not whole');
    expect(read(whole.subarray(0, -3), { truncated: true })).toEqual([['grpc.1=seen to its '], '']);
    expect(read(whole.subarray(0, 3))[1]).toBe('GRPC: a message is not whole');
    for (let end = 0; end < whole.length; end++) {
      expect(read(whole.subarray(0, end), { truncated: true })[1]).toBe('');
    }
  });
});

describe('limits', () => {
  const lines = '\r\ngrpc-encoding: gzip';
  test('what compressed messages grow to', () => {
    const bomb = framed(gzipSync(field(1, Buffer.alloc(5_000_000, 0x61))), 1);
    const tx = callOf(join(bomb, bomb), { lines, settings: { requestBodyLimitBytes: 100_000 } });
    expect(tx.limitsReached).toContain('grpc-bytes');
    expect(tx.values.used).toBeLessThan(200_000);
    expect(rowTexts(tx, SOURCE.argPost)[0]!.startsWith(`grpc.1=${'a'.repeat(50_000)}`)).toBe(true);
  });

  test('how many are compressed', () => {
    const small = framed(gzipSync(field(1, 'x')), 1);
    const body = join(...Array<Buffer>(257).fill(small));
    const tx = callOf(body, { lines });
    expect(tx.limitsReached).toEqual(['grpc-bytes']);
    expect(tx.values.rowsOf(SOURCE.argPost)).toHaveLength(256);
  });

  test('texts within each other', () => {
    let message = field(1, 'x'.repeat(60));
    for (let depth = 0; depth < 30; depth++) message = field(1, message);
    expect(callOf(framed(message)).limitsReached).toEqual([]);
    const many = join(...Array<Buffer>(32).fill(message));
    expect(callOf(framed(many)).limitsReached).toEqual(['grpc-bytes']);
  });
});

type Tree = readonly (readonly [number: number, content: string | Tree])[];
const tree = fc.letrec<{ tree: Tree; node: string | Tree }>((tie) => ({
  tree: fc.array(fc.tuple(fc.integer({ min: 1, max: 2 ** 29 - 1 }), tie('node')), { maxLength: 4 }),
  node: fc.oneof({ maxDepth: 5 }, fc.string({ unit: 'binary', maxLength: 200 }), tie('tree')),
})).tree;
const encode = (of: Tree): Buffer =>
  join(
    ...of.map(([key, content]) =>
      field(key, typeof content === 'string' ? Buffer.from(content) : encode(content)),
    ),
  );
function* leavesOf(of: Tree, path: string): Generator<string> {
  for (const [key, content] of of) {
    const name = `${path}.${key}`;
    if (typeof content !== 'string') yield* leavesOf(content, name);
    else yield `${name}=${Buffer.from(content).toString('latin1')}`;
  }
}
const plain = (row: string): string => row.replace(/[\0-\x08\x0b\x0e-\x1f\x7f]/g, ' ');

test('every text of any message is found under its name', () => {
  fc.assert(
    fc.property(tree, (of) => {
      const tx = callOf(framed(encode(of)));
      expect(tx.bodyError).toBe(0);
      if (tx.limitsReached.length > 0) return;
      const rows = new Set(rowTexts(tx, SOURCE.argPost).map(plain));
      for (const leaf of leavesOf(of, 'grpc')) expect(rows).toContain(plain(leaf));
    }),
    { numRuns: 500 },
  );
});

test('random bytes never throw, and what they cost is bounded', () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.constantFrom(...[0x0a, 0x0b, 0x0c, 0x12, 0, 0xff, 1].map((byte) => Uint8Array.of(byte))),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => field(1, bytes)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => framed(bytes)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => framed(gzipSync(bytes), 1)),
  );
  const type = fc.constantFrom('application/grpc', 'application/grpc-web-text');
  fc.assert(
    fc.property(
      ...([fc.array(piece, { maxLength: 20 }), fc.boolean(), fc.boolean(), type] as const),
      (pieces, truncated, inspectsUnparsed, media) => {
        const body = join(...pieces);
        const settings = { inspectsUnparsed };
        const tx = callOf(body, {
          ...{ truncated, settings, type: media, lines: '\r\ngrpc-encoding: gzip' },
        });
        expect(tx.values.used).toBeLessThan(1_000 + 20 * body.length);
      },
    ),
    { numRuns: 1_000 },
  );
});

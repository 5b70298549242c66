/** The reading of hellos: a table of what is read, waited for and refused, and random damage. */

import net from 'node:net';
import tls from 'node:tls';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { readClientHello } from './client-hello.ts';

const u8 = (value: number): Buffer => Buffer.from([value]);
const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const u24 = (value: number): Buffer => Buffer.from([value >> 16, (value >> 8) & 255, value & 255]);
const block = (width: 1 | 2, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([width === 1 ? u8(content.length) : u16(content.length), content]);
};
const extension = (type: number, content: Buffer): Buffer =>
  Buffer.concat([u16(type), block(2, content)]);
const nameEntry = (name: string, type = 0): Buffer =>
  Buffer.concat([u8(type), block(2, Buffer.from(name, 'latin1'))]);
const serverName = (...entries: Buffer[]): Buffer => extension(0, block(2, ...entries));
const protocols = (...names: string[]): Buffer =>
  extension(16, block(2, ...names.map((name) => block(1, Buffer.from(name)))));

interface Wish {
  readonly extensions?: readonly Buffer[] | null;
  readonly version?: number;
  readonly suites?: Buffer;
  readonly after?: Buffer;
}

/** One hello, unframed. */
function message({ extensions = [], version = 0x0303, suites, after }: Wish): Buffer {
  const body = Buffer.concat([
    u16(version),
    Buffer.alloc(32, 9),
    block(1),
    block(2, suites ?? u16(0x1301)),
    block(1, u8(0)),
    ...(extensions === null ? [] : [block(2, ...extensions)]),
    after ?? Buffer.alloc(0),
  ]);
  return Buffer.concat([u8(1), u24(body.length), body]);
}

/** Records of at most `size` bytes. */
function records(content: Buffer, size = 16_384): Buffer {
  const made: Buffer[] = [];
  for (let at = 0; at < content.length; at += size) {
    const part = content.subarray(at, at + size);
    made.push(Buffer.from([22, 3, 1]), u16(part.length), part);
  }
  return Buffer.concat(made);
}

const hello = (wish: Wish): Buffer => records(message(wish));
const named = (name: string | null, ...list: string[]): object => ({
  kind: 'hello',
  hello: { serverName: name, protocols: list },
});
const malformed = { kind: 'refused', alert: 50 };
const unknownName = { kind: 'refused', alert: 112 };

const table: readonly [string, Buffer, object][] = [
  ['a name', hello({ extensions: [serverName(nameEntry('shop.test'))] }), named('shop.test')],
  [
    'in lower case',
    hello({ extensions: [serverName(nameEntry('SHOP.Test.'))] }),
    named('shop.test'),
  ],
  ['no name', hello({}), named(null)],
  ['no extensions', hello({ extensions: null }), named(null)],
  [
    'protocols in order',
    hello({ extensions: [protocols('h2', 'http/1.1')] }),
    named(null, 'h2', 'http/1.1'),
  ],
  ['unknown extensions', hello({ extensions: [extension(0x7a7a, u8(1))] }), named(null)],
  [
    'small records',
    records(message({ extensions: [serverName(nameEntry('a.test'))] }), 7),
    named('a.test'),
  ],
  ['nothing yet', Buffer.alloc(0), { kind: 'more' }],
  ['half a record', hello({}).subarray(0, 20), { kind: 'more' }],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n'), { kind: 'plain' }],
  ['HTTP, first byte', Buffer.from('G'), { kind: 'plain' }],
  ['another protocol', Buffer.from('SSH-2.0-x'), malformed],
  ['SSL 2', Buffer.from([0x80, 46, 1, 3, 1]), malformed],
  ['two extensions of a type', hello({ extensions: [protocols('a'), protocols('b')] }), malformed],
  [
    'two names',
    hello({ extensions: [serverName(nameEntry('a.test'), nameEntry('b.test'))] }),
    malformed,
  ],
  ['no name in the list', hello({ extensions: [serverName()] }), malformed],
  ['a name of another type', hello({ extensions: [serverName(nameEntry('a', 1))] }), malformed],
  ['an empty name', hello({ extensions: [serverName(nameEntry(''))] }), unknownName],
  ['an address', hello({ extensions: [serverName(nameEntry('127.0.0.1'))] }), unknownName],
  ['a NUL', hello({ extensions: [serverName(nameEntry('a.test\0.b'))] }), unknownName],
  ['a wildcard', hello({ extensions: [serverName(nameEntry('*.test'))] }), unknownName],
  ['an empty protocol', hello({ extensions: [protocols('')] }), malformed],
  ['no protocol', hello({ extensions: [protocols()] }), malformed],
  ['SSL 2 inside', hello({ version: 0x0200 }), { kind: 'refused', alert: 70 }],
  ['no suites', hello({ suites: Buffer.alloc(0) }), malformed],
  ['bytes after the extensions', hello({ after: u8(0) }), malformed],
  [
    'bytes after the hello',
    Buffer.concat([records(Buffer.concat([message({}), u8(1)]))]),
    malformed,
  ],
  ['another message', records(Buffer.concat([u8(2), u24(0)])), malformed],
  [
    'an alert between records',
    Buffer.concat([hello({}).subarray(0, 5), Buffer.from([21])]),
    { kind: 'more' },
  ],
  ['an empty record', Buffer.from([22, 3, 1, 0, 0]), malformed],
  ['a record that is too long', Buffer.from([22, 3, 1, 0x40, 1]), malformed],
  [
    'a hello that is too long',
    records(Buffer.concat([u8(1), u24(20_000), Buffer.alloc(9)])),
    malformed,
  ],
];

test.each(table)('%s', (_name, bytes, expected) => {
  expect(readClientHello(bytes)).toMatchObject(expected);
});

test.each([1, 63, 64, 65, 100])('a type that stands twice after %i others is refused', (others) => {
  const types = Array.from({ length: others }, (_, at) => 0x100 + at);
  const of = (...list: number[]): Buffer =>
    hello({ extensions: list.map((type) => extension(type, u8(1))) });
  expect(readClientHello(of(...types, 0x7777))).toMatchObject(named(null));
  expect(readClientHello(of(...types, 0x7777, 0x7777))).toMatchObject(malformed);
  expect(readClientHello(of(...types, 0x7777, types[0]!))).toMatchObject(malformed);
});

test('what fingerprints are made of is read in the order of the wire', () => {
  const suites = Buffer.concat([u16(0x1a1a), u16(0x1302), u16(0x1301)]);
  const versions = extension(43, block(1, u16(0x2a2a), u16(0x0304), u16(0x0303)));
  const signatures = extension(13, block(2, u16(0x0804), u16(0x0403)));
  const found = readClientHello(hello({ suites, extensions: [versions, signatures] }));
  expect(found).toMatchObject({
    hello: {
      fingerprint: {
        version: 0x0304,
        suites: [0x1a1a, 0x1302, 0x1301],
        extensions: [43, 13],
        signatureAlgorithms: [0x0804, 0x0403],
      },
    },
  });
});

let real: Buffer;

beforeAll(async () => {
  // What OpenSSL sends.
  real = await new Promise((resolve) => {
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes: Buffer) => {
        resolve(bytes);
        socket.destroy();
        server.close();
      });
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      const options = { port, servername: 'shop.test', ALPNProtocols: ['h2', 'http/1.1'] };
      tls.connect({ host: '127.0.0.1', ...options }).on('error', () => undefined);
    });
  });
});

test('what a library sends is read, and no beginning of it is taken for the whole', () => {
  expect(readClientHello(real)).toMatchObject(named('shop.test', 'h2', 'http/1.1'));
  for (let length = 0; length < real.length; length++) {
    expect(readClientHello(real.subarray(0, length))).toEqual({ kind: 'more' });
  }
});

test('damaged hellos are read, waited for or refused, and never fail', () => {
  const change = fc.tuple(fc.nat(real.length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 6 }), fc.nat(real.length), (changes, length) => {
      const bytes = Buffer.from(real.subarray(0, length));
      for (const [at, value] of changes) if (at < length) bytes[at] = value;
      expect(['more', 'hello', 'plain', 'refused']).toContain(readClientHello(bytes).kind);
    }),
    { numRuns: 2_000 },
  );
});

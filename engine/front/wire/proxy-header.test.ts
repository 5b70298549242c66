/** The reading of PROXY headers: a table of forms, every split, and random damage. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proxyHeaderLimits } from '../../../base/delivery-limits.ts';
import { readProxyHeader, type ProxyHeader } from './proxy-header.ts';

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);

function binary(command: number, family: number, content: Buffer, length?: number): Buffer {
  const head = Buffer.from([command, family]);
  return Buffer.concat([signature, head, u16(length ?? content.length), content]);
}

const tcp4 = Buffer.concat([Buffer.from([192, 0, 2, 1, 198, 51, 100, 9]), u16(40_000), u16(443)]);
const ip6 = (end: number): Buffer => Buffer.from(`20010db8${'0'.repeat(22)}0${end}`, 'hex');
const tcp6 = Buffer.concat([ip6(1), ip6(2), u16(40_000), u16(443)]);
const mapped = Buffer.concat([
  Buffer.from('00000000000000000000ffffc0000201', 'hex'),
  ip6(2),
  u16(1),
  u16(2),
]);
/** Paths of 108 bytes each, the client's and the server's. */
const unix = Buffer.concat([
  Buffer.from('/run/client.sock'.padEnd(108, '\0')),
  Buffer.from('/run/server.sock'.padEnd(108, '\0')),
]);

const ends4 = {
  clientIp: '192.0.2.1',
  clientPort: 40_000,
  serverIp: '198.51.100.9',
  serverPort: 443,
};
const ends6 = { ...ends4, clientIp: '2001:db8::1', serverIp: '2001:db8::2' };
const line = (text: string): Buffer => Buffer.from(`${text}\r\n`, 'latin1');
const malformed = { kind: 'malformed' } as const;
const header = (bytes: Buffer, ends: object | null): object => ({
  kind: 'header',
  length: bytes.length,
  ends,
});

const good: readonly [string, Buffer, object | null][] = [
  ['line, IPv4', line('PROXY TCP4 192.0.2.1 198.51.100.9 40000 443'), ends4],
  ['line, IPv6', line('PROXY TCP6 2001:db8::1 2001:db8::2 40000 443'), ends6],
  ['line, IPv6 in full', line('PROXY TCP6 2001:DB8:0:0::1 2001:db8::2 40000 443'), ends6],
  ['line, unknown', line('PROXY UNKNOWN'), null],
  ['line, unknown with words', line('PROXY UNKNOWN ffff:f::1 x 1 2'), null],
  ['binary, IPv4', binary(0x21, 0x11, tcp4), ends4],
  ['binary, IPv6', binary(0x21, 0x21, tcp6), ends6],
  [
    'binary, IPv4 within IPv6',
    binary(0x21, 0x21, mapped),
    { clientIp: '192.0.2.1', clientPort: 1, serverIp: '2001:db8::2', serverPort: 2 },
  ],
  ['binary, fields after', binary(0x21, 0x11, Buffer.concat([tcp4, Buffer.alloc(64, 7)])), ends4],
  ['binary, of the balancer itself', binary(0x20, 0x00, Buffer.alloc(0)), null],
  ['binary, of itself with addresses', binary(0x20, 0x11, tcp4), null],
  ['binary, of itself with a Unix socket', binary(0x20, 0x31, unix), null],
  ['binary, of itself with a family that nobody knows', binary(0x20, 0xff, tcp4), null],
  ['binary, of itself with a short address', binary(0x20, 0x11, tcp4.subarray(0, 3)), null],
  ['binary, unspecified', binary(0x21, 0x00, Buffer.alloc(8)), null],
  ['binary, a Unix socket', binary(0x21, 0x31, unix), null],
  ['binary, a Unix socket, fields after', binary(0x21, 0x31, Buffer.concat([unix, tcp4])), null],
  ['binary, a datagram of a Unix socket', binary(0x21, 0x32, unix), null],
  ['binary, a datagram, IPv4', binary(0x21, 0x12, tcp4), null],
  ['binary, a datagram, IPv6', binary(0x21, 0x22, tcp6), null],
];

const bad: readonly [string, Buffer][] = [
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n')],
  ['TLS', Buffer.from([22, 3, 1, 2, 0])],
  ['lower case', line('proxy TCP4 192.0.2.1 198.51.100.9 40000 443')],
  ['two spaces', line('PROXY TCP4  192.0.2.1 198.51.100.9 40000 443')],
  ['a tab', line('PROXY TCP4\t192.0.2.1 198.51.100.9 40000 443')],
  ['a space at the end', line('PROXY TCP4 192.0.2.1 198.51.100.9 40000 443 ')],
  ['three addresses', line('PROXY TCP4 192.0.2.1 192.0.2.1 198.51.100.9 40000 443')],
  ['no ports', line('PROXY TCP4 192.0.2.1 198.51.100.9')],
  ['a leading zero in an address', line('PROXY TCP4 192.0.2.01 198.51.100.9 40000 443')],
  ['a leading zero in a port', line('PROXY TCP4 192.0.2.1 198.51.100.9 040000 443')],
  ['a port that is too large', line('PROXY TCP4 192.0.2.1 198.51.100.9 65536 443')],
  ['a negative port', line('PROXY TCP4 192.0.2.1 198.51.100.9 -1 443')],
  ['IPv6 as IPv4', line('PROXY TCP4 2001:db8::1 198.51.100.9 40000 443')],
  ['IPv4 as IPv6', line('PROXY TCP6 192.0.2.1 2001:db8::2 40000 443')],
  ['a zone', line('PROXY TCP6 fe80::1%eth0 2001:db8::2 40000 443')],
  ['UDP', line('PROXY UDP4 192.0.2.1 198.51.100.9 40000 443')],
  ['a longer word than unknown', line('PROXY UNKNOWNX')],
  ['LF alone', Buffer.from('PROXY TCP4 192.0.2.1 198.51.100.9 40000 443\n\r\n')],
  ['CR alone', Buffer.from('PROXY TCP4 192.0.2.1\r198.51.100.9 40000 443\r\n')],
  ['a NUL', line('PROXY UNKNOWN \0')],
  ['no end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(200)}`)],
  ['version 1 in binary', binary(0x11, 0x11, tcp4)],
  ['version 3', binary(0x31, 0x11, tcp4)],
  ['an unknown command', binary(0x22, 0x11, tcp4)],
  ['an unknown family', binary(0x21, 0x41, tcp4)],
  ['an unknown transport', binary(0x21, 0x13, tcp4)],
  ['a transport without a family', binary(0x21, 0x01, tcp4)],
  ['a family without a transport', binary(0x21, 0x10, tcp4)],
  ['too short for IPv4', binary(0x21, 0x11, tcp4.subarray(0, 11))],
  ['too short for IPv6', binary(0x21, 0x21, tcp6.subarray(0, 35))],
  ['too long', binary(0x21, 0x11, tcp4, proxyHeaderLimits.bytesMax)],
];

test.each(good)('%s', (_, bytes, ends) => {
  expect(readProxyHeader(bytes)).toEqual(header(bytes, ends));
  // What follows belongs to the client.
  expect(readProxyHeader(Buffer.concat([bytes, bytes]))).toEqual(header(bytes, ends));
  for (let length = 0; length < bytes.length; length++) {
    expect(readProxyHeader(bytes.subarray(0, length))).toEqual({ kind: 'more' });
  }
});

test.each(bad)('%s is malformed', (_, bytes) => {
  expect(readProxyHeader(bytes)).toEqual(malformed);
});

test('damaged headers are read, waited for or refused, and more bytes never change an answer', () => {
  const change = fc.tuple(fc.nat(60), fc.nat(255));
  const seeds = [...good.map(([, bytes]) => bytes), ...bad.map(([, bytes]) => bytes)];
  const damaged = fc
    .tuple(fc.constantFrom(...seeds), fc.array(change, { maxLength: 4 }), fc.uint8Array())
    .map(([seed, changes, tail]) => {
      const bytes = Buffer.concat([seed, tail]);
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
      return bytes;
    });
  fc.assert(
    fc.property(damaged, fc.nat(400), (bytes, at) => {
      const early: ProxyHeader = readProxyHeader(bytes.subarray(0, at));
      const late = readProxyHeader(bytes);
      if (early.kind !== 'more') expect(late).toEqual(early);
      if (late.kind !== 'header') return;
      expect(late.length).toBeLessThanOrEqual(Math.min(bytes.length, proxyHeaderLimits.bytesMax));
      if (late.ends === null) return;
      expect(late.ends.clientIp).toMatch(/^[0-9a-f.:]{2,39}$/);
      expect(late.ends.clientPort).toBeLessThan(65_536);
    }),
    { numRuns: 5_000 },
  );
});

test('nobody is waited for past the bound', () => {
  const endless = [
    Buffer.from(`PROXY UNKNOWN ${'x'.repeat(8_000)}`),
    binary(0x21, 0x11, Buffer.alloc(9_000)),
  ];
  for (const bytes of endless) expect(readProxyHeader(bytes).kind).not.toBe('more');
});

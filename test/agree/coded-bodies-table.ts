/** Request bodies in a content coding: what clients send, and what must not hide in them. */

import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  type InputType,
} from 'node:zlib';
import type { TableRequest } from './policy-in-process.ts';

const form = 'application/x-www-form-urlencoded';
const json = 'application/json';
const multipart = 'multipart/form-data; boundary=b';

function coded(coding: string, body: Buffer | string, type = json): TableRequest {
  return {
    ...{ url: '/in', method: 'POST', body },
    headers: { 'Content-Type': type, 'Content-Encoding': coding },
  };
}

const attackJson = JSON.stringify({ id: "1' union select password from users-- -" });
const attackForm = "id=1'+union+select+password+from+users--+-";
const attackPart =
  '--b\r\nContent-Disposition: form-data; name="id"\r\n\r\n' +
  "1' union select password from users-- -\r\n--b--\r\n";
const harmless = JSON.stringify({
  events: Array.from({ length: 40 }, (_, at) => ({ at, name: `page ${at * 7919} of the shop` })),
});

/** Every second byte is one that text does not have: content that no rule of text reads. */
const noise = (bytes: number): Buffer =>
  Buffer.from(Array.from({ length: bytes }, (_, at) => (at * 2_654_435_761) & 0xff));

/** A gzip header with a file name (RFC 1952, 2.3), which those who ignore the coding read. */
function named(name: string, content: InputType): Buffer {
  const plain = gzipSync(content);
  const head = Buffer.from(plain.subarray(0, 10));
  head[3] = 0x08;
  return Buffer.concat([head, Buffer.from(`${name}\0`, 'latin1'), plain.subarray(10)]);
}

/** Bytes that are a frame of zlib holding one text, and raw deflate holding another. */
function deflatedBothWays(): Buffer {
  const empty = Buffer.from([0x78, 0x9c, 0x00, 0x63, 0xff]);
  return Buffer.concat([empty, deflateRawSync(attackJson)]);
}

/** Zstandard without compression: a frame with a window of 8 MB that holds one raw block. */
function storedZstd(text: string): Buffer {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68, 0, 0, 0]);
  head.writeUIntLE((text.length << 3) | 1, 6, 3);
  return Buffer.concat([head, Buffer.from(text)]);
}

/** A block of Snappy that holds one literal. */
function storedSnappy(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  const head = Buffer.from([0x80, 0x80, 0, 61 << 2, 0, 0]);
  head[0]! |= bytes.length & 0x7f;
  head[1]! |= (bytes.length >> 7) & 0x7f;
  head[2] = bytes.length >> 14;
  head.writeUInt16LE(bytes.length - 1, 4);
  return Buffer.concat([head, bytes]);
}

/** What Light lets pass with every ruleset. */
export const codedCalls: readonly (TableRequest & { readonly title: string })[] = [
  { title: 'JSON in gzip', ...coded('gzip', gzipSync(harmless)) },
  { title: 'JSON in gzip, in capitals', ...coded('GZIP', gzipSync(harmless)) },
  { title: 'JSON in x-gzip', ...coded('x-gzip', gzipSync(harmless)) },
  { title: 'JSON in gzip with a file name', ...coded('gzip', named('events.json', harmless)) },
  { title: 'JSON in deflate', ...coded('deflate', deflateSync(harmless)) },
  { title: 'JSON in deflate without a frame', ...coded('deflate', deflateRawSync(harmless)) },
  { title: 'JSON in br', ...coded('br', brotliCompressSync(harmless)) },
  {
    title: 'JSON in two members',
    ...coded('gzip', Buffer.concat([gzipSync('[1,'), gzipSync('2]')])),
  },
  { title: 'JSON in zstd', ...coded('zstd', storedZstd(harmless)) },
  { title: 'JSON in snappy', ...coded('snappy', storedSnappy(harmless)) },
  {
    title: 'samples that Prometheus writes',
    ...coded('snappy', storedSnappy(noise(3000)), 'application/x-protobuf'),
  },
  { title: 'a form in gzip', ...coded('gzip', gzipSync('name=Ada&city=Basel'), form) },
  {
    title: 'a multipart form in gzip',
    ...coded('gzip', gzipSync(attackPart.replace(/1' .*\r/, 'Ada\r')), multipart),
  },
  { title: 'protobuf in gzip', ...coded('gzip', gzipSync(noise(3000)), 'application/x-protobuf') },
  {
    title: 'packets of git in gzip',
    ...coded(
      'gzip',
      gzipSync('0032want 0a53e9ddeaddad63ad106860237bbf53411d11a7\n00000009done\n'),
      'application/x-git-upload-pack-request',
    ),
  },
  { title: 'no coding by its name', ...coded('identity', harmless) },
  { title: 'a charset where the coding belongs', ...coded('UTF-8', harmless) },
  {
    title: 'chunks of S3',
    ...coded(
      'aws-chunked',
      '5;chunk-signature=ad80c730\r\nhello\r\n0;chunk-signature=b6c6ea8a\r\n\r\n',
      'application/octet-stream',
    ),
  },
  { title: 'a coding without a body', url: '/in', headers: { 'Content-Encoding': 'gzip' } },
];

const secondFrame = Buffer.concat([storedZstd('[1,'), storedZstd(`${attackJson}]`)]);
const afterBlock = Buffer.concat([storedSnappy('a=1'), Buffer.from(`&${attackForm}`)]);

/** What Light stops with every ruleset. */
export const codedAttacks: readonly { readonly what: string; readonly request: TableRequest }[] = [
  { what: 'gzip, JSON', request: coded('gzip', gzipSync(attackJson)) },
  { what: 'gzip of level 0', request: coded('gzip', gzipSync(attackJson, { level: 0 })) },
  { what: 'x-gzip', request: coded('X-GZip', gzipSync(attackJson)) },
  { what: 'deflate', request: coded('deflate', deflateSync(attackJson)) },
  { what: 'deflate without a frame', request: coded('deflate', deflateRawSync(attackJson)) },
  { what: 'br', request: coded('br', brotliCompressSync(attackJson)) },
  { what: 'zstd', request: coded('zstd', storedZstd(attackJson)) },
  { what: 'the second frame', request: coded('zstd', secondFrame) },
  { what: 'snappy', request: coded('Snappy', storedSnappy(attackJson)) },
  { what: 'text after a block of snappy', request: coded('snappy', afterBlock, form) },
  { what: 'gzip, a form', request: coded('gzip', gzipSync(attackForm), form) },
  { what: 'gzip, a multipart form', request: coded('gzip', gzipSync(attackPart), multipart) },
  {
    what: 'gzip, no type that says it',
    request: coded('gzip', gzipSync(attackJson), 'text/plain'),
  },
  {
    what: 'the second member',
    request: coded('gzip', Buffer.concat([gzipSync('[1,'), gzipSync(`${attackJson}]`)])),
  },
  {
    what: 'a member that is cut off',
    request: coded('gzip', gzipSync(attackJson).subarray(0, -8)),
  },
  {
    what: 'the file name of gzip',
    request: coded('gzip', named(`&${attackForm}&a=`, harmless), form),
  },
  {
    what: 'text after the member',
    request: coded('gzip', Buffer.concat([gzipSync('a=1'), Buffer.from(`&${attackForm}`)]), form),
  },
  { what: 'text that is not compressed', request: coded('gzip', attackForm, form) },
  { what: 'both readings of deflate', request: coded('deflate', deflatedBothWays()) },
  { what: 'two codings', request: coded('gzip, gzip', gzipSync(gzipSync(attackJson))) },
  { what: 'a coding that is not read', request: coded('lz4', noise(200)) },
  { what: 'zstd that is none', request: coded('zstd', noise(200)) },
  { what: 'another one', request: coded('compress', noise(200)) },
  { what: 'a list with identity', request: coded('identity, gzip', gzipSync(attackJson)) },
  {
    what: 'what grows past the limit',
    request: coded('gzip', gzipSync(Buffer.alloc(40_000_000, 0x20))),
  },
  {
    what: 'the same in br',
    request: coded(
      'br',
      brotliCompressSync(Buffer.alloc(40_000_000, 0x20), {
        params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
      }),
    ),
  },
];

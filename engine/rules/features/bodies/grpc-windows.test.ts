/**
 * Tests that windows over a long gRPC body are read as its fields: each text under its name, one
 * that is longer than a window in pieces that overlap, wherever the windows begin.
 */

import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
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
import { SOURCE } from '../../transaction/values.ts';
import { GrpcWindows } from './grpc-windows.ts';

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...bytes, left];
    bytes.push((left % 128) | 128);
  }
}
const field = (number: number, content: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
};
function framed(content: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.alloc(5, flags);
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}

/** Rows of the windows after the first `held` bytes. */
function rowsAfter(body: Buffer, held: number, pieceBytes: number, type: string): string[][] {
  const windows = new GrpcWindows(body.subarray(0, held), type.endsWith('-text'));
  const rows: string[][] = [];
  for (let at = held; at < body.length; at += pieceBytes) {
    const bytes = windows.push(body.subarray(at, at + pieceBytes));
    const tx = new Transaction();
    const head = `POST /a.B/C HTTP/2.0\r\nContent-Type: ${type}\r\ngrpc-encoding: gzip`;
    const settings = { ...sampleSettings, inspectsUnparsed: true };
    tx.begin({ ...requestFrom(head), grpcFields: true }, settings, samplePorts);
    loadRequestHead(tx);
    const rest = { begins: body.subarray(0, 64), inCdata: false, messageBytes: bytes.length };
    loadRequestBody(tx, { bytes, truncated: true, rest });
    expect(misplacedRows(tx)).toEqual([]);
    expect(tx.bodyError).toBe(0);
    rows.push(rowTexts(tx, SOURCE.argPost));
  }
  return rows;
}

const words = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `word-${from + at}`).join(' ');
const inner = Buffer.concat([field(1, 'inside'), field(2, words(0, 1_500)), field(3, 'after it')]);
const message = Buffer.concat([
  field(1, words(5_000, 300)),
  field(4, inner),
  Buffer.from([5 * 8, 150, 1]),
  field(6, 'short text'),
  field(7, field(1, field(1, 'three levels deep'))),
]);
const body = Buffer.concat([
  framed(message),
  framed(gzipSync(field(9, 'packed text')), 1),
  framed(field(8, 'the last message')),
]);

const texts: readonly (readonly [name: string, text: string])[] = [
  ['grpc.1', words(5_000, 300)],
  ['grpc.4.1', 'inside'],
  ['grpc.4.2', words(0, 1_500)],
  ['grpc.4.3', 'after it'],
  ['grpc.6', 'short text'],
  ['grpc.7.1.1', 'three levels deep'],
  ['grpc.9', 'packed text'],
  ['grpc.8', 'the last message'],
];

/** The parts of a text that stand in no row of its name; rows that overlap show all of them. */
function missing(name: string, text: string, rows: readonly string[][], from: number): string[] {
  const named = rows.flat().filter((row) => row.startsWith(`${name}=`));
  const parts: string[] = [];
  for (let at = from; at < text.length; at += 100) parts.push(text.slice(at, at + 200));
  return parts.filter((part) => !named.some((row) => row.includes(part)));
}

test.each([300, 1_000, 4_096])('pieces of %i bytes show each text under its name', (pieceBytes) => {
  for (let held = 100; held < 6_000; held += 457) {
    const rows = rowsAfter(body, held, pieceBytes, 'application/grpc');
    const start = body.indexOf(words(0, 1_500));
    // What was held was inspected before.
    for (const [name, text] of texts) {
      if (body.indexOf(text) >= 0 && body.indexOf(text) < held && text.length < 200) continue;
      const from = name === 'grpc.4.2' ? Math.max(0, held - start) : name === 'grpc.1' ? held : 0;
      expect([held, name, ...missing(name, text, rows, from)]).toEqual([held, name]);
    }
  }
});

test('base64 of gRPC-Web is decoded, pieces of it that were encoded apart too', () => {
  const half = body.length >> 1;
  const parts = [body.subarray(0, half), body.subarray(half)].map((one) => one.toString('base64'));
  const encoded = Buffer.from(parts.join(''));
  for (const held of [101, 1_002, 3_003]) {
    const rows = rowsAfter(encoded, held, 1_001, 'application/grpc-web-text');
    for (const [name, text] of texts.slice(3)) {
      expect([held, name, ...missing(name, text, rows, 0)]).toEqual([held, name]);
    }
  }
});

test('a text that reads as a message is found as the text, too', () => {
  const text = `${field(12, words(0, 400)).toString()}the end of it`;
  const rows = rowsAfter(framed(field(3, text)), 1_500, 500, 'application/grpc');
  expect(missing('grpc.3', text, rows, 1_500)).toEqual([]);
});

test('what is no message is text from there on', () => {
  const odd = Buffer.concat([
    framed(field(1, 'begins well')),
    Buffer.from('\x07no message at all'),
  ]);
  const rows = rowsAfter(
    Buffer.concat([odd, Buffer.from(words(0, 300))]),
    10,
    200,
    'application/grpc',
  );
  expect(rows.flat().join(' ')).toContain('no message at all');
  expect(missing('', words(0, 300), rows, 0)).toEqual([]);
});

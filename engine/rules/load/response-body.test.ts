/** Holds RESPONSE_BODY to what the client would read. */

import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Transaction } from '../transaction/transaction.ts';
import { SOURCE } from '../transaction/values.ts';
import { decodeContent } from '../features/bodies/content-coding.ts';
import { loadResponseBody } from './response-body.ts';
import { loadResponseHead } from './response-head.ts';
import { responseFrom, rowTexts, transactionFor } from './test-sample.ts';

const text = 'secret '.repeat(100);

function loaded(
  coding: string,
  bytes: Uint8Array,
  truncated = false,
  bytesMax = 10_000,
): Transaction {
  const tx = transactionFor('GET / HTTP/1.1\r\nHost: a');
  tx.settings = { ...tx.settings, responseBodyLimitBytes: bytesMax };
  const field = coding === '' ? '' : `\r\nContent-Encoding: ${coding}`;
  loadResponseHead(tx, responseFrom(`HTTP/1.1 200 OK\r\nContent-Type: text/html${field}`));
  loadResponseBody(tx, { bytes, truncated });
  return tx;
}

const body = (tx: Transaction): string => rowTexts(tx, SOURCE.responseBody)[0]?.slice(1) ?? '';

test.each([
  ['', Buffer.from(text)],
  ['gzip', gzipSync(text)],
  ['X-GZIP', gzipSync(text)],
  ['deflate', deflateSync(text)],
  ['deflate', deflateRawSync(text)],
  ['br', brotliCompressSync(text)],
])('a body in the coding "%s"', (coding, bytes) => {
  const tx = loaded(coding, bytes);
  expect(body(tx)).toBe(text);
  expect(tx.outboundDataError).toBe(0);
});

test.each(['gzip, br', 'dcz', 'identity'])('the coding %s stays as sent', (coding) => {
  expect(body(loaded(coding, Buffer.from('as sent')))).toBe('as sent');
});

test('what is no gzip stays as sent', () => {
  expect(body(loaded('gzip', Buffer.from('as sent')))).toBe('as sent');
});

test('the beginning of a body that was cut off is read', () => {
  const random = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256);
  for (const [coding, whole] of [
    ['gzip', gzipSync(Buffer.from(random))],
    ['br', brotliCompressSync(Buffer.from(random))],
  ] as const) {
    const tx = loaded(coding, whole.subarray(0, Math.floor(whole.length / 2)), true);
    const read = body(tx);
    expect(read.length).toBeGreaterThan(0);
    expect(Buffer.from(random).toString('latin1').startsWith(read)).toBe(true);
    expect(tx.outboundDataError).toBe(1);
  }
});

test('a body that grows without end is read as far as the limit', () => {
  const tx = loaded('gzip', gzipSync(`secret${'a'.repeat(1_000_000)}`), false, 2000);
  const read = body(tx);
  expect(read.startsWith('secretaaa')).toBe(true);
  expect(read.length).toBeLessThanOrEqual(2000);
  expect(tx.outboundDataError).toBe(1);
  // An ordinary page above the limit: most of what fits is read.
  const page = Array.from({ length: 3000 }, (_, i) => `line ${i * 7919}`).join('\n');
  const begun = body(loaded('gzip', gzipSync(page), false, 20_000));
  expect(page.startsWith(begun)).toBe(true);
  expect(begun.length).toBeGreaterThanOrEqual(10_000);
  const bomb = decodeContent(brotliCompressSync(Buffer.alloc(50_000_000)), 'br', 1000);
  expect(bomb?.bytes.length ?? 0).toBeLessThanOrEqual(1000);
});

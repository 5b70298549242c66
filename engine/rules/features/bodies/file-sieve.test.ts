/**
 * Tests that what the sieve keeps of a multipart body reads as the whole body does, whatever its
 * files hold and however it is cut, and that it keeps little.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromByteString } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import { loadRequestBody } from '../../load/request-body.ts';
import { rowTexts, transactionFor } from '../../load/test-sample.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { bodyVariables } from '../variables/body.ts';
import { FileSieve } from './file-sieve.ts';

const boundary = 'bOuNd';
const crlf = (text: string): string => text.replaceAll('|', '\r\n');
const field = (name: string, value: string): string =>
  crlf(`--${boundary}|Content-Disposition: form-data; name="${name}"||`) + `${value}\r\n`;
const file = (name: string, content: string): string =>
  crlf(`--${boundary}|Content-Disposition: form-data; name="${name}"; filename="a.bin"|`) +
  `Content-Type: image/png\r\n\r\n${content}\r\n`;
const end = `--${boundary}--\r\n`;

function read(bytes: Uint8Array, gaps: readonly number[] | null): Transaction {
  const type = `Content-Type: multipart/form-data; boundary=${boundary}`;
  const tx = transactionFor(`POST / HTTP/1.1\r\n${type}`, { inspectsUnparsed: true });
  const files = gaps === null ? {} : { files: { gaps, again: false } };
  loadRequestBody(tx, { bytes, truncated: false, ...files });
  return tx;
}

function sieved(body: Buffer, sizes: readonly number[]): FileSieve {
  const sieve = new FileSieve(boundary);
  for (let at = 0, i = 0; at < body.length; i++) {
    const next = Math.min(body.length, at + sizes[i % sizes.length]!);
    sieve.push(body.subarray(at, next), next === body.length);
    at = next;
  }
  return sieve;
}

function seen(tx: Transaction) {
  return {
    args: rowTexts(tx, SOURCE.argPost),
    headers: rowTexts(tx, SOURCE.multipartPartHeader),
    fileNames: rowTexts(tx, SOURCE.file),
    sizes: tx.files.map(({ field: name, sizeBytes }) => [name, sizeBytes]),
    // Lines of content that look like boundaries count where the body does not end, too.
    flags: {
      ...tx.multipart,
      unmatchedBoundary: tx.bodyError === 0 ? tx.multipart!.unmatchedBoundary % 2 : 0,
    },
    error: tx.bodyErrorMessage,
  };
}

const long = 'x'.repeat(70_000);
/** What content may hold that some reader could take for a boundary. */
const noise = [
  '',
  'short',
  long,
  `${long}\r\n--${boundary}x${long}`,
  `${long}\n--${boundary}\n${long}`,
  `${long}--${boundary}\r\n${long}`,
  `${long}\r\n--${boundary}  \r\nContent-Disposition: form-data; name="z"\r\n\r\n1${long}`,
  `${long}\r\n-- ${boundary}\r\n${long}`,
  `${long}\r\n--"${boundary}"\r\n${long}`,
  `${long}\r\n--other\r\n${long}`,
  `${long}\r--${boundary}\r\n${long}`,
  `${long}\r\n--bOu`,
];
const partOf = fc.oneof(
  fc.constantFrom(...noise.slice(0, 4)).map((value) => field('f', value)),
  fc.constantFrom(...noise).map((value) => file('u', value)),
  fc.constantFrom(
    crlf(`--${boundary}|Content-Disposition: form-data;| name="w"; filename="b"||${long}|`),
    crlf(`--${boundary}|Content-Disposition: form-data; name="w"; filename=""||${long}|`),
    crlf(`--${boundary}|Content-Disposition: form-data; name="w"; filename*=utf-8''b||${long}|`),
    crlf(`--${boundary}|content-disposition: form-data; name=w; filename=b||${long}|`),
    `--${boundary}\r\n\r\n${long}\r\n`,
    `--${boundary}\nContent-Disposition: form-data; name="n"; filename="m"\n\n${long}\n`,
  ),
);

test('what is kept reads as the whole body', () => {
  const bodies = fc.record({
    before: fc.constantFrom('', 'preamble\r\n', '\r\n'),
    parts: fc.array(partOf, { minLength: 1, maxLength: 5 }),
    after: fc.constantFrom(end, `${end}epilogue ${long}`, `--${boundary}--`, ''),
    sizes: fc.array(fc.integer({ min: 1, max: 90_000 }), { minLength: 1, maxLength: 5 }),
  });
  fc.assert(
    fc.property(bodies, ({ before, parts, after, sizes }) => {
      const body = fromByteString(before + parts.join('') + after);
      // Small pieces cost a step each.
      const sieve = sieved(body, [...sizes, 65_536]);
      expect(seen(read(sieve.kept, sieve.gaps))).toEqual(seen(read(body, null)));
    }),
    { numRuns: 300 },
  );
});

test('of files only beginnings are kept, of each and of all', () => {
  const content = 'y'.repeat(2_000_000);
  const files = Array.from({ length: 30 }, (_, i) => file(`u${i}`, content));
  const body = fromByteString(field('a', '1') + files.join('') + field('b', '2') + end);
  const sieve = sieved(body, [65_536]);
  expect(sieve.kept.length).toBeLessThan(valueLimits.fileHeadsBytesMax + 16_384);
  const tx = read(sieve.kept, sieve.gaps);
  expect(rowTexts(tx, SOURCE.argPost)).toEqual(['a=1', 'b=2']);
  expect(tx.files.map(({ sizeBytes }) => sizeBytes)).toEqual(files.map(() => content.length));
});

test('nothing is left out where readers may find different boundaries', () => {
  const sieve = new FileSieve('');
  const body = fromByteString(file('u', long) + end);
  sieve.push(body, true);
  expect(sieve.kept.equals(body)).toBe(true);
  expect(sieve.gaps).toEqual([]);
});

test('content of a file is no change, a field is one', () => {
  const sieve = new FileSieve(boundary);
  sieve.push(fromByteString(field('a', '1') + file('u', long)), false);
  sieve.changed = false;
  sieve.push(Buffer.alloc(1_000_000, 'x'), false);
  expect(sieve.changed).toBe(false);
  sieve.push(fromByteString(`\r\n${field('b', '2')}`), false);
  expect(sieve.changed).toBe(true);
});

test('a rule that reads a file of which something was left out reaches a limit', () => {
  const body = fromByteString(file('u', long) + end);
  const sieve = sieved(body, [65_536]);
  const content = bodyVariables.find(({ name }) => name === 'FILES_TMP_CONTENT')!;
  const whole = read(body, null);
  expect(content.entries(whole)).toHaveLength(1);
  expect(whole.limitsReached).toEqual([]);
  const cut = read(sieve.kept, sieve.gaps);
  content.entries(cut);
  expect(cut.limitsReached).toEqual(['file-bytes']);
});

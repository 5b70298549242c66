/** Tests of the chunked decoder: tables of cases, and invariance under splitting. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteWriter } from './byte-writer.ts';
import { ChunkedDecoder } from './chunked-decoder.ts';
import { SCAN } from './head-scanner.ts';

interface Decoded {
  readonly result: number;
  readonly content: string;
  readonly left: string;
  readonly reason: string | null;
}

function decodeSplit(text: string, cuts: readonly number[]): Decoded {
  const decoder = new ChunkedDecoder();
  decoder.reset();
  const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  let content = '';
  for (const end of [...ends, text.length]) {
    const bytes = Buffer.from(text.slice(from, end), 'latin1');
    const result = decoder.decode(bytes, 0, bytes.length);
    content += bytes.toString('latin1', 0, decoder.dataEnd);
    if (result === SCAN.REFUSED) {
      return { result, content: '', left: '', reason: decoder.refusal?.reason ?? null };
    }
    if (result === SCAN.DONE) {
      return { result, content, left: text.slice(from + decoder.consumed), reason: null };
    }
    from = end;
  }
  return { result: SCAN.MORE, content, left: '', reason: null };
}

describe('chunked bodies', () => {
  const accepted: readonly (readonly [string, string, string])[] = [
    ['5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nGET', 'hello world', 'GET'],
    [
      'A;x;y=z; q="a\\"b"\r\n0123456789\r\n000\r\nVary: *\r\nX-Long-Trailer-Name-Here: 1\r\n\r\n',
      '0123456789',
      '',
    ],
    ['0\r\n\r\n', '', ''],
    [`1;a\r\nx\r\n${'fa;a\r\n'}${'y'.repeat(250)}\r\n0\r\n\r\n`, `x${'y'.repeat(250)}`, ''],
  ];
  test.each(accepted)('decodes %j', (text, content, left) => {
    expect(decodeSplit(text, [])).toEqual({ result: SCAN.DONE, content, left, reason: null });
  });

  const refused: readonly (readonly [string, string])[] = [
    ['5 \r\nhello\r\n', 'chunk_size'],
    [' 5\r\nhello\r\n', 'chunk_size'],
    ['+5\r\nhello\r\n', 'chunk_size'],
    ['0x5\r\nhello\r\n', 'chunk_size'],
    ['\r\nhello\r\n', 'chunk_size'],
    ['5\nhello\r\n', 'chunk_size'],
    ['5\r\r\nhello', 'chunk_size'],
    ['0000000000005\r\nhello\r\n', 'chunk_size'],
    ['5;\r\nhello\r\n', 'chunk_extension'],
    ['5;a=\r\nhello\r\n', 'chunk_extension'],
    ['5;a=b\rc\r\nhello\r\n', 'chunk_size'],
    [`5;${'a'.repeat(300)}\r\nhello\r\n`, 'chunk_extension'],
    [`1;${'a'.repeat(250)}\r\nx\r\n`.repeat(300), 'chunk_overhead'],
    ['5\r\nhelloX\r\n', 'chunk_end'],
    ['5\r\nhello\n0\r\n\r\n', 'chunk_end'],
    ['0\r\nContent-Length: 3\r\n\r\n', 'trailer'],
    ['0\r\nTransfer_Encoding: chunked\r\n\r\n', 'trailer'],
    ['0\r\n folded\r\n\r\n', 'trailer'],
    ['0\r\nX: \n\r\n', 'trailer'],
    [`0\r\nX: ${'a'.repeat(9000)}\r\n\r\n`, 'trailer'],
  ];
  test.each(refused)('refuses case %#', (text, reason) => {
    expect(decodeSplit(text, [])).toMatchObject({ result: SCAN.REFUSED, reason });
  });

  test('splitting never changes the reading', () => {
    const texts = [...accepted.map((row) => row[0]), ...refused.map((row) => row[0])];
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(fc.nat(), { maxLength: 12 }),
        (text, cuts) => {
          expect(decodeSplit(text, cuts)).toEqual(decodeSplit(text, []));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('what was encoded is what is decoded', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (chunks, cuts) => {
          const writer = new ByteWriter();
          for (const chunk of chunks) {
            writer.chunkSize(chunk.length);
            writer.bytes(chunk, 0, chunk.length);
            writer.crlf();
          }
          writer.text('0\r\n\r\nrest');
          const decoded = decodeSplit(writer.take().toString('latin1'), cuts);
          const content = Buffer.concat(chunks).toString('latin1');
          expect(decoded).toMatchObject({ result: SCAN.DONE, content, left: 'rest' });
        },
      ),
    );
  });
});

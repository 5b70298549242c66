/** HalfSipHash against the answers of a C program written from the same paper. */
import { expect, test } from 'vitest';
import { HalfSipHash } from './half-sip-hash.ts';

/** Key 00 01 .. 07, inputs 00 01 .. of growing length. */
const vectors = [
  ...['218d1f59b9b83cc8', 'be552412f8387315', '064f39ef7c50eb57', 'ce0f1a45f7060679'],
  ...['d5e78a175be52ea1', 'cb9d7c3f2f3db580', 'ce3e91358aa2bc25', 'ff202728b07bc684'],
  ...['edfee820bce4858c', '5b51cccc13888307', '95b0469f06a6f2ee', 'ae26333994ddcd48'],
];

function hexOf({ low, high }: HalfSipHash): string {
  const bytes = Buffer.alloc(8);
  bytes.writeInt32LE(low, 0);
  bytes.writeInt32LE(high, 4);
  return bytes.toString('hex');
}

test('the vectors come out', () => {
  const hash = new HalfSipHash([0x03020100, 0x07060504]);
  const input = (length: number): string =>
    Array.from({ length }, (_, at) => String.fromCharCode(at)).join('');
  expect(vectors.map((_, length) => hexOf(hash.hash(input(length))))).toEqual(vectors);
});

test('keys, lengths and single bits tell', () => {
  const [one, other] = [new HalfSipHash([1, 2]), new HalfSipHash([1, 3])];
  const texts = ['', '\0', '\0\0', 'abcd', 'abcde', 'abcdefgh', 'abcdefgi', '\xff\xff\xff\xff'];
  const seen = new Set(texts.flatMap((text) => [hexOf(one.hash(text)), hexOf(other.hash(text))]));
  expect(seen.size).toBe(2 * texts.length);
});

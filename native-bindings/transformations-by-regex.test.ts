/** Compares transformations that read many bytes at once with regular expressions. */
import { expect, test } from 'vitest';
import { seededRandom } from '../test/support/random.ts';
import { transformationIds, transformText } from './transformations.ts';

/** Units and how often values are made of them: words, blanks, escapes whole and cut off. */
const units = [
  ...['a', 'B', '0', 'word', ' ', ' ', ',', ';', '\t', '\r\n', '/', '(', '"', "'", '\\', '^'],
  ...['+', '+', '%', '%4', '%41', '%2f', '%2F', '%zz', '%u', '%u00', '%u0041', '%u00g1', '%%41'],
  ...['\0', '\xa0', '\xff', 'u', 'U', '%U0042', '%uBBBB', '%uff1c', '%uFF5e', '%uff5F', '%uff00'],
];

const byte = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

const addHex = (hex: string, more: number): string =>
  (Number.parseInt(hex, 16) + more).toString(16);

const fullWidth = (high: string | undefined, low: string): boolean =>
  high?.toLowerCase() === 'ff' && /^(?:0[1-9a-f]|[1-4][\da-f]|5[\da-e])$/i.test(low);

const references = {
  cmdLine: (text: string): string =>
    text
      .replaceAll(/["'\\^]/g, '')
      .replaceAll(/[ ,;\t\r\n]+/g, ' ')
      .replaceAll(/ (?=[/(])/g, '')
      .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
  urlDecode: (text: string): string =>
    text.replaceAll(/\+|%([\da-f]{2})/gi, (_, hex?: string) => (hex ? byte(hex) : ' ')),
  // Without a map a code point shows its low byte; full-width ASCII (U+FF01 to U+FF5E) its ASCII
  // letter. A %u without digits stays, both bytes.
  urlDecodeUni: (text: string): string =>
    text.replaceAll(
      /\+|%u([\da-f]{2})([\da-f]{2})|%u|%([\da-f]{2})/gi,
      (whole, high?: string, low?: string, hex?: string) => {
        if (whole === '+') return ' ';
        if (hex !== undefined) return byte(hex);
        return low === undefined ? whole : byte(fullWidth(high, low) ? addHex(low, 0x20) : low);
      },
    ),
} as const;

test.each(['cmdLine', 'urlDecode', 'urlDecodeUni'] as const)('%s', (name) => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 0x7fffffff);
  const roll = seededRandom(seed);
  for (let round = 0; round < 20_000; round++) {
    const length = Math.floor(roll() * 40);
    const value = Array.from({ length }, () => units[Math.floor(roll() * units.length)]).join('');
    const got = transformText(transformationIds[name], value);
    expect(got, `seed ${seed}: ${JSON.stringify(value)}`).toBe(references[name](value));
  }
});

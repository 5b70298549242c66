/** Proves what is decoded of bodies in the codings of agents: Zstandard, and Snappy's blocks. */
import { describe, expect, test } from 'vitest';
import { decodeContent } from './content-coding.ts';

const attack = `name=a&q=1 union select password from users&pad=${'x'.repeat(60)}`;
const bytesMax = 100_000;

/** Made by the command `zstd` 1.5.4 and by `snappyjs` 0.7. */
const compressed = {
  zstd: 'KLUv/SRsvQEAEoMLErC5AUS3CJEIXVAITHSHIZOpCO0GItCcvX6WyQcv60Z0JdJkX7foergE8PKgBgEAAQlAAZ0tShg=',
  snappy: 'bMhuYW1lPWEmcT0xIHVuaW9uIHNlbGVjdCBwYXNzd29yZCBmcm9tIHVzZXJzJnBhZD14eHjiAgA=',
} as const;
const twoFrames =
  'KLUv/SRszQEAFANuYW1lPWEmcT0xIHVuaW9uIHNlbGVjdCBwYXNzd29yZCBmcm9tIHVzZXJzJnBhZD14AQABCUABnS1KGCi1L/0EWKEAAGNvbW1lbnQ9c2Vjb25kIGZyYW1lm9sRlA==';
/** 3,000,000 zeros. */
const zeros =
  'KLUv/QRoTAAACAABAPz/ORACAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAzYOAAPJr9Y=';
/** Frames of the same raw block, with windows of 8 MB and of 128 MB. */
const windows = {
  usual: 'KLUv/QBokQAAcT0xIHVuaW9uIHNlbGVjdCAx',
  large: 'KLUv/QCIkQAAcT0xIHVuaW9uIHNlbGVjdCAx',
};

const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64');
const text = (bytes: Buffer, coding: string, max = bytesMax): string | null => {
  const found = decodeContent(bytes, coding, max);
  return found === null ? null : Buffer.from(found.bytes).toString('latin1');
};

describe.each(['zstd', 'snappy'] as const)('%s', (coding) => {
  const bytes = bytesOf(compressed[coding]);

  test('a body is what it was before', () => {
    expect(decodeContent(bytes, coding, bytesMax)).toEqual({
      bytes: Buffer.from(attack),
      truncated: false,
    });
  });

  test('a body that is cut off anywhere gives its beginning, or nothing', () => {
    for (let end = 1; end < bytes.length; end++) {
      const found = text(bytes.subarray(0, end), coding);
      expect(attack.startsWith(found ?? '')).toBe(true);
    }
  });

  test('a bound below the content gives a beginning and its mark', () => {
    const found = decodeContent(bytes, coding, attack.length - 1);
    expect(found === null || found.truncated).toBe(true);
    expect(text(bytes, coding, attack.length)).toBe(attack);
  });

  test('bytes of any kind never throw, and give no more than the bound', () => {
    let seed = 7;
    for (let run = 0; run < 3000; run++) {
      const changed = Buffer.from(bytes);
      for (let change = 0; change < 1 + (run % 4); change++) {
        seed = (seed * 48_271) % 2_147_483_647;
        changed[seed % changed.length] = seed >>> 8;
      }
      expect(decodeContent(changed, coding, 500)?.bytes.length ?? 0).toBeLessThanOrEqual(500);
    }
  });
});

describe('Zstandard', () => {
  test('frames that follow one another are all read', () => {
    expect(text(bytesOf(twoFrames), 'zstd')).toBe(`${attack}comment=second frame`);
  });

  test('a window of 8 MB is taken, one of 128 MB is not (RFC 9659)', () => {
    expect(text(bytesOf(windows.usual), 'zstd')).toBe('q=1 union select 1');
    expect(text(bytesOf(windows.large), 'zstd')).toBeNull();
  });

  test('what follows the last frame is no part of it', () => {
    expect(text(Buffer.concat([bytesOf(compressed.zstd), Buffer.from('q=1')]), 'zstd')).toBeNull();
  });

  test('a content that grows past the bound is cut', () => {
    expect(decodeContent(bytesOf(zeros), 'zstd', 4_000_000)?.bytes.length).toBe(3_000_000);
    const cut = decodeContent(bytesOf(zeros), 'zstd', 1_000_000);
    expect(cut === null || cut.truncated).toBe(true);
  });
});

describe("Snappy's blocks", () => {
  const block = (declared: number, ...elements: number[][]): Buffer =>
    Buffer.from([declared, ...elements.flat()]);
  const literal = [8, 97, 98, 99];

  test.each<[string, Buffer, string]>([
    ['a literal', block(3, literal), 'abc'],
    ['a literal whose length stands in a byte', block(3, [60 << 2, 2, 97, 98, 99]), 'abc'],
    ['a literal whose length stands in four', block(3, [63 << 2, 2, 0, 0, 0, 97, 98, 99]), 'abc'],
    ['a copy with an offset of 11 bits', block(7, literal, [1, 3]), 'abcabca'],
    ['a copy with an offset of 16 bits', block(5, literal, [(1 << 2) | 2, 2, 0]), 'abcbc'],
    ['a copy with an offset of 32 bits', block(5, literal, [7, 1, 0, 0, 0]), 'abccc'],
  ])('%s', (_name, bytes, content) => {
    expect(text(bytes, 'snappy')).toBe(content);
  });

  test.each<[string, Buffer]>([
    ['an offset of 0', block(7, literal, [1, 0])],
    ['an offset before the beginning', block(7, literal, [1, 4])],
    ['more than was declared', block(2, literal)],
    ['a length without an end', Buffer.alloc(6, 0xff)],
    [
      'the format with frames',
      Buffer.from('\u00ff\u0006\0\0sNaPpY\u0000\u0007\0\0\0\0\0\0abc', 'latin1'),
    ],
  ])('refused: %s', (_name, bytes) => {
    expect(text(bytes, 'snappy')).toBeNull();
  });
});

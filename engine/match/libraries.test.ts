/** Every native library that matches is named with its version. */
import { expect, test } from 'vitest';
import { nativeLibraries } from './libraries.ts';

test('Hyperscan, libinjection and PCRE2 have versions', () => {
  expect(nativeLibraries()).toEqual({
    hyperscan: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    libinjection: expect.stringMatching(/^\d+\.\d+/),
    pcre2: expect.stringMatching(/^10\.\d+$/),
  });
});

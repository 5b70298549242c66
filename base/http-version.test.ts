/** Tests the names of HTTP's versions. */

import { expect, test } from 'vitest';
import { canonicalHttpVersion } from './http-version.ts';

test.each([
  ['HTTP/2.0', 'HTTP/2'],
  ['HTTP/3.0', 'HTTP/3'],
  ['HTTP/2', 'HTTP/2'],
  ['HTTP/1.0', 'HTTP/1.0'],
  ['HTTP/1.1', 'HTTP/1.1'],
  ['', ''],
])('%s is %s', (text, canonical) => {
  expect(canonicalHttpVersion(text)).toBe(canonical);
});

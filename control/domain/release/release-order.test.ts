/** The proof of the order of versions: the example of Semantic Versioning 2.0, and more. */

import { expect, test } from 'vitest';
import { compareVersions } from './release-order.ts';

const ascending = [
  '0.9.9',
  '1.0.0-1',
  '1.0.0-2',
  '1.0.0-10',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.1',
  '1.2.0',
  '1.10.0',
  '10.0.0',
];

test.each(ascending)('%s has its place', (version) => {
  const place = ascending.indexOf(version);
  const signs = ascending.map((other) => Math.sign(compareVersions(version, other)));
  expect(signs).toEqual(ascending.map((_, at) => Math.sign(place - at)));
});

test('build metadata has no order', () => {
  expect(compareVersions('1.0.0+a-b', '1.0.0+c')).toBe(0);
});

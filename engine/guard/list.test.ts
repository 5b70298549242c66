/** Holds the two orders of guards together: the list asks in the order in which names skip. */

import { expect, test } from 'vitest';
import { guardNames } from '../contract/guard.ts';
import { guardKinds } from './list.ts';

test('guards are asked in the order of their names', () => {
  const asked = guardKinds.map(({ name }) => name);
  expect(asked.length).toBeGreaterThan(3);
  expect(asked).toEqual(guardNames.filter((name) => asked.includes(name)));
});

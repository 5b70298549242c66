/** Holds the two orders of guards together: the list asks in the order in which names skip. */

import { expect, test } from 'vitest';
import { askedGuards } from '../contract/answer-order.ts';
import { guardKinds } from './list.ts';

test('guards are asked in the order of their names', () => {
  const asked = guardKinds.map(({ name }) => name);
  expect(asked).toEqual(askedGuards);
});

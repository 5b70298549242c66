/** Shapes of paths: what looks like an identifier, and what only nearly does. */

import { expect, test } from 'vitest';
import { pathShape } from './attack-types.ts';

test.each([
  ['', ''],
  ['/', '/'],
  ['/a/b', '/a/b'],
  ['/items/42', '/items/{id}'],
  ['/items/42/', '/items/{id}/'],
  ['42', '{id}'],
  ['42/7', '{id}/{id}'],
  ['//1//2', '//{id}//{id}'],
  ['/items/42a', '/items/42a'],
  ['/deadbeef/x', '/{id}/x'],
  ['/DEADBEEF', '/{id}'],
  ['/deadbee', '/deadbee'],
  ['/deadbeeg', '/deadbeeg'],
  ['/0f8fad5b-d9cb-469f-a165-70867728950e', '/{id}'],
  ['/-0f8fad5bd9cb469fa16570867728950e', '/{id}'],
  ['/0f8fad5b-d9cb', '/0f8fad5b-d9cb'],
  ['/é/9', '/é/{id}'],
])('%s', (path, shape) => {
  expect(pathShape(path)).toBe(shape);
});

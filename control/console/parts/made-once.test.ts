/** Tests that a form that is submitted again makes nothing twice. */

import { expect, test } from 'vitest';
import { MadeOnce } from './made-once.ts';

/** Makes things with numbers as ids. */
function maker(): () => Promise<string> {
  let count = 0;
  return async () => String((count += 1));
}

test('the same entries mean what was made for them until it is in use', async () => {
  const [made, make] = [new MadeOnce(), maker()];
  expect(await made.id(['a', 'b'], make)).toBe('1');
  expect(await made.id(['a', 'b'], make)).toBe('1');
  made.used();
  expect(await made.id(['a', 'b'], make)).toBe('2');
});

test('other entries are made anew, however they are joined', async () => {
  const [made, make] = [new MadeOnce(), maker()];
  expect(await made.id(['a', 'b'], make)).toBe('1');
  expect(await made.id(['ab', ''], make)).toBe('2');
});

test('what could not be made is tried again', async () => {
  const made = new MadeOnce();
  const refused = made.id(['a'], () => Promise.reject(new Error('refused')));
  await expect(refused).rejects.toThrow('refused');
  expect(await made.id(['a'], maker())).toBe('1');
});

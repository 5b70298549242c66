/** Tests of compiling several databases at once. */

import { expect, test } from 'vitest';
import { HsCompileQueue, HsDatabase } from './index.ts';

const expression = (pattern: string, id: number) => ({ pattern, id, flags: 0 });

test('every submitted list comes back once, under its id', () => {
  const queue = new HsCompileQueue(2);
  const words = Array.from({ length: 20 }, (_, at) => `word${at}[a-z]+`);
  words.forEach((word, at) => queue.submit(at, [expression(word, 7)]));
  const ids: number[] = [];
  for (let result = queue.next(); result !== null; result = queue.next()) {
    ids.push(result.id);
    if (result.bytes === undefined) throw new Error(result.message);
    const database = HsDatabase.deserialize(result.bytes);
    expect([...database.scan(`word${result.id}x`)]).toEqual([7]);
    expect([...database.scan('nothing')]).toEqual([]);
    database.close();
  }
  expect(ids.toSorted((a, b) => a - b)).toEqual(words.map((_, at) => at));
  queue.close();
});

test('what does not compile names its expression, and the others compile', () => {
  const queue = new HsCompileQueue(1);
  queue.submit(1, [expression('good', 0), expression('(bad', 1)]);
  queue.submit(2, [expression('good', 0)]);
  expect(queue.next()).toMatchObject({ id: 1, expression: 1 });
  expect(queue.next()?.bytes?.length).toBeGreaterThan(0);
  expect(queue.next()).toBeNull();
  queue.close();
});

test('a closed queue takes nothing, and may be closed with work under way', () => {
  const queue = new HsCompileQueue(2);
  for (let at = 0; at < 10; at++) queue.submit(at, [expression(`a${at}[bc]{1,9}d`, 0)]);
  queue.close();
  queue.close();
  expect(queue.next()).toBeNull();
  expect(() => queue.submit(11, [expression('x', 0)])).toThrow('closed');
  expect(() => new HsCompileQueue(1).submit(0, [])).toThrow('at least one');
});

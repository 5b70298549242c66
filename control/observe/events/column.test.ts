/** Columns: every value of every event is found, in each of the forms. */

import { expect, test } from 'vitest';
import { Column, ColumnBuilder, hashOfTerm } from './column.ts';

test.each<[string, readonly (readonly string[])[]]>([
  ['one value each', [['a'], ['b'], ['a']]],
  ['none or several', [[], ['a', 'b'], [], ['b']]],
  ['no value at all', [[], []]],
  ['one event', [['only']]],
  ['no event', []],
  // More values than 16 bits can count.
  [
    'many',
    Array.from({ length: 300 }, (_, at) => Array.from({ length: 250 }, (__, of) => `${at}.${of}`)),
  ],
])('%s', (_name, events) => {
  const builder = new ColumnBuilder();
  for (const values of events) builder.add(values);
  const { bytes, terms } = builder.finish();
  // As the store gives it: anywhere in a larger piece of memory.
  const within = Buffer.concat([Buffer.alloc(3), bytes]).subarray(3);
  const column = new Column(within);
  events.forEach((values, event) => {
    const found: string[] = [];
    column.each(event, (place) => found.push(terms[place]!));
    expect(found).toEqual(values);
  });
  expect(column.find([hashOfTerm('missing')])).toBeNull();
  for (const value of terms.slice(0, 20)) {
    const places = column.find([hashOfTerm(value)])!;
    const having = events.flatMap((_, event) => (column.has(event, places) ? [event] : []));
    expect(having).toEqual(events.flatMap((all, event) => (all.includes(value) ? [event] : [])));
  }
});

test('values of one hash are distinguished by their texts', () => {
  // FNV-1a gives both the same number.
  const [one, other] = ['costarring', 'liquid'];
  expect(hashOfTerm(one)).toBe(hashOfTerm(other));
  const builder = new ColumnBuilder();
  builder.add([one]);
  builder.add([other]);
  const { bytes, terms } = builder.finish();
  const column = new Column(bytes);
  const places = column.find([hashOfTerm(one)])!;
  expect([column.has(0, places), column.has(1, places)]).toEqual([true, true]);
  const texts: string[] = [];
  for (const event of [0, 1]) column.each(event, (place) => texts.push(terms[place]!));
  expect(texts).toEqual([one, other]);
});

/** Columns: every value of every event is found, in each of the forms, and in the layout before. */

import { describe, expect, test } from 'vitest';
import { Column, ColumnBuilder } from './column.ts';
import { hashOfTerm } from './term-places.ts';

const rows: readonly [string, readonly (readonly string[])[]][] = [
  ['one value each', [['a'], ['b'], ['a']]],
  ['one event a value', [['a'], ['b'], ['c']]],
  ['none or several', [[], ['a', 'b'], [], ['b']]],
  ['no value at all', [[], []]],
  ['one event', [['only']]],
  ['no event', []],
  [
    'a value twice',
    [
      ['a', 'b', 'a'],
      ['a', 'a'],
    ],
  ],
  // More values than 16 bits can count.
  [
    'many',
    Array.from({ length: 300 }, (_, at) => Array.from({ length: 250 }, (__, of) => `${at}.${of}`)),
  ],
];

function write(events: readonly (readonly string[])[]) {
  const builder = new ColumnBuilder();
  for (const values of events) builder.add(values);
  return builder.finish();
}

/** The layout before this one: the places of the values by event. */
function writeEarlier(events: readonly (readonly string[])[]) {
  const terms = [...new Set(events.flat())];
  terms.sort((one, other) => hashOfTerm(one) - hashOfTerm(other));
  const single = events.every((values) => values.length === 1);
  const pairs = events.flat().map((value) => terms.indexOf(value));
  const numbers = [...pairs, ...(single ? [] : events.map((values) => values.length))];
  const head = [terms.length, pairs.length, events.length, single ? 1 : 0];
  const words = Uint32Array.from([...head, ...terms.map(hashOfTerm)]);
  const rest = terms.length <= 0xffff ? Uint16Array.from(numbers) : Uint32Array.from(numbers);
  const bytes = Buffer.concat([new Uint8Array(words.buffer), new Uint8Array(rest.buffer)]);
  return { bytes, terms };
}

const sorted = (values: readonly string[]): string[] => [...new Set(values)].toSorted();

describe.each([
  ['as it is written', write],
  ['as it was written', writeEarlier],
])('%s', (_form, makeColumn) => {
  test.each(rows)('%s', (name, events) => {
    if (name === 'many' && makeColumn === writeEarlier) events = events.slice(0, 9);
    const { bytes, terms } = makeColumn(events);
    // As the store gives it: anywhere in a larger piece of memory.
    const within = Buffer.concat([Buffer.alloc(3), bytes]).subarray(3);
    const column = new Column(within);
    expect(column.events).toBe(events.length);
    events.forEach((values, event) => {
      const found: string[] = [];
      column.each(event, (place) => found.push(terms[place]!));
      expect(found.toSorted()).toEqual(sorted(values));
    });
    expect(column.find([hashOfTerm('missing')])).toEqual([]);
    const all = events.map((_, event) => event);
    const having = (...wanted: string[]): number[] =>
      all.filter((event) => events[event]!.some((value) => wanted.includes(value)));
    for (const [at, value] of terms.slice(0, 20).entries()) {
      const two = [value, terms[at + 1] ?? value];
      for (const wanted of [[value], two]) {
        const places = column.find(wanted.map(hashOfTerm));
        const expected = having(...wanted);
        expect([...Array.from(column.eventsWith(places))]).toEqual(expected);
        expect(column.among(all, places)).toEqual(expected);
        expect(column.among([], places)).toEqual([]);
        expect(all.filter((event) => column.marks(places)[event] === 1)).toEqual(expected);
      }
    }
  });
});

test('values of one hash are distinguished by their texts', () => {
  // FNV-1a gives both the same number.
  const [one, other] = ['costarring', 'liquid'];
  expect(hashOfTerm(one)).toBe(hashOfTerm(other));
  const { bytes, terms } = write([[one], [other]]);
  const column = new Column(bytes);
  const places = column.find([hashOfTerm(one)]);
  expect([...Array.from(column.eventsWith(places))]).toEqual([0, 1]);
  const texts: string[] = [];
  for (const event of [0, 1]) column.each(event, (place) => texts.push(terms[place]!));
  expect(texts).toEqual([one, other]);
});

test('a column that is cut is refused', () => {
  const { bytes } = write([['a'], ['b', 'c'], []]);
  expect(() => new Column(bytes.subarray(0, bytes.length - 2))).toThrow('a column is cut');
});

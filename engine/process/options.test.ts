/** Holds the engine's command line to saying which flag is wrong. */

import { expect, test } from 'vitest';
import { readOptions } from './options.ts';

test('block lists are off unless they are named', () => {
  expect(readOptions([]).rblZones).toEqual([]);
  const { rblZones } = readOptions(['--rbl-zones', 'bl.example, zen.example.org']);
  expect(rblZones).toEqual(['bl.example', 'zen.example.org']);
});

test.each(['bl..example', 'a b', 'x'.repeat(200), '../etc', 'a/b'])(
  'refuses the zone %s',
  (text) => {
    expect(() => readOptions(['--rbl-zones', text])).toThrow('--rbl-zones');
  },
);

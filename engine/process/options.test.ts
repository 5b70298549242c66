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

test('inherited sockets are one a worker', () => {
  expect(readOptions([]).listenFds).toEqual([]);
  const given = readOptions(['--workers', '2', '--listen-fds', '4,5']);
  expect(given.listenFds).toEqual([4, 5]);
});

test.each(['4', '4,5,6', '4,4', '1,4', '4,x', '', '4,5.5'])('refuses the sockets %s', (text) => {
  expect(() => readOptions(['--workers', '2', '--listen-fds', text])).toThrow('--listen-fds');
});

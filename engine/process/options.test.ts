/** Holds the engine's command line to saying which flag is wrong. */

import { expect, test } from 'vitest';
import { textOfKey } from '../../base/ip-address.ts';
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

test('the access log is off, then combined and never set aside by size unless asked', () => {
  expect(readOptions([]).accessLog).toBeNull();
  const plain = { path: 'a.log', format: 'combined', rotateBytes: 0, keep: 5 };
  expect(readOptions(['--access-log', 'a.log']).accessLog).toEqual(plain);
  const size = ['--access-log-rotate-mb', '2', '--access-log-keep', '3'];
  const given = readOptions(['--access-log', '-', '--access-log-format', 'json', ...size]);
  expect(given.accessLog).toEqual({ path: '-', format: 'json', rotateBytes: 2_097_152, keep: 3 });
});

test('a form of the access log is ready to write lines', () => {
  const args = ['--access-log', '-', '--access-log-format', '$host "$request"'];
  const { format } = readOptions(args).accessLog!;
  expect(Array.isArray(format) && format.length).toBe(4);
});

test.each([
  ['--access-log', ''],
  ['--access-log-format', 'xml'],
  ['--access-log-format', '$host $nothing'],
  ['--access-log-rotate-mb', '0'],
  ['--access-log-keep', '1000'],
])('refuses %s %s', (flag, value) => {
  expect(() => readOptions([flag, value])).toThrow(flag);
});

test('PROXY headers are read from nobody unless networks are named, for each listener', () => {
  expect(readOptions([]).proxyHeaderFrom).toEqual([]);
  const secure = ['--https-listen', '0.0.0.0:8443'];
  const given = readOptions([
    ...['--proxy-protocol', '10.0.0.0/8, 192.0.2.1', ...secure],
    ...['--https-proxy-protocol', '2001:db8::/32'],
  ]);
  expect(given.proxyHeaderFrom.map(textOfKey)).toEqual(['10.0.0.0/8', '192.0.2.1']);
  expect(given.secure?.proxyHeaderFrom.map(textOfKey)).toEqual(['2001:db8::/32']);
});

test.each([
  ['--proxy-protocol', 'balancer.example'],
  ['--proxy-protocol', '10.0.0.0/33'],
  ['--proxy-protocol', Array.from({ length: 65 }, (_, at) => `10.0.0.${at}`).join(',')],
])('refuses %s %s', (flag, value) => {
  expect(() => readOptions([flag, value])).toThrow(flag);
});

test('uWebSockets.js reads no PROXY headers', () => {
  expect(() => readOptions(['--listener', 'uws', '--proxy-protocol', '10.0.0.0/8'])).toThrow(
    '--proxy-protocol needs --listener strict',
  );
});

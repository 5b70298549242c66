/** Proof of the view that guards have: one reading of paths and fields. */

import { expect, test } from 'vitest';
import { RequestHeadParser } from '../http/request-head.ts';
import { RequestView } from './request-view.ts';

const facts = {
  clientIp: '192.0.2.1',
  clientPort: 1,
  peerIp: '192.0.2.2',
  serverIp: '192.0.2.3',
  serverPort: 80,
  scheme: 'http',
} as const;

function viewOf(target: string, fields: readonly string[] = []): RequestView {
  const text = [`GET ${target} HTTP/1.1`, 'Host: a.example', ...fields, '', ''].join('\r\n');
  const bytes = Buffer.from(text, 'latin1');
  const parser = new RequestHeadParser();
  parser.reset(0);
  parser.execute(bytes, bytes.length);
  return new RequestView().begin(parser, bytes, facts);
}

test.each([
  ['/a/b?c=d', '/a/b', 'c=d', '/a/b'],
  ['/', '/', '', '/'],
  ['/a?b?c', '/a', 'b?c', '/a'],
  ['http://a.example/x?y', '/x', 'y', '/x'],
  ['http://a.example', '/', '', '/'],
  ['/%61dmin', '/%61dmin', '', '/admin'],
  ['/open/../admin', '/open/../admin', '', '/admin'],
  ['//admin', '//admin', '', '/admin'],
  ['/admin;x=1/a', '/admin;x=1/a', '', '/admin/a'],
  ['/open\\..\\admin', '/open\\..\\admin', '', '/admin'],
])('%s', (target, path, query, plain) => {
  const view = viewOf(target);
  expect([view.path, view.query, view.plainPath]).toEqual([path, query, plain]);
});

test('fields are found without regard to case, and those that came twice are joined', () => {
  const view = viewOf('/', ['X-KEY: one', 'x-key: two', 'Cookie: a=1', 'cookie: b=2']);
  expect(view.header('x-key')).toBe('one, two');
  expect(view.header('cookie')).toBe('a=1; b=2');
  expect(view.header('x-ke')).toBeNull();
  expect(view.header('host')).toBe('a.example');
});

test('method, protocol and addresses are those of the request that it was given last', () => {
  const view = viewOf('/one');
  expect([view.method, view.protocol, view.path]).toEqual(['GET', 'HTTP/1.1', '/one']);
  expect([view.clientAddress.family, view.clientAddress.words[0]]).toEqual([4, 0xc0000201]);
  expect(view.peerAddress.words[0]).toBe(0xc0000202);
  const parser = new RequestHeadParser();
  const bytes = Buffer.from('POST /two HTTP/1.0\r\n\r\n');
  parser.reset(0);
  parser.execute(bytes, bytes.length);
  view.begin(parser, bytes, { ...facts, clientIp: '2001:db8::1' });
  expect([view.method, view.protocol, view.path]).toEqual(['POST', 'HTTP/1.0', '/two']);
  expect([view.clientAddress.family, view.clientAddress.words[0]]).toEqual([6, 0x20010db8]);
});

test.each([
  ['/admin', '/admin', true, true],
  ['/ADMIN/x', '/admin', true, true],
  ['/administrator', '/admin', false, false],
  ['/%61dmin', '/admin', true, false],
  ['/open/../admin', '/admin', true, false],
  ['/admin/../open', '/admin', true, false],
  ['/open', '/admin', false, false],
  ['/open', '', true, true],
])('%s under %s: denied %s, allowed %s', (target, prefix, denies, allows) => {
  const view = viewOf(target);
  expect([view.isUnder(prefix, true), view.isUnder(prefix, false)]).toEqual([denies, allows]);
});

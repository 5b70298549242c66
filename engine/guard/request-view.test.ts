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
  ['/a/b?c=d', '/a/b', 'c=d'],
  ['/', '/', ''],
  ['/a?b?c', '/a', 'b?c'],
  ['http://a.example/x?y', '/x', 'y'],
  ['http://a.example', '/', ''],
  ['http://a.example//x/admin', '//x/admin', ''],
  ['/%61dmin', '/%61dmin', ''],
])('%s', (target, path, query) => {
  const view = viewOf(target);
  expect([view.path, view.query]).toEqual([path, query]);
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
  ['//x/admin', '/admin', true, false],
  ['http://a.example//x/admin', '/admin', true, false],
  ['/\\x\\admin', '/admin', true, false],
  ['/ADMIN;x/y', '/admin', true, false],
  ['/index.php/admin', '/admin', true, false],
  ['/admin/x.php/y', '/admin', true, true],
  ['/admin/C++', '/admin', true, true],
  ['/admin/caf%C3%A9', '/admin', true, true],
  ['/\\..\\;%2f%5c..;//%2e%2e/%2e%2f%3b..//.php/x+;y\\%5c..%5c;', '/admin', true, false],
  ['/open', '/admin', false, false],
  ['/open', '', true, true],
])('%s under %s: denied %s, allowed %s', (target, prefix, denies, allows) => {
  const view = viewOf(target);
  expect([view.isUnder(prefix, true), view.isUnder(prefix, false)]).toEqual([denies, allows]);
});

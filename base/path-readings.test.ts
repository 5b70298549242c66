/** Proof of the readings of paths: what some origin reads is listed, and they are bounded. */

import { expect, test } from 'vitest';
import { decodeUtf8, encodeUtf8 } from './byte-string.ts';
import { isPlainPath, READER, readPath } from './path-readings.ts';
import { foldPath, liesUnder } from './stated-path.ts';

const plain = [
  ...['/', '/api/login', '/API/Login', '/a.b/c-d_e~f', '/.well-known/acme-challenge/x'],
  ...['/x/.git/y', '/index.php', '/a:b@c,d=e&f$g', '/x/...a', '/v1.2/users'],
];

test.each(plain)('%s is read alike everywhere', (path) => {
  expect(isPlainPath(path)).toBe(true);
  const list = [{ text: path, decoding: 'none', reader: READER.USUAL }];
  expect(readPath(path)).toEqual({ list, complete: true });
});

/** A path, how an origin reads it, and which. */
const readings: readonly (readonly [path: string, read: string, origin: string])[] = [
  ['//x/api/login', '/api/login', 'WHATWG URL'],
  ['///x/api/login', '/api/login', 'WHATWG URL'],
  ['//x', '/', 'WHATWG URL'],
  ['//u:p@x:1/api/login', '/api/login', 'WHATWG URL'],
  ['/\\x/api/login', '/api/login', 'WHATWG URL'],
  ['/\\x\\api\\login', '/api/login', 'WHATWG URL'],
  ['//x/%2e%2E/api/.%2e/api/login', '/api/login', 'WHATWG URL'],
  ['/x/%2e%2e/api/%2e/login', '/api/login', 'WHATWG URL'],
  ['/a//../api', '/a/api', 'WHATWG URL'],
  ['/a//../api', '/api', 'nginx'],
  ['//api///login', '/api/login', 'nginx'],
  ['/x%2f..%2fapi/login', '/api/login', 'nginx'],
  ['/x%2f../api/login', '/api/login', 'nginx'],
  ['/x%2f../api/login', '/api/login', 'servers that keep %2f'],
  ['/api\\..\\x', '/api/../x', 'url.parse'],
  ['/x%5c..%5capi%5clogin', '/api/login', 'Windows'],
  ['/%61dmin/../public', '/admin/../public', 'Django'],
  ['/%61dmin//x', '/admin//x', 'Django'],
  ['/api;a=b/login;c', '/api/login', 'Tomcat'],
  ['/x/..;/api/login', '/api/login', 'Tomcat'],
  ['/x/..;%2f/api', '/api', 'Tomcat'],
  ['/api%3bx/login', '/api/login', 'servers that decode first'],
  ['/x;/../api', '/api', 'nginx'],
  ['/index.php/api/login', '/api/login', 'PHP with PATH_INFO'],
  ['/login.php/x.css', '/login.php', 'PHP with PATH_INFO'],
  ['/%6cogin.php/x%2ecss', '/login.php', 'PHP with PATH_INFO'],
  ['/LOGIN.ASPX/x', '/LOGIN.ASPX', 'ASP.NET'],
  ['/api./login%20', '/api/login', 'Windows'],
  ['/login.asp::$DATA', '/login.asp', 'Windows'],
  ['/login.php%00.png', '/login.php', 'C strings'],
  ['/api/login%0a', '/api/login', 'patterns of nginx and Django'],
  ['/x/../api/login%0A', '/api/login', 'patterns of nginx and Django'],
  ['/x/%c0%ae%c0%ae/api', '/api', 'lenient UTF-8'],
  ['/x%c0%af..%e0%80%afapi', '/x/../api', 'lenient UTF-8'],
  ['/x/%252e%252e/api', '/api', 'origins that decode twice'],
  ['/x/%u002e%u002e/api', '/api', 'IIS'],
  ['/my+page', '/my page', 'origins that take + for a space'],
  ['/cafe%CC%81', '/caf\xc3\xa9', 'file systems that normalize'],
  ['/cafe\xcc\x81', '/caf\xc3\xa9', 'file systems that normalize'],
  ['/%ff/cafe%CC%81', '/\xff/caf\xc3\xa9', 'file systems that normalize'],
  ['/caf%e9', '/caf\xc3\xa9', 'origins that take bytes for Latin-1'],
  ['/%EF%BD%81%EF%BC%8F..%EF%BC%8Fb', '/b', 'best fit of wide letters'],
];

test.each(readings)('%s is %s for %s', (path, read) => {
  const { list, complete } = readPath(path);
  expect(complete).toBe(true);
  const texts = list.flatMap(({ text }) => [text, text.replace(/(.)\/$/, '$1')]);
  if (read === '/x/../api') expect(texts).toContain('/api');
  else expect(texts).toContain(read);
});

test('what allows needs the usual readings only, and they come first', () => {
  const of = (path: string): string[] =>
    readPath(path)
      .list.filter(({ reader }) => reader === READER.USUAL)
      .map(({ text }) => text);
  expect(of('/index.php/feed')).toEqual(['/index.php/feed']);
  expect(of('/feed/C++')).toEqual(['/feed/C++']);
  expect(of('/feed//x')).toEqual(['/feed//x', '/feed/x']);
  const { list } = readPath('/a//b.php/c%2e');
  const readers = list.map(({ reader }) => reader);
  expect(readers).toEqual([...readers].sort((left, right) => left - right));
});

test('paths of applications have few readings', () => {
  const usual = [
    ...['/signin;returnPath=%2Ftrack', '/api/v4/projects/group%2Fproj/files/src%2Fmain.c'],
    ...['/a//b/./c', '/f/a+b~c/%C3%A9t%C3%A9.pdf', '/a%2fb', '/wiki/C%2B%2B', '/index.php/a/b'],
    ...['/%E4%BD%A0/%E5%A5%BD', '/x;jsessionid=1;v=2/y;z', '/remote.php/dav/files/a%20b'],
  ];
  for (const path of usual) {
    const { list, complete } = readPath(path);
    expect(complete).toBe(true);
    expect(list.length).toBeLessThanOrEqual(8);
  }
});

test('readings past the bound are not listed, and that is said in linear time', () => {
  const many = '/\\..\\;%2f%5c..;//%2e%2e/%2e%2f%3b..//.php/x+;y\\%5c..%5c;';
  expect(readPath(many).complete).toBe(false);
  for (const part of ['/.', '%2f', ';', '\\', '//', '.php/', '%5c;', '+', '%u002e', '. /']) {
    const path = `/${part.repeat(16_000 / part.length)}`;
    const before = process.cpuUsage();
    readPath(path);
    expect(process.cpuUsage(before).user).toBeLessThan(500_000);
  }
});

test('paths are compared without case, in every language', () => {
  const fold = (text: string): string => decodeUtf8(foldPath(encodeUtf8(text)));
  expect(fold('/API/Café/ЖУК')).toBe('/api/café/жук');
  expect(fold('/CAFÉ')).toBe('/café');
  expect(foldPath('/A\xc0\xc9')).toBe('/a\xc0\xc9');
  expect(foldPath('/\xc3\x89/\xc0/\xef\xbf\xbd/\xc3\x89')).toBe(
    '/\xc3\xa9/\xc0/\xef\xbf\xbd/\xc3\xa9',
  );
  // Surrogates, values past U+10FFFF and longer forms than needed are no UTF-8.
  for (const bytes of ['\xed\xa0\x80', '\xf4\x90\x80\x80', '\xe0\x80\x8f', '\xf0\x80\x80\x80']) {
    expect(foldPath(`/A${bytes}\xc3\x89`)).toBe(`/a${bytes}\xc3\xa9`);
  }
  expect(liesUnder('/api', '/api')).toBe(true);
  expect(liesUnder('/api/x', '/api')).toBe(true);
  expect(liesUnder('/apix', '/api')).toBe(false);
});

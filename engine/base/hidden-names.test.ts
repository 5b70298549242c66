/** Holds the hiding of values to what clients can write. */

import { expect, test } from 'vitest';
import { HiddenNames } from './hidden-names.ts';

const hidden = new HiddenNames(['args:password', 'args:a b', 'request_headers:authorization']);

test.each([
  ['/?password=secret', '/?password=******'],
  ['/?x=1&password=s;t&y=2', '/?x=1&password=***&y=2'],
  ['/?x=1;Password=st;y=2', '/?x=1;Password=**;y=2'],
  ['password=a%20b&x=password', 'password=*****&x=password'],
  ['/?p%61ssword=secret#x', '/?p%61ssword=********'],
  ['/?a+b=1&a%20b=2', '/?a+b=*&a%20b=*'],
  ['GET /?password=secret HTTP/1.1', 'GET /?password=****** HTTP/1.1'],
  ['/?password=a=b', '/?password=***'],
  ['/?password=', '/?password='],
  ['/password/secret', '/password/secret'],
  ['/?mypassword=x', '/?mypassword=x'],
])('%s', (text, expected) => expect(hidden.clean(text)).toBe(expected));

test('names count without case, and ARGS wherever an argument came from', () => {
  expect(hidden.has('ARGS_GET:Password')).toBe(true);
  expect(hidden.has('ARGS_POST:password')).toBe(true);
  expect(hidden.has('REQUEST_HEADERS:Authorization')).toBe(true);
  expect(hidden.has('ARGS_RENAMED:password')).toBe(true);
  expect(hidden.has('ARGS_PATH:password')).toBe(true);
  expect(hidden.has('REQUEST_HEADERS_RENAMED:Authorization')).toBe(true);
  expect(hidden.has('ARGS_NAMES:password')).toBe(false);
});

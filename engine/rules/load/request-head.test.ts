/** Tests how request heads become rows: targets, arguments, fields, cookies. */

import { describe, expect, test } from 'vitest';
import fc from 'fast-check';

import type { ByteString } from '../../../base/byte-string.ts';
import { SOURCE } from '../transaction/values.ts';
import { misplacedRows, rowTexts, transactionFor } from './test-sample.ts';

const get = (target: string, ...fields: string[]): string =>
  [`GET ${target} HTTP/1.1`, ...fields].join('\r\n');

describe('target', () => {
  const rows: [string, string, string, string, string, string][] = [
    // target, REQUEST_URI, FILENAME, BASENAME, QUERY_STRING, arguments
    ['/', '/', '/', '', '', ''],
    ['/a/b.php?x=1', '/a/b.php?x=1', '/a/b.php', 'b.php', 'x=1', 'x=1'],
    ['/a\\b.php', '/a\\b.php', '/a\\b.php', 'b.php', '', ''],
    ['//host/path', '//host/path', '//host/path', 'path', '', ''],
    ['http://h:80/p/q?a=b', '/p/q?a=b', '/p/q', 'q', 'a=b', 'a=b'],
    ['http://h', '', '', '', '', ''],
    ['http://h?a=1', '?a=1', '', '', 'a=1', 'a=1'],
    ['*', '*', '*', '*', '', ''],
    ['h:443', 'h:443', 'h:443', 'h:443', '', ''],
    ['/a?b=c#frag?d=e', '/a?b=c', '/a', 'a', 'b=c', 'b=c'],
    ['/a#frag?d=e', '/a', '/a', 'a', '', ''],
    ['/%2e%2e/%41?%41=%42', '/%2e%2e/%41?%41=%42', '/../A', 'A', '%41=%42', 'A=B'],
    ['/a%2fb%zz+%2', '/a%2fb%zz+%2', '/a/b%zz+%2', 'b%zz+%2', '', ''],
    ['/?http://x/y', '/?http://x/y', '/', '', 'http://x/y', 'http://x/y='],
  ];
  test.each(rows)('%s', (target, uri, filename, basename, query, args) => {
    const tx = transactionFor(get(target));
    expect(rowTexts(tx, SOURCE.requestUriRaw)).toEqual([`=${target}`]);
    expect(rowTexts(tx, SOURCE.requestUri)).toEqual([`=${uri}`]);
    expect(rowTexts(tx, SOURCE.requestFilename)).toEqual([`=${filename}`]);
    expect(rowTexts(tx, SOURCE.requestBasename)).toEqual([`=${basename}`]);
    expect(rowTexts(tx, SOURCE.queryString)).toEqual([`=${query}`]);
    expect(rowTexts(tx, SOURCE.argGet).join('|')).toBe(args);
  });

  test.each([
    ['/a/b', ['=/a/b']],
    ['/a/b/?x=/', ['=/a/b/', '=/a/b']],
    ['/', ['=/']],
    ['/%61/', ['=/%61/', '=/%61', '=/a/', '=/a']],
  ])('the paths that %s may be, with and without its last slash', (target, paths) => {
    const tx = transactionFor(get(target), { pathReadings: true });
    expect(rowTexts(tx, SOURCE.requestPath).sort()).toEqual(paths.toSorted());
  });

  test('the request line and its parts', () => {
    const tx = transactionFor('PURGE /x?y HTTP/1.0\r\nHost: a');
    expect(rowTexts(tx, SOURCE.requestLine)).toEqual(['=PURGE /x?y HTTP/1.0']);
    expect(rowTexts(tx, SOURCE.requestMethod)).toEqual(['=PURGE']);
    expect(rowTexts(tx, SOURCE.requestProtocol)).toEqual(['=HTTP/1.0']);
  });
});

describe('arguments', () => {
  const rows: [string, string[], number][] = [
    ['a=1&b=2', ['a=1', 'b=2'], 0],
    ['a=1&a=2', ['a=1', 'a=2'], 0],
    ['a', ['a='], 0],
    ['a=', ['a='], 0],
    ['=v', ['=v'], 0],
    ['&&a=1&&', ['=', '=', 'a=1', '='], 0],
    ['a=b=c', ['a=b=c'], 0],
    ['a+b=c+d', ['a b=c d'], 0],
    ['%61=%62%63', ['a=bc'], 0],
    ['a=%', ['a=%'], 1],
    ['a=%4', ['a=%4'], 1],
    ['a=%4g%41', ['a=%4gA'], 1],
    ['a=%u0041', ['a=%u0041'], 1],
    ['a=%26b%3D1', ['a=&b=1'], 0],
    ['a=%00b', ['a=\x00b'], 0],
    ['a;b=1', ['a;b=1'], 0],
    // qs ends the name at `]=`.
    ['a=b[c]=d&e=f', ['a=b[c]=d', 'a=b[c]=d', 'e=f'], 0],
    ['a=b%5D=%27', ["a=b]='", "a=b]='"], 0],
    ['a[b]=c]=d', ['a[b]=c]=d'], 0],
  ];
  test.each(rows)('%s', (query, args, error) => {
    const tx = transactionFor(get(`/?${query}`));
    expect(rowTexts(tx, SOURCE.argGet)).toEqual(args);
    expect(tx.urlEncodedError).toBe(error);
    expect(tx.bodyError).toBe(0);
  });

  test('another separator', () => {
    const tx = transactionFor(get('/?a=1;b=2&c'), { argumentSeparator: ';' });
    expect(rowTexts(tx, SOURCE.argGet)).toEqual(['a=1', 'b=2&c']);
  });

  test('the limit is recorded', () => {
    const tx = transactionFor(get('/?a=1&b=2&c=3'), { argumentsMax: 2 });
    expect(rowTexts(tx, SOURCE.argGet)).toEqual(['a=1', 'b=2']);
    expect([tx.bodyError, tx.bodyErrorMessage]).toEqual([1, 'SecArgumentsLimit exceeded']);
  });
});

describe('fields', () => {
  test('keep spelling, order and duplicates', () => {
    const tx = transactionFor(get('/', 'Host: a', 'X-a: 1', 'x-A:', 'X-a: 1'));
    expect(rowTexts(tx, SOURCE.requestHeader)).toEqual(['Host=a', 'X-a=1', 'x-A=', 'X-a=1']);
  });

  const cookies: [string, string[]][] = [
    ['a=1; b=2', ['a=1', 'b=2']],
    ['USER_TOKEN=Yes; a=z; t=b;  foobar', ['USER_TOKEN=Yes', 'a=z', 't=b', 'foobar=', '=foobar']],
    ['a=1;;b= 2; = ; = = ; c=d=e', ['a=1', 'b= 2', '== ', 'c=d=e']],
    ['=v; = w', ['=v', '=w']],
    ['a="b"', ['a="b"', 'a=b']],
    ['a= "b" ; c="d', ['a= "b" ', 'a=b', 'c="d']],
    ['a="\\074b\\"\\\\c"', ['a="\\074b\\"\\\\c"', 'a=\\074b\\"\\\\c', 'a=<b"\\c']],
    ['a="\\400\\07"', ['a="\\400\\07"', 'a=\\400\\07', 'a=40007']],
    ['a="b;c"; d=e', ['a="b', 'a=b;c', 'c"=', '=c"', 'd=e']],
    ['a="b;\\"c"', ['a="b', 'a=b;\\"c', 'a=b;"c', '\\"c"=', '=\\"c"']],
    ['"v"', ['"v"=', '="v"', '=v']],
    ['a="', ['a="']],
    ['a="\\', ['a="\\']],
    ['aaa=bbb;abc=def  ', ['aaa=bbb', 'abc=def']],
    ['a=%41+', ['a=%41+']],
    ['', []],
    [';', []],
  ];
  test.each(cookies)('cookie %j', (value, expected) => {
    const tx = transactionFor(get('/', `cOOKIE: ${value}`));
    expect(rowTexts(tx, SOURCE.requestCookie)).toEqual(expected);
  });

  test('two Cookie fields', () => {
    const tx = transactionFor(get('/', 'Cookie: a=1', 'Cookie: a=2'));
    const joined = ['a=1, a=2'];
    expect(rowTexts(tx, SOURCE.requestCookie)).toEqual(['a=1', 'a=2', ...joined]);
  });

  const types: [string, string][] = [
    ['application/x-www-form-urlencoded; charset=x', 'URLENCODED'],
    ['APPLICATION/X-WWW-FORM-URLENCODED', 'URLENCODED'],
    ['Multipart/Form-Data; boundary=x', 'MULTIPART'],
    ['application/json', ''],
    ['text/xml', ''],
    ['', ''],
  ];
  test.each(types)('Content-Type %j asks for %j', (type, processor) => {
    expect(transactionFor(get('/', `Content-Type: ${type}`)).bodyProcessor).toBe(processor);
  });
});

test('decoding equals a naive one on random queries', () => {
  const piece = fc.constantFrom('a', 'B', '%', '4', '1', 'f', '+', '&', '=', '%41', '\xe4', ';');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const query = pieces.join('');
      const tx = transactionFor(get(`/?${query}`));
      expect(rowTexts(tx, SOURCE.argGet)).toEqual(naiveArguments(query));
      expect(misplacedRows(tx)).toEqual([]);
    }),
  );
});

function naiveArguments(query: ByteString): string[] {
  const decode = (text: ByteString): ByteString =>
    text
      .replaceAll('+', ' ')
      .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const pairs = query.split('&');
  // After the last separator there is an argument only where there is something.
  if (pairs.at(-1) === '') pairs.pop();
  return pairs.map((pair) => {
    const [, name, value] = /^([^=]*)=?(.*)$/s.exec(pair)!;
    return `${decode(name!)}=${decode(value!)}`;
  });
}

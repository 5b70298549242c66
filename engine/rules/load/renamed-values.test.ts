/** Tests which values are added under names that programs on the origin give them. */

import { describe, expect, test } from 'vitest';
import { SOURCE } from '../transaction/values.ts';
import { loadRequestBody } from './request-body.ts';
import { misplacedRows, rowTexts, transactionFor, transactionWithBody } from './test-sample.ts';

const renamed = { renamedValues: true };
const get = (query: string, ...fields: string[]): string =>
  [`GET /?${query} HTTP/1.1`, ...fields].join('\r\n');

describe('arguments', () => {
  const rows: [string, string[]][] = [
    ['user_id=1&userid=2&user-id=3', []],
    ['user.id=1', ['user_id=1']],
    ['user.id=1&user_id=2&user%00=3', ['user_id=1', 'user=3']],
    ['user+id=1&user%20id=2', ['user_id=1', 'user_id=2']],
    ['user%5Bid=1', ['user_id=1']],
    ['%00=1&[a=2&%20=3', []],
    ['user.id[]=1&user.id[x]=2&a[b[c]=3', []],
  ];
  test.each(rows)('%s', (query, expected) => {
    const tx = transactionFor(get(query), renamed);
    expect(rowTexts(tx, SOURCE.argRenamed)).toEqual(expected);
    expect(misplacedRows(tx)).toEqual([]);
  });

  test('of a form are added, of JSON not', () => {
    const form = transactionWithBody('URLENCODED', 'user.id=1&b=2', renamed);
    expect(rowTexts(form, SOURCE.argRenamed)).toEqual(['user_id=1']);
    const json = transactionWithBody('JSON', '{"user.id":1}', renamed);
    expect(rowTexts(json, SOURCE.argRenamed)).toEqual([]);
  });

  test('are not added where no rule asks', () => {
    const tx = transactionFor(get('user.id=1', 'X_Tool: 1', 'Cookie: a.b=1'));
    const sources = [SOURCE.argRenamed, SOURCE.headerRenamed, SOURCE.cookieRenamed];
    expect(sources.flatMap((source) => rowTexts(tx, source))).toEqual([]);
  });
});

test('header fields and cookies', () => {
  const tx = transactionFor(
    get('', 'X-Tool: 1', 'X_Tool: 2', 'x.tool: 3', 'Cookie: a.b=4; a_b=5'),
    renamed,
  );
  expect(rowTexts(tx, SOURCE.headerRenamed)).toEqual(['X-Tool=2', 'x-tool=3']);
  expect(rowTexts(tx, SOURCE.cookieRenamed)).toEqual(['a_b=4']);
  expect(rowTexts(tx, SOURCE.requestHeader)).toHaveLength(4);
});

test('each part of a request is added once', () => {
  const type = 'Content-Type: application/x-www-form-urlencoded';
  const tx = transactionFor(`POST /?a.b=1 HTTP/1.1\r\n${type}`, renamed);
  loadRequestBody(tx, { bytes: Buffer.from('c.d=2'), truncated: false });
  expect(rowTexts(tx, SOURCE.argRenamed)).toEqual(['a_b=1', 'c_d=2']);
});

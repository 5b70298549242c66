/** Tests how bodies are read beside what their Content-Type says. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { misplacedRows, rowTexts, transactionFor } from '../../load/test-sample.ts';
import { loadRequestBody } from '../../load/request-body.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { firstByte } from './unparsed.ts';

const settings = { inspectsUnparsed: true };

function read(type: string, body: string | Buffer, processor = ''): Transaction {
  const fields = type === '' ? '' : `\r\nContent-Type: ${type}`;
  const tx = transactionFor(`POST / HTTP/1.1\r\nHost: a${fields}`, settings);
  tx.control.requestBodyProcessor = processor;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
  loadRequestBody(tx, { bytes, truncated: false });
  expect(misplacedRows(tx)).toEqual([]);
  return tx;
}

const args = (tx: Transaction): string[] => rowTexts(tx, SOURCE.argPost);

describe('bodies without a processor', () => {
  const rows: [type: string, body: string | Buffer, args: string[]][] = [
    ['text/plain', '{"a":"\\u0027x"}', ["json.a='x"]],
    ['text/json', '[1]', ['json.array_0=1']],
    ['', ' {"a":1}', ['json.a=1']],
    ['application/x+json2', '\xef\xbb\xbf{"a":1}', ['json.a=1']],
    ['application/x-ndjson', '{"a":1}\n{"b":2}\n', ['json.a=1', 'json.b=2']],
    ['text/plain', Buffer.from('{"a":"x"}', 'utf16le'), ['json.a=x']],
    ['text/plain', Buffer.from('\ufeff{"a":"x"}', 'utf16le').swap16(), ['json.a=x']],
    ['text/plain', 'a=%27x&b=2', ["a='x", 'b=2']],
    ['text/plain', 'hello there = x', ['=hello there = x']],
    ['text/plain', ' x&a=%27y', ['= x&a=%27y', ' x=', "a='y"]],
    ['text/plain', `${'n'.repeat(4000)}=1&a=%27`, [`${'n'.repeat(4000)}=1`, "a='"]],
    [
      'application/octet-stream',
      '\x00\x01\x02\x03'.repeat(40) + 'cat /etc/passwd now',
      ['=cat /etc/passwd now'],
    ],
    // Binary data that begins as a document does: the text before the first control byte.
    ...(
      [
        ['{', []],
        ['["', ['json.array_0=']],
        ['"', ['json=']],
        ['<', []],
        ['a=', ['a=']],
        ['{"', ['json.empty-key=']],
      ] as const
    ).map(([first, args]): [string, Buffer, string[]] => [
      'application/octet-stream',
      Buffer.from(`${first}${'\x01\xff\x07\x9c'.repeat(40)}{"b":"x"}\x01`, 'latin1'),
      [...args],
    ]),
    [
      'application/octet-stream',
      `{"a":"\\u0027x"}${'\x00\x01\x02\x03'.repeat(40)}cat /etc/passwd now`,
      ['=cat /etc/passwd now', "json.a='x"],
    ],
    ['text/x-form', `a=1\x01&b=%27${'\x01'.repeat(40)}`, ['a=1\x01', `b='${'\x01'.repeat(40)}`]],
    ['image/png', '{"a":1}', ['json.a=1']],
    ['image/png', '\x89PNG\r\n\x1a\n<script>alert(1)</script>', []],
    ['text/plain', '<b>x</b>', ['=<b>x</b>']],
    ['application/atom+xml', '<b>x</b>', []],
  ];
  test.each(rows)('%s %j', (type, body, expected) => {
    const tx = read(type, body);
    expect(args(tx)).toEqual(expected);
    expect([tx.bodyError, tx.urlEncodedError]).toEqual([0, 0]);
  });

  const event = '["e",{"q":"\\u0027 or 1"}]';
  const inner = "json.array_1.q=' or 1";
  const utf16 = '["ü\ud83d\ude00",{"q":"\\u0027 or 1"}]';
  test.each([
    ['an event of Socket.IO', `42${event}`],
    ['one with an id', `4213${event}`],
    ['one of a name space', `42/chat?x=1,${event}`],
    ['one of a name space, with an id', `42/a=b,77${event}`],
    ['one with attachments', `451-${event}`],
    ['one with attachments of a name space', `452-/a,9${event}`],
    ['one without Engine.IO', `2${event}`],
    ['a message of Engine.IO', `4${event}`],
    ['several with separators', `2probe\x1e40\x1e42["x"]\x1e42${event}`],
    ['several with lengths', `1:2${event.length + 2}:42${event}`],
    ['lengths in UTF-16 units', Buffer.from(`13:42["äöü","x"]${event.length + 2}:42${event}`)],
    ['characters of two units', Buffer.from(`${utf16.length + 2}:42${utf16}2:40`)],
    ['digits as bytes', `\x00\x02\xff40\x00\x03\x01\xff42${event}`],
    ['base64', `b${Buffer.from(event).toString('base64')}`],
    ['base64 of version 3', `b4${Buffer.from(event).toString('base64')}`],
    ['a list of SockJS', JSON.stringify([event])],
    ['a list of SockJS with its type', `a${JSON.stringify([event])}`],
    ['a text of SockJS', JSON.stringify(event)],
    ['JSON in JSON', JSON.stringify({ payload: event })],
    ['JSON in JSON in JSON', JSON.stringify({ payload: JSON.stringify({ p: event }) })],
  ])('what stands in %s is read', (_, body) => {
    for (const type of ['text/plain', '', 'application/octet-stream']) {
      expect(args(read(type, body))).toContain(inner);
    }
  });

  test.each([
    ['URLENCODED', `42${event}`],
    ['URLENCODED', `d=${encodeURIComponent(JSON.stringify([event]))}`],
    ['JSON', JSON.stringify([event])],
    ['JSON', `42${event}`],
    ['XML', `42${event}`],
  ])('declared as %s too: %s', (processor, body) => {
    expect(args(read('', body, processor))).toContain(inner);
  });

  test('packets are bounded, and what follows is inspected as text', () => {
    const tx = read('text/plain', `${'0\x1e'.repeat(2_000)}42${event}`);
    expect(tx.limitsReached).toContain('packets');
    expect(args(tx)[0]).toContain('42["e"');
  });

  test('XML of any type has its text and attributes', () => {
    const tx = read('text/plain', '<a b="c">d&lt;</a>');
    expect(rowTexts(tx, SOURCE.xmlText)).toEqual(['/*=d<']);
    expect(rowTexts(tx, SOURCE.xmlAttribute)).toEqual(['//@*=c']);
  });

  test.each([
    ['text/plain', ''],
    ['', ''],
    ['application/x-www-form-urlencoded', 'URLENCODED'],
    ['application/json', 'JSON'],
  ])('XML in an encoding that hides ASCII is an error as %s', (type, processor) => {
    for (const body of ['<?xml version="1.0" encoding="UTF-7"?><a/>', '\x4c\x6f\xa7\x94\x93']) {
      const tx = read(type, body, processor);
      expect(tx.bodyError).toBe(1);
      if (processor !== 'JSON')
        expect(tx.bodyErrorMessage).toBe('XML: an encoding that is not read');
    }
  });

  test.each([
    ['text/plain; charset=utf-7', '', 'Charset: an encoding that is not read'],
    ['application/x-www-form-urlencoded; charset=ibm037', 'URLENCODED', 'Charset: an encoding'],
    ['application/x-www-form-urlencoded; charset=utf-16', 'URLENCODED', 'Charset: an encoding'],
    ['application/json; charset="ISO-2022-JP"', 'JSON', 'Charset: an encoding that is not read'],
    ['application/json; charset=TIS-620', 'JSON', ''],
    ['text/plain; charset=windows-1251', '', ''],
    ['application/json; charset=utf8mb4', 'JSON', ''],
    ['text/plain; charset=ISO8859_1', '', ''],
    ['application/octet-stream; charset=binary', '', ''],
    ['application/json; charset=', 'JSON', ''],
    ['application/json; charset=""', 'JSON', ''],
    ['application/json; charset=undefined', 'JSON', ''],
  ])('text in %s', (type, processor, message) => {
    const tx = read(type, processor === 'JSON' ? '{"a":1}' : 'a=1', processor);
    expect(tx.bodyErrorMessage.startsWith(message)).toBe(true);
    expect(tx.bodyError).toBe(message === '' ? 0 : 1);
  });

  test('JSON that its type calls UTF-16 is read', () => {
    const body = Buffer.from('{"a":"x"}', 'utf16le');
    const tx = read('text/json; charset=utf-16', body);
    expect([tx.bodyError, args(tx)]).toEqual([0, ['json.a=x']]);
  });

  test('a form that is XML in UTF-16 is read as such', () => {
    const tx = read('', Buffer.from('<a b="c">d</a>', 'utf16le'), 'URLENCODED');
    expect(rowTexts(tx, SOURCE.xmlText)).toEqual(['/*=d']);
  });

  const octets = 'application/octet-stream';
  const data = '\x01\xff\x07\x9c'.repeat(40);
  test.each([
    [octets, '{', data, []],
    [octets, '["', data, []],
    [octets, '<a>', data, []],
    [octets, 'a=', data, []],
    [octets, '{', ' "x":1,', ["='yyyyy"]],
    [octets, 'a=1', '&', ['"b":"\'yyyyy"\x01=']],
    ['text/plain', '{', data, ["='yyyyy"]],
  ])('later windows of %s that begins with %j and %j', (type, first, then, expected) => {
    const tx = transactionFor(`POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}`, settings);
    const begins = Buffer.from(`${first}${then}`, 'latin1');
    const bytes = Buffer.from('"b":"\'yyyyy"\x01', 'latin1');
    loadRequestBody(tx, { bytes, truncated: true, rest: { begins, inCdata: false } });
    expect(args(tx)).toEqual(expected);
  });

  test('long text comes in windows that overlap', () => {
    const text = `${'x '.repeat(20_000)}attack`;
    const windows = args(read('text/plain', text));
    expect(windows).toHaveLength(3);
    expect(windows.at(-1)!.endsWith('attack')).toBe(true);
  });
});

test('the first byte of a body of white space is none, whatever stands after it', () => {
  const slab = Buffer.from('x \n{');
  expect([firstByte(slab, 1, 4), firstByte(slab, 1, 3), firstByte(slab, 1, 1)]).toEqual([
    '{',
    '',
    '',
  ]);
});

describe('bodies that are not what they are called', () => {
  const rows: [processor: string, body: string, has: string][] = [
    ['JSON', '{"x":NaN,"a":"att"}', 'json.a=att'],
    ['JSON', '{"x":[1,2,],"a":"att",}', 'json.a=att'],
    ['JSON', "{'a':'att\\'x'}", "json.a=att'x"],
    ['JSON', '{a:att}', 'json.a=att'],
    ['JSON', '/* c */ {"a":"att"}', 'json.a=att'],
    ['JSON', '{"a":1} {"b":"att"}', 'json.b=att'],
    ['JSON', '{"a" "att"}', 'json.a=att'],
    ['JSON', '[1 "att"]', 'json.array_1=att'],
    ['JSON', '["\\q","att"]', 'json.array_1=att'],
    ['JSON', '{"att', 'json.att='],
    ['JSON', '{"att"}', 'json.att='],
    ['JSON', '[01,"att"]', 'json.array_1=att'],
    ['JSON', 'a=%61tt&b=1', 'a=att'],
    ['JSON', '<a>att</a>', '=<a>att</a>'],
    ['XML', 'a=%61tt', 'a=att'],
    ['XML', '{"a":"att"}', 'json.a=att'],
    ['XML', 'att <a/>', '=att <a/>'],
    ['XML', '<!DOCTYPE a [<!ENTITY b "att">]><a/>', '= a [<!ENTITY b "att">]>'],
    ['URLENCODED', '{"a":"\\u0061tt"}', 'json.a=att'],
  ];
  test.each(rows)('%s %s', (processor, body, has) => {
    expect(args(read('a/b', body, processor))).toContain(has);
  });

  test('what a processor finds wrong stays an error, what another reading finds is none', () => {
    expect(read('a/b', '{"x":NaN}', 'JSON').bodyErrorMessage).toBe('JSON: a value is missing');
    expect(read('a/b', Buffer.from('{"x":1}', 'utf16le'), 'JSON').bodyErrorMessage).toBe(
      'JSON: not UTF-8',
    );
    expect(read('a/b', '{x', 'URLENCODED').bodyError).toBe(0);
  });
});

test('every string of a document that is broken somewhere is inspected', () => {
  const piece = fc.constantFrom(
    ...Array.from('{}[],:'),
    'NaN',
    "'",
    '1',
    'x',
    '\n',
    '/*',
    'true',
    '"k":',
    '"v",',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const body = `{${pieces.join('').replaceAll("'", '')} "needle" }`;
      const tx = read('application/json', body, 'JSON');
      const { values } = tx;
      const seen = Array.from({ length: values.count }, (_, row) => row)
        .filter((row) => values.source[row] === SOURCE.argPost)
        .some((row) => `${values.key(row)} ${values.value(row)}`.includes('needle'));
      expect(seen).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

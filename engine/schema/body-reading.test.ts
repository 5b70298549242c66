/** Proof of how bodies are read: JSON, media types, multipart; each with what is refused. */

import { expect, test } from 'vitest';
import { schemaLimits } from '../../base/schema-limits.ts';
import type { ApiField, ApiMedia } from '../contract/api-checks.ts';
import { readForm, readMultipart } from './form-fields.ts';
import { findMedia, readMediaType } from './media-type.ts';
import { readFormParts } from './multipart-parts.ts';
import { readPlainJson } from './plain-json.ts';

const deep = schemaLimits.jsonDepthMax;
const jsonRows: readonly (readonly [says: string, text: string | Buffer, expected: unknown])[] = [
  ['an object', '{"a":[1,{"b":null}]}', { value: { a: [1, { b: null }] } }],
  ['a text alone', '"a"', { value: 'a' }],
  ['blanks around', ' \n{"a" : 1}\t', { value: { a: 1 } }],
  ['nothing', '', { fault: 'malformed' }],
  ['a comma at the end', '{"a":1,}', { fault: 'malformed' }],
  ['a comment', '{"a":1/**/}', { fault: 'malformed' }],
  ['single quotes', "{'a':1}", { fault: 'malformed' }],
  ['NaN', '{"a":NaN}', { fault: 'malformed' }],
  ['two documents', '{} {}', { fault: 'malformed' }],
  ['a byte order mark', '\ufeff{}', { fault: 'malformed' }],
  ['a control character in a text', '{"a":"\n"}', { fault: 'malformed' }],
  ['an unfinished text', '{"a":"b', { fault: 'malformed' }],
  ['a member twice', '{"a":1,"a":1}', { fault: 'duplicate' }],
  ['a member twice, escaped', '{"a":1,"\\u0061":1}', { fault: 'duplicate' }],
  ['a member twice, deep', '[{"x":{"a":1,"a":1}}]', { fault: 'duplicate' }],
  ['colons and quotes in texts', '{"a:\\"b\\\\":":\\":"}', { value: { 'a:"b\\': ':":' } }],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), { fault: 'malformed' }],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), { fault: 'encoding' }],
  ['nesting as deep as may be', '['.repeat(deep) + ']'.repeat(deep), undefined],
  ['deeper nesting', '['.repeat(deep + 1) + ']'.repeat(deep + 1), { fault: 'depth' }],
  ['more items than may be', `[${'1,'.repeat(schemaLimits.jsonNodesMax + 1)}1]`, { fault: 'size' }],
];

test.each(jsonRows)('JSON: %s', (_, text, expected) => {
  const found = readPlainJson(typeof text === 'string' ? Buffer.from(text, 'utf8') : text);
  if (expected === undefined) expect(found).toHaveProperty('value');
  else expect(found).toEqual(expected);
});

test('a member named __proto__ is a member like others', () => {
  const found = readPlainJson(Buffer.from('{"__proto__":{"a":1}}'));
  expect('value' in found && Object.keys(found.value as object)).toEqual(['__proto__']);
});

type TypeRow = readonly [text: string, type: string | null, boundary?: string];
const typeRows: readonly TypeRow[] = [
  ['application/json', 'application/json'],
  ['Application/JSON; charset=utf-8', 'application/json'],
  ['multipart/form-data; boundary=abc', 'multipart/form-data', 'abc'],
  ['multipart/form-data; boundary="a b"', 'multipart/form-data', 'a b'],
  ['multipart/form-data; boundary=a; boundary=b', null],
  ['application/json, text/plain', null],
  ['application/json;', null],
  ['application', null],
  ['', null],
  ['text/plain; charset="utf\\-8"', null],
];

for (const [text, type, boundary = ''] of typeRows) {
  test(`the media type ${JSON.stringify(text)}`, () => {
    const found = readMediaType(text);
    expect(found?.type ?? null).toBe(type);
    expect(found?.boundary ?? '').toBe(boundary);
  });
}

test('the most specific range wins', () => {
  const media = ['*/*', 'text/*', 'text/csv'].map((range) => ({ range }));
  expect(findMedia(media, 'text/csv')?.range).toBe('text/csv');
  expect(findMedia(media, 'text/html')?.range).toBe('text/*');
  expect(findMedia(media, 'image/png')?.range).toBe('*/*');
  expect(findMedia(media.slice(1), 'image/png')).toBeNull();
});

const field = (change: Partial<ApiField>): ApiField => ({
  style: 'form',
  explode: true,
  allowReserved: false,
  shape: { kind: 'scalar', types: ['string'] },
  contentTypes: [],
  repeats: false,
  file: false,
  ...change,
});
const media: ApiMedia = {
  range: 'multipart/form-data',
  kind: 'multipart',
  check: 0,
  pointer: '',
  fields: {
    age: field({ shape: { kind: 'scalar', types: ['integer'] } }),
    tags: field({ shape: { kind: 'array', items: 'string' }, repeats: true }),
    photo: field({ file: true, contentTypes: ['image/*'] }),
    more: field({ shape: { kind: 'json' }, contentTypes: ['application/json'] }),
  },
};
const part = (head: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
const end = '--b--\r\n';
const typed = (type: string, content: string): string =>
  part(`name="photo"; filename="a"\r\nContent-Type: ${type}`, content);

const partRows: readonly (readonly [says: string, body: string, expected: unknown])[] = [
  ['a field', part('name="age"', '7') + end, { age: 7 }],
  ['an empty field', part('name="x"', '') + end, { x: '' }],
  ['a field of another type', part('name="age"', 'x') + end, { age: 'x' }],
  ['a field twice', part('name="age"', '7') + part('name="age"', '8') + end, 'duplicate'],
  ['a list', part('name="tags"', 'a') + part('name="tags"', 'b') + end, { tags: ['a', 'b'] }],
  ['a file', typed('image/png', '\x89PNG') + end, { photo: '' }],
  ['a file of another type', typed('text/html', '<p>') + end, 'contentType'],
  ['a file twice', typed('image/png', 'a') + typed('image/png', 'b') + end, 'duplicate'],
  ['a file in place of a field', part('name="age"; filename="a"', '7') + end, 'file'],
  ['JSON in a part', part('name="more"', '{"a":1}') + end, { more: { a: 1 } }],
  ['broken JSON in a part', part('name="more"', '{') + end, 'malformed'],
  ['content with line ends', part('name="x"', 'a\r\nb') + end, { x: 'a\r\nb' }],
  ['content that is not UTF-8', part('name="x"', '\xff') + end, 'encoding'],
  ['an end right after a boundary', `${part('name="age"', '7')}--b`, 'malformed'],
  ['an end inside the mark of the last boundary', `${part('name="age"', '7')}--b-`, 'malformed'],
  ['less than a boundary', '--', 'malformed'],
  ['nothing at all', '', 'malformed'],
  ['no end', part('name="age"', '7'), 'malformed'],
  [
    'a boundary in place of content',
    `--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n${part('name="age"', '7')}${end}`,
    'malformed',
  ],
  ['a blank of another kind', part('name="age"\xa0', '7') + end, 'malformed'],
  ['text before the first part', `x\r\n${part('name="age"', '7')}${end}`, { age: 7 }],
  ['text after the last part', `${part('name="age"', '7')}${end}x`, { age: 7 }],
  [
    'a part before the first boundary',
    `Content-Disposition: form-data\r\n${part('name="age"', '7')}${end}`,
    'malformed',
  ],
  ['another charset', part('name="x"\r\nContent-Type: a/b; charset=utf-7', 'a') + end, 'malformed'],
  ['line ends of one byte', part('name="age"', '7').replaceAll('\r\n', '\n') + end, 'malformed'],
  ['no name', part('filename="a"', '7') + end, 'malformed'],
  ['an escaped name', part('name="a\\"b"', '7') + end, 'malformed'],
  ['a name without quotes', part('name=age', '7') + end, { age: 7 }],
  ['two names', part('name="age"; name="x"', '7') + end, 'malformed'],
  ['an extended file name', part('name="x"; filename*=utf-8\'\'a', '7') + end, 'malformed'],
  ['a header twice', part('name="age"\r\nContent-Disposition: form-data', '7') + end, 'malformed'],
  ['a folded header', part('name="age"\r\n ;x=1', '7') + end, 'malformed'],
  ['base64', part('name="x"\r\nContent-Transfer-Encoding: base64', 'YQ==') + end, 'malformed'],
  ['another boundary', (part('name="age"', '7') + end).replaceAll('--b', '--c'), 'malformed'],
];

test.each(partRows)('multipart: %s', (_, body, expected) => {
  const parts = readFormParts(Buffer.from(body, 'latin1'), 'b');
  const found = 'fault' in parts ? parts : readMultipart(media, parts.parts);
  if (typeof expected === 'string') expect(found).toEqual({ fault: expected });
  else expect(JSON.parse(JSON.stringify(found))).toEqual({ values: [expected] });
});

const form: ApiMedia = {
  ...media,
  kind: 'form',
  fields: {
    age: field({ shape: { kind: 'scalar', types: ['integer'] } }),
    ids: field({ shape: { kind: 'array', items: 'integer' } }),
    csv: field({ shape: { kind: 'array', items: 'integer' }, explode: false }),
    deep: field({
      style: 'deepObject',
      shape: { kind: 'object', properties: { a: 'integer' }, additional: 'string' },
    }),
  },
};
const formRows: readonly (readonly [says: string, body: string, expected: unknown])[] = [
  ['fields', 'age=7&x=a+b', { age: 7, x: 'a b' }],
  ['an escaped name', '%61ge=7', { age: 7 }],
  ['a field twice', 'age=7&age=8', 'duplicate'],
  ['a list', 'ids=1&ids=2', { ids: [1, 2] }],
  ['a list of one', 'ids=1', { ids: [1] }],
  ['a list with commas', 'csv=1,2', { csv: [1, 2] }],
  ['a deep object', 'deep[a]=1&deep%5Bb%5D=2', { deep: { a: 1, b: '2' } }],
  ['a deep property twice', 'deep[a]=1&deep[a]=2', 'duplicate'],
  ['a deep object and its bare name', 'deep[b]=x&deep=b,y', 'style'],
  ['the bare name of a deep object', 'deep=a,1', 'style'],
  ['a deeper property', 'deep[b][c]=x', 'style'],
  ['a name like a deep one', 'deeper[b]=x', { 'deeper[b]': 'x' }],
  ['nothing', '', {}],
  ['a broken escape in a value', 'age=%', 'encoding'],
  ['a broken escape in a name', '%=1', 'encoding'],
];

test.each(formRows)('form: %s', (_, body, expected) => {
  const found = readForm(form, Buffer.from(body, 'latin1'));
  if (typeof expected === 'string') expect(found).toEqual({ fault: expected });
  else expect(JSON.parse(JSON.stringify(found))).toEqual({ values: [expected] });
});

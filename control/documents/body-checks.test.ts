/** Which fields of a form are checked, and which are reported as not checked. */

import { expect, test } from 'vitest';
import { compileDocument } from './compile-document.ts';
import { readModel } from './document-model.ts';

const form = 'application/x-www-form-urlencoded';

function compile(schema: object, type = form) {
  const post = { requestBody: { content: { [type]: { schema } } }, responses: {} };
  const info = { title: 'forms', version: '1' };
  const document = { openapi: '3.0.3', info, paths: { '/a': { post } } };
  const { operations, diagnostics } = compileDocument(readModel(document, '3.0'));
  const media = operations[0]?.body?.media[0];
  const places = diagnostics.map(({ pointer }) => pointer.split('/schema')[1]);
  return { checked: media?.check !== undefined, places };
}

const text = { type: 'string' };
const object = { type: 'object', properties: { a: text } };

test.each([
  ['named fields', { type: 'object', properties: { a: text } }, true, []],
  ['other fields of one text', { type: 'object', additionalProperties: text }, true, []],
  ['no other fields', { type: 'object', additionalProperties: false }, true, []],
  [
    'other fields that are objects',
    { type: 'object', properties: { a: text }, additionalProperties: object },
    false,
    ['/additionalProperties'],
  ],
  [
    'a named field that is an object',
    { type: 'object', properties: { a: object } },
    false,
    ['/properties/a'],
  ],
])('%s', (_, schema, checked, places) => {
  expect(compile(schema)).toEqual({ checked, places });
});

test('a part that is an object of lists is JSON, and is checked', () => {
  const list = { type: 'array', items: { type: 'integer' } };
  const part = { type: 'object', properties: { a: list } };
  const found = compile({ type: 'object', properties: { part } }, 'multipart/form-data');
  expect(found).toEqual({ checked: true, places: [] });
});

/** What cannot be checked is reported with its place; the rest of a schema is checked still. */

import { expect, test } from 'vitest';
import { loadChecks } from '../../engine/base/check-code.ts';
import { compileDocument, type CompiledDocument } from './compile-document.ts';
import { readModel } from './document-model.ts';
import type { JsonObject } from './pointer.ts';

const info = { title: 'made', version: '1' };
const responses = { 200: { description: 'ok' } };
const text = { type: 'string' };
const base = { type: 'object', required: ['kind'], properties: { kind: text } };
const branch = (name: string) => ({ $ref: `#/components/schemas/${name}` });

function swagger(consumes: readonly string[], definition: object): CompiledDocument {
  const schema = { $ref: '#/definitions/Pet' };
  const parameters = [{ name: 'body', in: 'body', required: true, schema }];
  const paths = { '/pets': { post: { consumes, parameters, responses } } };
  const document = { swagger: '2.0', info, paths, definitions: { Pet: definition } };
  return compileDocument(readModel(document as JsonObject, '2.0'));
}

function openApi(schema: object, type = 'application/json'): CompiledDocument {
  const requestBody = { required: true, content: { [type]: { schema } } };
  const paths = { '/pets': { post: { requestBody, responses } } };
  const schemas = { Cat: base, Dog: base };
  const document = { openapi: '3.0.3', info, paths, components: { schemas } };
  return compileDocument(readModel(document as JsonObject, '3.0'));
}

const propertyName = { propertyName: 'kind' };
const rows: readonly (readonly [string, CompiledDocument, string, string, boolean])[] = [
  [
    "Swagger's discriminator, a text",
    swagger(['application/json'], { ...base, discriminator: 'kind' }),
    ...(['/definitions/Pet/discriminator', 'unchecked', true] as const),
  ],
  [
    'the discriminator of a base',
    openApi({ ...base, discriminator: propertyName }),
    '/paths/~1pets/post/requestBody/content/application~1json/schema/discriminator',
    ...(['unchecked', true] as const),
  ],
  [
    'the discriminator of alternatives without names',
    openApi({ oneOf: [base, { type: 'integer' }], discriminator: propertyName }),
    '/paths/~1pets/post/requestBody/content/application~1json/schema/discriminator',
    ...(['note', true] as const),
  ],
  [
    'XML in OpenAPI',
    openApi(base, 'application/xml'),
    '/paths/~1pets/post/requestBody/content/application~1xml/schema',
    ...(['unchecked', false] as const),
  ],
  [
    'XML in Swagger',
    swagger(['text/xml'], base),
    ...(['/paths/~1pets/post/parameters/0/schema', 'unchecked', false] as const),
  ],
];

test.each(rows)('%s', (_, { diagnostics, operations, code }, pointer, kind, checks) => {
  const found = diagnostics.map((one) => `${one.code} ${one.pointer}`);
  expect(found).toEqual([`${kind} ${pointer}`]);
  expect(operations[0]!.unchecked).toBe(kind === 'note' ? 0 : 1);
  const [media] = operations[0]!.body!.media;
  expect(media!.check !== undefined).toBe(checks);
  if (!checks) return;
  const check = loadChecks(code, () => ({ test: () => true }))[media!.check!]!;
  expect([check({ kind: 'Cat' }), check({ kind: 7 })]).toEqual([true, false]);
});

test('a discriminator that chooses among named alternatives needs no report', () => {
  const schema = { oneOf: [branch('Cat'), branch('Dog')], discriminator: propertyName };
  expect(openApi(schema).diagnostics).toEqual([]);
});

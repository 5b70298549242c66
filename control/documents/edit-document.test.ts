/** Where documents get an operation, by version and method; what has no place is refused. */

import { expect, test } from 'vitest';
import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { declare } from './declaration.ts';
import { withOperation } from './edit-document.ts';
import { modelOf } from './read-document.ts';
import type { JsonObject } from './pointer.ts';

const info = { title: 'made', version: '1' };
const old = { openapi: '3.0.3', info, paths: {} };
const latest = { openapi: '3.2.0', info, paths: {} };
const swagger = { swagger: '2.0', info, paths: {} };

const rows: readonly (readonly [string, JsonObject | null, string, string | null])[] = [
  ['GET in no document', null, 'GET', '/paths/~1cache/get'],
  ['TRACE in no document', null, 'TRACE', '/paths/~1cache/trace'],
  ['PURGE in no document', null, 'PURGE', '/paths/~1cache/additionalOperations/PURGE'],
  ['PATCH in 3.0', old, 'PATCH', '/paths/~1cache/patch'],
  ['TRACE in 3.0', old, 'TRACE', '/paths/~1cache/trace'],
  ['QUERY in 3.0', old, 'QUERY', null],
  ['PURGE in 3.0', old, 'PURGE', null],
  ['QUERY in 3.2', latest, 'QUERY', '/paths/~1cache/query'],
  ['PURGE in 3.2', latest, 'PURGE', '/paths/~1cache/additionalOperations/PURGE'],
  ['GET in Swagger', swagger, 'GET', '/paths/~1cache/get'],
  ['TRACE in Swagger', swagger, 'TRACE', null],
];

test.each(rows)('%s', (_, document, method, pointer) => {
  const add = (): JsonObject => withOperation(document, '/cache', method);
  if (pointer === null) return expect(add).toThrow('assetId: ');
  const found = modelOf(add()).operations;
  expect(found.map((one) => [one.method, one.pointer])).toEqual([[method, pointer]]);
});

test('operations times mappings are bounded; the first that is left out is named', () => {
  const paths = Object.fromEntries(
    Array.from({ length: 200 }, (_, at) => [`/p${at}`, { get: { responses: {} } }]),
  );
  const mappings = Array.from({ length: apiDocumentLimits.mappingsMax }, (_, at) => {
    const place = { host: `h${at}.test`, basePath: '', methods: [], variables: {}, serverUrl: '' };
    return { ...place, approved: true };
  });
  const { operations, diagnostics } = declare(modelOf({ ...old, paths }), mappings);
  expect(operations).toHaveLength(apiDocumentLimits.operationsMax);
  const [fault, ...others] = diagnostics.filter(({ code }) => code === 'too_many_operations');
  expect(others).toEqual([]);
  expect(fault!.pointer).toMatch(/^\/paths\/~1p\d+\/get$/);
});

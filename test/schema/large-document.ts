/** A document of 1,000 operations, made by code; schemas of its resources refer to each other. */

import type { Part } from './made-values.ts';

const resources = 200;

/** Five operations on each of 200 resources; schemas refer up to four others deep. */
export function largeDocument(): Part {
  const paths: Record<string, Part> = {};
  const schemas: Record<string, Part> = {};
  for (let at = 0; at < resources; at++) {
    const name = `Kind${at}`;
    schemas[name] = schemaOf(at);
    paths[`/v1/kind-${at}`] = { get: list(name), post: withBody(`add${name}`, name) };
    paths[`/v1/kind-${at}/{id}`] = {
      parameters: [{ name: 'id', in: 'path', required: true, schema: idOf(at) }],
      get: { operationId: `get${name}`, responses },
      put: withBody(`put${name}`, name),
      delete: { operationId: `drop${name}`, responses },
    };
  }
  const info = { title: 'Many', version: '1' };
  return { openapi: '3.0.3', info, paths, components: { schemas } };
}

const responses: Part = { 200: { description: 'ok' } };

function idOf(at: number): Part {
  return at % 2 === 0 ? { type: 'integer', minimum: 1 } : { type: 'string', format: 'uuid' };
}

function schemaOf(at: number): Part {
  const more = at % 5 === 0 ? {} : { next: { $ref: `#/components/schemas/Kind${at - 1}` } };
  return {
    type: 'object',
    required: ['name', 'state'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 10 + (at % 20) },
      state: { type: 'string', enum: ['on', 'off', `of-${at}`] },
      count: { type: 'integer', minimum: at % 7, maximum: 1000 + at },
      ...more,
    },
  };
}

function list(name: string): Part {
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 500 } };
  return { operationId: `list${name}`, parameters: [limit], responses };
}

function withBody(operationId: string, name: string): Part {
  const schema = { $ref: `#/components/schemas/${name}` };
  const requestBody = { required: true, content: { 'application/json': { schema } } };
  return { operationId, requestBody, responses };
}

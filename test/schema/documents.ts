/** Documents of the generated requests: each shape of a request that is checked. */

import type { Part } from './made-values.ts';

const user: Part = {
  type: 'object',
  required: ['name', 'email', 'role'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 40 },
    email: { type: 'string', format: 'email' },
    role: { type: 'string', enum: ['admin', 'member', 'guest'] },
    age: { type: 'integer', minimum: 18, maximum: 120 },
    score: { type: 'number', minimum: 0, maximum: 100 },
    active: { type: 'boolean' },
    slug: { type: 'string', pattern: '^[a-z]+$' },
    born: { type: 'string', format: 'date' },
    seen: { type: 'string', format: 'date-time' },
    tags: {
      type: 'array',
      minItems: 1,
      maxItems: 5,
      uniqueItems: true,
      items: { type: 'integer' },
    },
    address: { $ref: '#/components/schemas/Address' },
  },
};
const address: Part = {
  type: 'object',
  required: ['street', 'zip'],
  properties: {
    street: { type: 'string', minLength: 1 },
    zip: { type: 'string', pattern: '^[A-Z]{3}-[0-9]{4}$' },
    floor: { type: 'integer', multipleOf: 5, minimum: 0 },
  },
};
const order: Part = {
  type: 'object',
  required: ['id', 'lines'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    lines: {
      type: 'array',
      minItems: 1,
      maxItems: 3,
      items: {
        type: 'object',
        required: ['sku', 'count'],
        additionalProperties: false,
        properties: {
          sku: { type: 'string', minLength: 3, maxLength: 8 },
          count: { type: 'integer', minimum: 1, maximum: 99 },
        },
      },
    },
    ship: { $ref: '#/components/schemas/Address' },
  },
};

const components: Part = { schemas: { User: user, Address: address, Order: order } };
const json = (name: string): Part => ({
  required: true,
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
});
const answers: Part = { 200: { description: 'ok' } };

const paths: Part = {
  '/users': {
    get: {
      operationId: 'listUsers',
      parameters: [
        { name: 'page', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 1000 } },
        { name: 'sort', in: 'query', schema: { type: 'string', enum: ['name', 'age'] } },
        { name: 'active', in: 'query', required: true, schema: { type: 'boolean' } },
        {
          name: 'ids',
          in: 'query',
          schema: { type: 'array', maxItems: 3, items: { type: 'integer' } },
        },
        {
          name: 'codes',
          in: 'query',
          explode: false,
          schema: { type: 'array', minItems: 2, items: { type: 'integer', minimum: 0 } },
        },
        {
          name: 'bars',
          in: 'query',
          style: 'pipeDelimited',
          explode: false,
          schema: { type: 'array', maxItems: 2, items: { type: 'integer' } },
        },
        {
          name: 'filter',
          in: 'query',
          style: 'deepObject',
          explode: true,
          schema: {
            type: 'object',
            required: ['min'],
            properties: { min: { type: 'integer' }, max: { type: 'integer', maximum: 9 } },
          },
        },
        { name: 'X-Trace', in: 'header', schema: { type: 'string', format: 'uuid' } },
        { name: 'X-Level', in: 'header', required: true, schema: { type: 'integer', minimum: 1 } },
        { name: 'session', in: 'cookie', schema: { type: 'string', minLength: 4, maxLength: 8 } },
      ],
      responses: answers,
    },
    post: { operationId: 'addUser', requestBody: json('User'), responses: answers },
  },
  '/users/{id}': {
    get: {
      operationId: 'getUser',
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } },
      ],
      responses: answers,
    },
    put: {
      operationId: 'putUser',
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } },
      ],
      requestBody: json('User'),
      responses: answers,
    },
  },
  '/orders/{ids}/{kind}': {
    get: {
      operationId: 'getOrders',
      parameters: [
        {
          name: 'ids',
          in: 'path',
          required: true,
          schema: { type: 'array', maxItems: 3, items: { type: 'integer' } },
        },
        {
          name: 'kind',
          in: 'path',
          required: true,
          style: 'matrix',
          schema: { type: 'string', enum: ['open', 'closed'] },
        },
      ],
      responses: answers,
    },
  },
  '/labels/{label}': {
    delete: {
      operationId: 'dropLabel',
      parameters: [
        {
          name: 'label',
          in: 'path',
          required: true,
          style: 'label',
          schema: { type: 'integer', maximum: 50 },
        },
      ],
      responses: answers,
    },
  },
  '/orders': {
    post: { operationId: 'addOrder', requestBody: json('Order'), responses: answers },
    patch: {
      operationId: 'formOrder',
      requestBody: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': {
            schema: {
              type: 'object',
              required: ['amount', 'currency'],
              additionalProperties: false,
              properties: {
                amount: { type: 'integer', minimum: 1, maximum: 500 },
                currency: { type: 'string', enum: ['EUR', 'USD'] },
                note: { type: 'string', maxLength: 10 },
                parts: { type: 'array', maxItems: 2, items: { type: 'integer' } },
              },
            },
          },
        },
      },
      responses: answers,
    },
  },
};

const info: Part = { title: 'test', version: '1' };

/** The documents by name. */
export const documents: Readonly<Record<string, Part>> = {
  'OpenAPI 3.0': { openapi: '3.0.3', info, paths, components },
  'OpenAPI 3.1': { openapi: '3.1.0', info, paths, components },
  'OpenAPI 3.2': { openapi: '3.2.0', info, paths, components },
};

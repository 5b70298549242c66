/**
 * API documents of the shapes that public ones have, made from a few words: stores, payments, code
 * hosting, clusters, mail, maps, chat, media, devices, phones, forms of old services, catalogs.
 */

const info = { title: 'made', version: '1' };
const responses = { 200: { description: 'ok' } };
const words = [
  'account',
  'branch',
  'cart',
  'device',
  'event',
  'folder',
  'group',
  'hook',
  'invoice',
];
const word = (at) => `${words[at % words.length]}${Math.floor(at / words.length)}`;

/** A value's schema; the kinds take turns. */
function value(at) {
  const kinds = [
    { type: 'string', minLength: 1, maxLength: 80 },
    { type: 'integer', minimum: 0, maximum: 1_000_000 },
    { type: 'boolean' },
    { type: 'string', enum: ['open', 'closed', 'draft'] },
    { type: 'string', format: 'uuid' },
    { type: 'array', maxItems: 20, items: { type: 'string', maxLength: 20 } },
    { type: 'string', pattern: '^[a-z][a-z0-9-]*$' },
    { type: 'number', minimum: -180, maximum: 180 },
  ];
  return kinds[at % kinds.length];
}

/** An object of `fields` values; `refs` are schemas it holds besides. */
function object(fields, seed, refs = {}, note = '') {
  const names = Array.from({ length: fields }, (_, at) => `${word(at)}_${seed % 7}`);
  const properties = Object.fromEntries(
    names.map((name, at) => [name, note === '' ? value(at + seed) : described(at + seed, note)]),
  );
  return {
    type: 'object',
    required: names.slice(0, Math.ceil(fields / 3)),
    properties: { ...properties, ...refs },
  };
}

const described = (at, note) => ({ ...value(at), description: `${note} ${at}. ${note}.` });

/** Paths of `operations` operations in groups of five: a collection's two, an item's three. */
function paths(operations, { id, body, query = () => [] }) {
  const made = {};
  for (let at = 0; at * 5 < operations; at++) {
    const name = word(at);
    const list = { operationId: `list_${name}`, parameters: query(at), responses };
    const create = { operationId: `create_${name}`, ...body(at), responses };
    const item = (verb, more = {}) => ({ operationId: `${verb}_${name}`, ...more, responses });
    made[`/v1/${name}`] = { get: list, post: create };
    made[`/v1/${name}/{id}`] = {
      parameters: [id(at)],
      get: item('get'),
      put: item('put', body(at)),
      delete: item('delete'),
    };
  }
  return made;
}

const pathId = () => ({ name: 'id', in: 'path', required: true, schema: { type: 'string' } });
const numberId = () => ({ name: 'id', in: 'path', required: true, schema: { type: 'integer' } });
const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
const content = (type) => (at) => ({
  requestBody: { required: true, content: { [type]: { schema: ref(`S${at}`) } } },
});

/** Schemas S0, S1, ...; each refers to the next, `depth` of them in a row. */
function chain(count, fields, depth, note = '') {
  const name = (at) => `S${at}`;
  const next = (at) =>
    at % depth === depth - 1 || at + 1 === count ? {} : { next: ref(name(at + 1)) };
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [name(at), object(fields, at, next(at), note)]),
  );
}

function openapi(version, operations, { schemas, ...parts }) {
  const made = paths(operations, { id: pathId, ...parts });
  return { openapi: version, info, paths: made, components: { schemas } };
}

function swagger(operations, definitions, more = {}) {
  const schema = (at) => ({ $ref: `#/definitions/S${at}` });
  const made = paths(operations, {
    id: () => ({ name: 'id', in: 'path', required: true, type: 'string' }),
    body: (at) => ({
      parameters: [{ name: 'body', in: 'body', required: true, schema: schema(at) }],
    }),
    query: () => [
      {
        name: 'ids',
        in: 'query',
        type: 'array',
        items: { type: 'integer' },
        collectionFormat: 'pipes',
      },
    ],
  });
  return {
    swagger: '2.0',
    info,
    consumes: ['application/json'],
    paths: made,
    definitions,
    ...more,
  };
}

const query = (name, schema, more = {}) => ({ name, in: 'query', schema, ...more });
const mapQueries = () => [
  query('bounds', { type: 'array', items: { type: 'number' }, maxItems: 4 }, { explode: false }),
  query('filter', { type: 'object', properties: { kind: value(3) } }, { style: 'deepObject' }),
  query('layers', { type: 'array', items: value(3) }, { style: 'pipeDelimited', explode: false }),
  { name: 'X-Trace', in: 'header', schema: { type: 'string', format: 'uuid' } },
];
const json = content('application/json');

/** Definitions that refer to the next as `#/definitions`, and to themselves. */
function cluster(count) {
  const own = (at) => ({ $ref: `#/definitions/S${at}` });
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `S${at}`,
      object(8, at, { children: { type: 'array', items: own(at) }, spec: own((at + 1) % count) }),
    ]),
  );
}

const pet = {
  Cat: {
    type: 'object',
    required: ['kind', 'lives'],
    properties: { kind: value(0), lives: value(1) },
  },
  Dog: {
    type: 'object',
    required: ['kind', 'tricks'],
    properties: { kind: value(0), tricks: value(5) },
  },
  S0: {
    oneOf: [ref('Cat'), ref('Dog')],
    discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat' } },
  },
};
const message = (at) => ({
  anyOf: [object(4, at), { type: 'object', required: ['text'], properties: { text: value(0) } }],
});
const messages = (count) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`S${at}`, message(at)]));

/** The documents: name, text of the file and its ending. */
export function largeDocuments() {
  const made = {
    'store (3.0, discriminator)': openapi('3.0.3', 5, { schemas: pet, body: json }),
    'payments (3.0, forms)': openapi('3.0.3', 400, {
      schemas: chain(80, 25, 3),
      body: content('application/x-www-form-urlencoded'),
    }),
    'code hosting (3.0, deep references)': openapi('3.0.3', 1000, {
      schemas: chain(200, 20, 12),
      body: json,
      query: mapQueries,
    }),
    'cluster (Swagger 2.0, recursive)': swagger(800, cluster(160)),
    'mail (3.1)': openapi('3.1.0', 120, { schemas: chain(24, 30, 2), body: json }),
    'maps (3.0, styles)': openapi('3.0.2', 200, {
      schemas: chain(40, 6, 2),
      body: json,
      query: mapQueries,
      id: numberId,
    }),
    'chat (3.1, anyOf)': openapi('3.1.0', 250, { schemas: messages(50), body: json }),
    'media (3.0, multipart)': openapi('3.0.3', 100, {
      schemas: chain(20, 8, 1),
      body: content('multipart/form-data'),
    }),
    'devices (Swagger 2.0)': swagger(150, cluster(30), { basePath: '/api' }),
    'phones (3.2)': openapi('3.2.0', 300, { schemas: chain(60, 15, 4), body: json }),
    'old service (3.0, XML)': openapi('3.0.0', 60, {
      schemas: chain(12, 10, 2),
      body: content('application/xml'),
    }),
    'catalog (3.0, text)': openapi('3.0.3', 50, {
      schemas: chain(10, 12, 1),
      body: content('text/plain'),
    }),
  };
  return Object.entries(made).map(([name, document]) => ({ name, text: JSON.stringify(document) }));
}

/** About 5 MB with 2,000 operations. */
export function hugeDocument() {
  const note =
    'What this is, who sets it, and what follows from it, in one or two sentences, as a person who knows it would write';
  const schemas = chain(400, 40, 4, note);
  return JSON.stringify(openapi('3.0.3', 2000, { schemas, body: json }));
}

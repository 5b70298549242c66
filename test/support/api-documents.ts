/** Small API documents that tests upload. */

const petSchemas = {
  Pet: {
    type: 'object',
    required: ['id', 'name'],
    properties: {
      id: { type: 'integer', format: 'int64', readOnly: true },
      name: { type: 'string', minLength: 1, pattern: '^[a-z]+$' },
      tag: { type: 'string', nullable: true },
    },
  },
};
const answers = { '200': { description: 'Fine.' } };
const petPaths = {
  '/pets': {
    get: {
      operationId: 'listPets',
      parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } }],
      responses: answers,
    },
    post: {
      operationId: 'addPet',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
      },
      responses: answers,
    },
  },
  '/pets/{petId}': {
    parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer' } }],
    get: { operationId: 'getPet', responses: answers },
    delete: { operationId: 'removePet', responses: answers },
  },
};
const pets = {
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1' },
  servers: [{ url: 'https://{region}.pets.example/v1', variables: { region: { default: 'eu' } } }],
  paths: petPaths,
  components: { schemas: petSchemas },
};
const swagger = {
  swagger: '2.0',
  info: { title: 'Old', version: '1' },
  host: 'old.example',
  basePath: '/api',
  consumes: ['application/json'],
  paths: {
    '/orders': {
      get: {
        parameters: [
          {
            name: 'ids',
            in: 'query',
            type: 'array',
            items: { type: 'integer' },
            collectionFormat: 'pipes',
          },
        ],
        responses: answers,
      },
      post: {
        parameters: [{ name: 'order', in: 'body', required: true, schema: { type: 'object' } }],
        responses: answers,
      },
    },
  },
};
const text = JSON.stringify;

/** Texts by name. */
export const apiDocuments: Readonly<Record<string, string>> = {
  pets: text(pets),
  petsMore: text({
    ...pets,
    paths: { ...petPaths, '/pets/{petId}/photo': { get: { responses: answers } } },
  }),
  petsModern: text({ ...pets, openapi: '3.1.0' }),
  petsNewest: text({ ...pets, openapi: '3.2.0' }),
  swagger: text(swagger),
  yaml: 'openapi: 3.0.3\ninfo:\n  title: Y\n  version: "1"\npaths:\n  /y:\n    get:\n      responses:\n        "200":\n          description: Fine.\n',
  partial: text({
    ...pets,
    paths: {
      '/search': {
        get: {
          parameters: [
            { name: 'q', in: 'query', schema: { type: 'string', pattern: '^(?!x)' } },
            { name: 'n', in: 'query', schema: { type: 'integer' } },
          ],
          responses: answers,
        },
      },
    },
  }),
  external: text({
    ...pets,
    paths: {
      '/far': {
        post: {
          requestBody: {
            content: { 'application/json': { schema: { $ref: 'https://far.example/s.json' } } },
          },
          responses: answers,
        },
      },
    },
  }),
  duplicateKey: '{"openapi":"3.0.0",\n "openapi":"3.0.1"}',
  notANumber: '{"openapi":"3.0.0",\n "x": NaN}',
  yamlTab: 'openapi: 3.0.0\n\tinfo: x\n',
  yamlTwice: 'openapi: 3.0.0\nopenapi: 3.0.1\n',
  yamlNan: 'openapi: 3.0.0\nx: .nan\n',
  yamlBomb: `a: &a [x,x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
    .split('')
    .map((name, at) => `${name}: &${name} [${`*${'abcdefg'[at]},`.repeat(9)}*${'abcdefg'[at]}]`)
    .join('\n')}\n`,
  deep: `${'['.repeat(200)}${']'.repeat(200)}`,
  otherVersion: text({ ...pets, openapi: '4.0.0' }),
  noVersion: '{"paths":{}}',
  list: '[]',
  mark: '\ufeff{}',
  requestPart: text({ summary: 'Lists', parameters: [] }),
  requestPartWrong: text({ responses: {} }),
};

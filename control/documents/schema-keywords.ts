/** What the keywords of the dialects of JSON Schema hold, as lists: nothing else is compiled. */

/** The dialects: draft 4 is that of OpenAPI 3.0 and Swagger 2.0, 2020-12 that of 3.1 and 3.2. */
export type Dialect = 'draft4' | 'draft7' | '2020-12';

/** How the value of a keyword is to be read. */
export type KeywordKind =
  | 'schema'
  | 'schemas'
  | 'schema-map'
  | 'pattern-map'
  | 'items'
  | 'dependencies'
  | 'schema-or-boolean'
  | 'count'
  | 'number'
  | 'number-or-boolean'
  | 'positive'
  | 'boolean'
  | 'texts'
  | 'texts-map'
  | 'types'
  | 'values'
  | 'value'
  | 'pattern'
  | 'format';

const everywhere: Readonly<Record<string, KeywordKind>> = {
  type: 'types',
  enum: 'values',
  multipleOf: 'positive',
  maximum: 'number',
  minimum: 'number',
  maxLength: 'count',
  minLength: 'count',
  pattern: 'pattern',
  maxItems: 'count',
  minItems: 'count',
  uniqueItems: 'boolean',
  maxProperties: 'count',
  minProperties: 'count',
  required: 'texts',
  format: 'format',
  properties: 'schema-map',
  additionalProperties: 'schema-or-boolean',
  patternProperties: 'pattern-map',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  not: 'schema',
};

/** As entries: an object with a member `then` looks like a promise. */
const condition = ['if', 'then', 'else'].map((name): [string, KeywordKind] => [name, 'schema']);

const sinceDraft7: Readonly<Record<string, KeywordKind>> = {
  ...Object.fromEntries(condition),
  const: 'value',
  contains: 'schema',
  propertyNames: 'schema',
  exclusiveMaximum: 'number',
  exclusiveMinimum: 'number',
};

/** Keywords that constrain, by dialect. All others are notes, and are left out. */
export const keywordsOf: Readonly<Record<Dialect, Readonly<Record<string, KeywordKind>>>> = {
  draft4: {
    ...everywhere,
    exclusiveMaximum: 'boolean',
    exclusiveMinimum: 'boolean',
    items: 'items',
    additionalItems: 'schema-or-boolean',
    dependencies: 'dependencies',
  },
  draft7: {
    ...everywhere,
    ...sinceDraft7,
    items: 'items',
    additionalItems: 'schema-or-boolean',
    dependencies: 'dependencies',
  },
  '2020-12': {
    ...everywhere,
    ...sinceDraft7,
    items: 'schema',
    prefixItems: 'schemas',
    maxContains: 'count',
    minContains: 'count',
    dependencies: 'dependencies',
    dependentRequired: 'texts-map',
    dependentSchemas: 'schema-map',
    unevaluatedItems: 'schema',
    unevaluatedProperties: 'schema',
  },
};

/** Keywords that change what others mean and are not compiled. */
export const unsupportedKeywords: ReadonlySet<string> = new Set([
  '$dynamicRef',
  '$recursiveRef',
  '$recursiveAnchor',
]);

/** Keywords that tell of the content of a text, which is not looked into. */
export const notedKeywords: ReadonlySet<string> = new Set([
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
]);

/** Formats that say how a text is shown or sent: any text has them. */
export const plainFormats: ReadonlySet<unknown> = new Set(['binary', 'password']);

/** Keywords under which a schema that is too lax would refuse what is valid. */
export const exactKeywords: ReadonlySet<string> = new Set([
  'not',
  'oneOf',
  'if',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

/** Names of types. */
export const typeNames: ReadonlySet<unknown> = new Set([
  ...['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'],
]);

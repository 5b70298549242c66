/** What is wrong with the value of one keyword, so that it cannot be compiled. Pure. */

import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { linearPattern } from './linear-pattern.ts';
import { isObject } from './pointer.ts';
import { typeNames, type Dialect, type KeywordKind } from './schema-keywords.ts';

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
const isSchema = (value: unknown, dialect: Dialect): boolean =>
  isObject(value) || (dialect !== 'draft4' && typeof value === 'boolean');
const isSchemas = (value: unknown, dialect: Dialect): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => isSchema(one, dialect));
const isSchemaMap = (value: unknown, dialect: Dialect): boolean =>
  isObject(value) && Object.values(value).every((one) => isSchema(one, dialect));

type Check = (value: unknown, dialect: Dialect) => boolean;

const shapes: Readonly<Record<KeywordKind, Check>> = {
  schema: isSchema,
  schemas: isSchemas,
  'schema-map': isSchemaMap,
  'pattern-map': isSchemaMap,
  items: (value, dialect) =>
    isSchema(value, dialect) ||
    (Array.isArray(value) && value.every((one) => isSchema(one, dialect))),
  dependencies: (value, dialect) =>
    isObject(value) && Object.values(value).every((one) => isSchema(one, dialect) || isTexts(one)),
  'schema-or-boolean': (value) => isObject(value) || typeof value === 'boolean',
  count: isCount,
  number: (value) => typeof value === 'number',
  'number-or-boolean': (value) => typeof value === 'number' || typeof value === 'boolean',
  positive: (value) => typeof value === 'number' && value > 0,
  boolean: (value) => typeof value === 'boolean',
  texts: isTexts,
  'texts-map': (value) => isObject(value) && Object.values(value).every(isTexts),
  types: (value) =>
    typeNames.has(value) ||
    (Array.isArray(value) && value.length > 0 && value.every((one) => typeNames.has(one))),
  values: (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= apiDocumentLimits.enumMax,
  value: () => true,
  pattern: (value) => typeof value === 'string',
  format: (value) => typeof value === 'string',
};

/** Why the keyword cannot be compiled; '' where it can. */
export function keywordFault(kind: KeywordKind, value: unknown, dialect: Dialect): string {
  if (kind === 'values' && Array.isArray(value) && value.length > apiDocumentLimits.enumMax) {
    return `has more than ${apiDocumentLimits.enumMax} entries`;
  }
  if (!shapes[kind](value, dialect)) return 'has a value that this keyword cannot have';
  // The compiler leaves this name out.
  if (kind === 'schema-map' && Object.hasOwn(value as object, '__proto__')) {
    return 'names a property __proto__';
  }
  if (kind === 'pattern') return patternFault(value as string);
  if (kind === 'pattern-map') {
    return (
      Object.keys(value as object)
        .map(patternFault)
        .find((one) => one !== '') ?? ''
    );
  }
  return '';
}

function patternFault(pattern: string): string {
  const found = linearPattern(pattern);
  return 'problem' in found ? found.problem : '';
}

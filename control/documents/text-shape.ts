/** How the text of a parameter or a form field is to be read before its check. */

import type { ApiScalar, ApiTextShape } from '../../engine/contract/api-checks.ts';
import { isObject, listOf, objectOf, targetOf, textOf, type JsonObject } from './pointer.ts';

const scalars: readonly ApiScalar[] = ['integer', 'number', 'boolean', 'null', 'string'];
type Kind = ApiScalar | 'array' | 'object';
const everything: ReadonlySet<Kind> = new Set<Kind>([...scalars, 'array', 'object']);

/** The shape that a schema asks for; `unread` where a text could be read in several ways. */
export function textShape(document: unknown, schema: unknown): ApiTextShape {
  const kinds = kindsOf(document, schema, 0);
  const plain = orderedScalars(kinds);
  const typed = kinds.size < everything.size;
  if (!typed) return { kind: 'scalar', types: scalars };
  if (kinds.has('array') || kinds.has('object')) {
    // A text that may also be one value cannot be told from a list of one.
    if (plain.some((one) => one !== 'null') || (kinds.has('array') && kinds.has('object'))) {
      return { kind: 'unread' };
    }
    return kinds.has('array') ? arrayShape(document, schema) : objectShape(document, schema);
  }
  return plain.length === 0 ? { kind: 'unread' } : { kind: 'scalar', types: plain };
}

/** Whether only objects are valid, whatever their properties are. */
export function isObjectOnly(document: unknown, schema: unknown): boolean {
  const kinds = kindsOf(document, schema, 0);
  return kinds.has('object') && kinds.size === 1;
}

function arrayShape(document: unknown, schema: unknown): ApiTextShape {
  if (memberOf(document, schema, 'prefixItems', 0) !== undefined) return { kind: 'unread' };
  const items = oneScalar(document, memberOf(document, schema, 'items', 0));
  return items === null ? { kind: 'unread' } : { kind: 'array', items };
}

function objectShape(document: unknown, schema: unknown): ApiTextShape {
  const properties: Record<string, ApiScalar> = {};
  for (const [name, one] of Object.entries(propertiesOf(document, schema, 0))) {
    const scalar = oneScalar(document, one);
    if (scalar === null) return { kind: 'unread' };
    Object.defineProperty(properties, name, { value: scalar, enumerable: true });
  }
  const more = memberOf(document, schema, 'additionalProperties', 0);
  const additional = isObject(more) ? oneScalar(document, more) : 'string';
  return additional === null ? { kind: 'unread' } : { kind: 'object', properties, additional };
}

/** The one way to read a text as this schema asks; null where there are several or none. */
function oneScalar(document: unknown, schema: unknown): ApiScalar | null {
  if (schema === undefined || schema === true) return 'string';
  const kinds = kindsOf(document, schema, 0);
  if (kinds.size === everything.size) return 'string';
  if (kinds.has('array') || kinds.has('object')) return null;
  const found = orderedScalars(kinds).filter((one) => one !== 'null');
  if (found.includes('number'))
    return found.length <= 2 && !found.includes('string') ? 'number' : null;
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** Whole numbers before numbers; what reads as both is the first. */
function orderedScalars(kinds: ReadonlySet<Kind>): ApiScalar[] {
  return scalars.filter((one) => kinds.has(one));
}

/** Every property that a schema names, those of its parts included. */
export function propertiesOf(document: unknown, schema: unknown, depth: number): JsonObject {
  if (!isObject(schema) || depth > 16) return {};
  if (typeof schema['$ref'] === 'string') {
    const target = targetOf(document, schema['$ref']);
    const behind = 'pointer' in target ? propertiesOf(document, target.value, depth + 1) : {};
    return { ...behind, ...objectOf(schema['properties']) };
  }
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listOf(schema[keyword]));
  const found = parts.map((one) => propertiesOf(document, one, depth + 1));
  return Object.assign({}, ...found, objectOf(schema['properties'])) as JsonObject;
}

/** A keyword of a schema, found through references and in `allOf`, `anyOf` and `oneOf`. */
function memberOf(document: unknown, schema: unknown, keyword: string, depth: number): unknown {
  if (!isObject(schema) || depth > 16) return undefined;
  if (schema[keyword] !== undefined && schema['$ref'] === undefined) return schema[keyword];
  if (typeof schema['$ref'] === 'string') {
    const target = targetOf(document, schema['$ref']);
    return 'pointer' in target ? memberOf(document, target.value, keyword, depth + 1) : undefined;
  }
  for (const part of ['allOf', 'anyOf', 'oneOf'].flatMap((name) => listOf(schema[name]))) {
    const found = memberOf(document, part, keyword, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Types of the values that a schema can accept. */
function kindsOf(document: unknown, schema: unknown, depth: number): ReadonlySet<Kind> {
  if (!isObject(schema) || depth > 16) return everything;
  if (typeof schema['$ref'] === 'string') {
    const target = targetOf(document, schema['$ref']);
    return 'pointer' in target ? kindsOf(document, target.value, depth + 1) : everything;
  }
  let kinds: ReadonlySet<Kind> = typesOf(schema) ?? everything;
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (Array.isArray(values)) kinds = both(kinds, new Set(values.flatMap(kindOfValue)));
  for (const one of listOf(schema['allOf'])) kinds = both(kinds, kindsOf(document, one, depth + 1));
  for (const keyword of ['anyOf', 'oneOf']) {
    const options = listOf(schema[keyword]);
    if (options.length === 0) continue;
    const any = options.flatMap((one) => [...kindsOf(document, one, depth + 1)]);
    kinds = both(kinds, new Set(any));
  }
  return kinds;
}

function typesOf(schema: JsonObject): ReadonlySet<Kind> | undefined {
  const { type } = schema;
  if (type === undefined) return undefined;
  const names = (Array.isArray(type) ? type : [type]).map(textOf) as Kind[];
  const found = new Set(names.filter((one) => everything.has(one)));
  if (found.has('number')) found.add('integer');
  if (schema['nullable'] === true || schema['x-nullable'] === true) found.add('null');
  return found.size === 0 ? undefined : found;
}

function both(one: ReadonlySet<Kind>, other: ReadonlySet<Kind>): ReadonlySet<Kind> {
  return new Set([...one].filter((kind) => other.has(kind)));
}

function kindOfValue(value: unknown): Kind[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number')
    return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return typeof value === 'object' ? ['object'] : [typeof value as Kind];
}

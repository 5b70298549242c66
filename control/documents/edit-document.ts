/** Changes of one operation of a document, and the part of it that requests are made by. Pure. */

import { invalidField, refusal } from '../domain/errors.ts';
import { isObject, listOf, objectOf, resolved, textOf, type JsonObject } from './pointer.ts';

const requestKeys = ['summary', 'description', 'parameters', 'requestBody', 'consumes'];
/** Those of every version but Swagger, which has no `trace`. */
const usualMethods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
const methodNames = [...usualMethods, 'trace', 'query'];

/** The request part of an operation, with the parameters of its path. */
export function requestPart(document: JsonObject, pointer: string): JsonObject {
  const { operation, item } = operationAt(document, pointer);
  const own = listOf(operation['parameters']);
  const names = new Set(own.map((one) => nameOf(document, one)));
  const inherited = listOf(item['parameters']).filter((one) => !names.has(nameOf(document, one)));
  const shown = Object.fromEntries(
    requestKeys.flatMap((key) => (operation[key] === undefined ? [] : [[key, operation[key]]])),
  );
  const parameters = [...inherited, ...own].map((one) => expand(document, one));
  const body = operation['requestBody'];
  return {
    ...shown,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: expand(document, body) }),
    ...(document['swagger'] === undefined
      ? {}
      : { consumes: operation['consumes'] ?? document['consumes'] ?? [] }),
  };
}

/** The document with another request part of one operation. Errors: invalid_argument. */
export function editOperation(
  document: JsonObject,
  pointer: string,
  request: JsonObject,
): JsonObject {
  const stray = Object.keys(request).find((key) => !requestKeys.includes(key));
  if (stray !== undefined) {
    throw invalidField('requestJson', `may hold ${requestKeys.join(', ')} and nothing else`);
  }
  const copy = structuredClone(document) as Record<string, unknown>;
  const { operation, item } = operationAt(copy, pointer);
  const shared = listOf(item['parameters']);
  // Parameters of the path go to its operations, so that this one may leave them out.
  for (const method of methodNames) {
    const other = item[method];
    if (!isObject(other) || other === operation) continue;
    const own = listOf(other['parameters']);
    const names = new Set(own.map((one) => nameOf(copy, one)));
    const added = shared.filter((one) => !names.has(nameOf(copy, one)));
    if (added.length > 0) set(other, 'parameters', [...added, ...own]);
  }
  set(item, 'parameters', undefined);
  for (const key of requestKeys) set(operation, key, request[key]);
  return copy;
}

/**
 * The document whose operation at `pointer` takes a JSON body of `schema`; null where it says
 * something of the body already: that stays as it is.
 */
export function withRequestBody(
  document: JsonObject,
  pointer: string,
  schema: JsonObject,
): JsonObject | null {
  const copy = structuredClone(document) as Record<string, unknown>;
  const { operation, item } = operationAt(copy, pointer);
  if (copy['swagger'] === undefined) {
    if (operation['requestBody'] !== undefined) return null;
    set(operation, 'requestBody', { content: { 'application/json': { schema } } });
    return copy;
  }
  const own = listOf(operation['parameters']);
  const all = [...own, ...listOf(item['parameters'])].map((one) => expand(copy, one));
  if (all.some((one) => one['in'] === 'body' || one['in'] === 'formData')) return null;
  set(operation, 'parameters', [...own, { name: 'body', in: 'body', schema }]);
  if (operation['consumes'] === undefined) set(operation, 'consumes', ['application/json']);
  return copy;
}

/** True where a document has an operation at a path, for whatever host. */
export function hasOperation(document: JsonObject, path: string, method: string): boolean {
  const item = objectOf(objectOf(document['paths'])[path === '' ? '/' : path]);
  return expand(document, item)[method.toLowerCase()] !== undefined;
}

/** The document without one operation. */
export function removeOperation(document: JsonObject, pointer: string): JsonObject {
  const copy = structuredClone(document) as Record<string, unknown>;
  const { item, name } = operationAt(copy, pointer);
  const more = objectOf(item['additionalOperations']);
  set(item[name] === undefined ? more : item, name, undefined);
  return copy;
}

/**
 * The document, or a new one, with one more operation that declares nothing but its path. Methods
 * beside the usual ones have a place in OpenAPI 3.2 only. Errors: failed_precondition.
 */
export function withOperation(
  document: JsonObject | null,
  path: string,
  method: string,
): JsonObject {
  const usual = [...usualMethods, 'trace'].includes(method.toLowerCase());
  const start = document ?? {
    openapi: usual ? '3.0.3' : '3.2.0',
    info: { title: 'API catalog', version: '1' },
    paths: {},
  };
  const place = placeOf(textOf(start['openapi']), method.toLowerCase());
  if (place === null) {
    const problem = 'documents of the version in use have no place for its method';
    throw refusal('failed_precondition', `assetId: ${problem}`);
  }
  const copy = structuredClone(start) as Record<string, unknown>;
  const paths = { ...objectOf(copy['paths']) } as Record<string, unknown>;
  const swagger = copy['swagger'] !== undefined;
  const parameters = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true },
    ...(swagger ? { type: 'string' } : { schema: { type: 'string' } }),
  }));
  const operation = {
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: { default: { description: 'Any answer.' } },
  };
  const name = path === '' ? '/' : path;
  const item = objectOf(paths[name]);
  const others = { ...objectOf(item['additionalOperations']), [method]: operation };
  paths[name] =
    place === 'item'
      ? { ...item, [method.toLowerCase()]: operation }
      : { ...item, additionalOperations: others };
  copy['paths'] = paths;
  return copy;
}

/** Where a path item has a method: in a field of its own, or among the additional ones. */
function placeOf(openapi: string, name: string): 'item' | 'additional' | null {
  if (usualMethods.includes(name)) return 'item';
  // Swagger has the usual ones only.
  if (openapi === '') return null;
  if (name === 'trace') return 'item';
  if (!openapi.startsWith('3.2.')) return null;
  return name === 'query' ? 'item' : 'additional';
}

function operationAt(document: JsonObject, pointer: string) {
  const at = pointer.lastIndexOf('/');
  const name = pointer
    .slice(at + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
  const place = pointer.slice(0, at).replace(/\/additionalOperations$/, '');
  const operation = objectAt(document, pointer);
  return { operation, item: objectAt(document, place), name };
}

function objectAt(document: JsonObject, pointer: string): JsonObject {
  const found = resolved(document, { $ref: `#${encodeURI(pointer)}` }, pointer);
  if ('value' in found && isObject(found.value)) return found.value;
  throw invalidField('operationKey', 'leads nowhere in the document');
}

function nameOf(document: JsonObject, parameter: unknown): string {
  const found = expand(document, parameter);
  return `${textOf(found['in'])} ${textOf(found['name'])}`;
}

function expand(document: JsonObject, value: unknown): JsonObject {
  const found = resolved(document, value, '');
  return 'value' in found ? objectOf(found.value) : {};
}

/** Writes into a copy. */
function set(target: JsonObject, name: string, value: unknown): void {
  const own = target as Record<string, unknown>;
  if (value === undefined) delete own[name];
  else own[name] = value;
}

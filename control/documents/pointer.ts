/** JSON pointers (RFC 6901) into a document: making them, and following local references. */

import { apiDocumentLimits } from '../limits/api-document-limits.ts';

/** A JSON object as documents hold it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for an object that is no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object, or an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The list, or an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text, or ''. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `pointer` with one more step. */
export function below(pointer: string, ...names: readonly (string | number)[]): string {
  return names.reduce<string>(
    (path, name) => `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`,
    pointer,
  );
}

/** The value at a pointer; undefined where there is none. Inherited members are never found. */
export function valueAt(document: unknown, pointer: string): unknown {
  if (pointer === '') return document;
  let value = document;
  for (const step of pointer.slice(1).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) {
      if (!/^(?:0|[1-9][0-9]*)$/.test(name)) return undefined;
      value = value[Number(name)];
    } else if (isObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value;
}

/** Where a reference leads, or why it leads nowhere. */
export type Target =
  | { readonly pointer: string; readonly value: unknown }
  | { readonly problem: string; readonly code: 'external_ref' | 'broken_ref' };

/** Follows the reference text `ref` once. Nothing outside of the document is ever fetched. */
export function targetOf(document: unknown, ref: string): Target {
  if (!ref.startsWith('#')) {
    return { code: 'external_ref', problem: 'refers outside of the document: it is not fetched' };
  }
  let pointer: string;
  try {
    pointer = decodeURIComponent(ref.slice(1));
  } catch {
    // Not a URI fragment: the answer names it.
    return { code: 'broken_ref', problem: 'is no reference' };
  }
  const value = pointer === '' || pointer.startsWith('/') ? valueAt(document, pointer) : undefined;
  if (value === undefined) return { code: 'broken_ref', problem: 'leads nowhere in the document' };
  return { pointer, value };
}

/** Follows references until something else comes. */
export function resolved(document: unknown, value: unknown, pointer: string): Target {
  let found = { pointer, value };
  for (let hops = 0; ; hops++) {
    const ref = isObject(found.value) ? found.value['$ref'] : undefined;
    if (typeof ref !== 'string') return found;
    if (hops >= apiDocumentLimits.referenceHopsMax) {
      return { code: 'broken_ref', problem: 'is a reference that leads back to itself' };
    }
    const next = targetOf(document, ref);
    if ('problem' in next) return next;
    found = next;
  }
}

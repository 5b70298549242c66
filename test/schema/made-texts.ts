/**
 * Writes values as texts of a query, path, header, cookie, form or multipart body, by the style
 * and explode that a document names (OpenAPI 3.1, section 4.8.12; RFC 6570).
 */

import { faultsOf, isNullable, members, plainSchema, typeOf } from './made-values.ts';
import type { Part, Value } from './made-values.ts';

const escape = encodeURIComponent;

/** How a parameter or a field of a form is laid out. */
export interface Layout {
  readonly name: string;
  readonly style: string;
  readonly explode: boolean;
}

/** Names and texts in turn of an object; the items of a list; the one text of a scalar. */
function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, one]) => [name, String(one)]);
  }
  return [String(value)];
}

function pairsOf(value: unknown): [string, string][] {
  return Object.entries(value as Part).map(([name, one]) => [name, String(one)]);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value in a path, by simple, label or matrix. */
export function inPath({ name, style, explode }: Layout, value: unknown): string {
  const joined = isObject(value) && explode;
  const texts = joined
    ? pairsOf(value).map(([key, text]) => `${escape(key)}=${escape(text)}`)
    : textsOf(value).map(escape);
  if (style === 'label') return `.${texts.join(explode ? '.' : ',')}`;
  if (style !== 'matrix') return texts.join(',');
  if (joined) return texts.map((text) => `;${text}`).join('');
  if (explode && Array.isArray(value)) return texts.map((text) => `;${name}=${text}`).join('');
  return `;${name}=${texts.join(',')}`;
}

/** A value in a query, or in a form: pairs that `&` joins. */
export function inQuery({ name, style, explode }: Layout, value: unknown): string[] {
  if (style === 'deepObject') {
    return pairsOf(value).map(([key, text]) => `${name}[${escape(key)}]=${escape(text)}`);
  }
  if (isObject(value) && explode) {
    return pairsOf(value).map(([key, text]) => `${escape(key)}=${escape(text)}`);
  }
  const texts = textsOf(value).map(escape);
  if (Array.isArray(value) && explode) return texts.map((text) => `${name}=${text}`);
  const between = { spaceDelimited: '%20', pipeDelimited: '%7C' }[style] ?? ',';
  return [`${name}=${texts.join(between)}`];
}

/** A value in a header. */
export function inHeader({ explode }: Layout, value: unknown): string {
  if (!isObject(value) || !explode) return textsOf(value).join(',');
  return pairsOf(value)
    .map((pair) => pair.join('='))
    .join(',');
}

/** Faults of a value that its text shows: there is no null in it, and every text is a text. */
export function textFaults(document: Part, raw: Part, layout: Layout): Value[] {
  return faultsOf(document, raw).filter(({ fault, value }) => {
    if (fault === 'an extra member' && layout.explode && layout.style === 'form') return false;
    // Dots part the items of such a list, and nothing is no segment of a path.
    const dotted = layout.style === 'label' && layout.explode && Array.isArray(value);
    if (dotted && value.some((one) => String(one).includes('.'))) return false;
    if (layout.style === 'simple' && value === '') return false;
    return isShown(document, plainSchema(document, raw), value);
  });
}

function isShown(document: Part, schema: Part, value: unknown): boolean {
  const type = typeOf(schema);
  if (type === 'array') {
    if (!Array.isArray(value) || value.length === 0) return false;
    const items = plainSchema(document, schema['items'] as Part);
    return value.every((one) => isPlain(one) && isTyped(items, one));
  }
  if (type === 'object') {
    if (!isObject(value) || Object.keys(value as Part).length === 0) return false;
    return Object.entries(value as Part).every(([name, one]) => {
      const own = members(schema)[name] ?? schema['additionalProperties'];
      const typed = typeof own !== 'object' || isTyped(plainSchema(document, own as Part), one);
      return isPlain(one) && typed;
    });
  }
  return isPlain(value) && isTyped(schema, value);
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object';
}

/** A number is a text, too; nothing is null to some. */
function isTyped(schema: Part, value: unknown): boolean {
  if (value === '' && isNullable(schema)) return false;
  return typeOf(schema) === 'string' ? typeof value === 'string' : true;
}

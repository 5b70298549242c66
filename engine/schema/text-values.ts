/**
 * How texts of a request become values that a check can look at: scalars by their declared types,
 * lists and objects of scalars. Decides nothing: a text that is not of its type stays a text, and
 * the check refuses it.
 */

import type { ApiScalar } from '../contract/api-checks.ts';
import { numberOf } from './exact-number.ts';

/** An object whose names are the client's: it inherits nothing. */
export type PlainObject = Record<string, unknown>;

const wholeNumber = /^-?(?:0|[1-9][0-9]{0,30})$/;
const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** What a text is as a scalar of a type; the text itself where it is none. */
export function scalarOf(text: string, type: ApiScalar): unknown {
  switch (type) {
    case 'integer':
      return wholeNumber.test(text) ? numberOf(text) : text;
    case 'number':
      return number.test(text) && text.length <= 64 ? numberOf(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'null':
      return text === 'null' || text === '' ? null : text;
    default:
      return text;
  }
}

/** A list of scalars. */
export function listOf(texts: readonly string[], items: ApiScalar): unknown[] {
  return texts.map((text) => scalarOf(text, items));
}

/** What an object's properties are read as. */
export interface ObjectShape {
  readonly properties: Readonly<Record<string, ApiScalar>>;
  readonly additional: ApiScalar;
}

/** An object of scalars; null where a name comes twice. */
export function objectOf(
  entries: readonly (readonly [name: string, text: string])[],
  { properties, additional }: ObjectShape,
): PlainObject | null {
  const object = Object.create(null) as PlainObject;
  for (const [name, text] of entries) {
    if (name in object) return null;
    object[name] = scalarOf(text, Object.hasOwn(properties, name) ? properties[name]! : additional);
  }
  return object;
}

/** Names and texts in turn (`a,1,b,2`); null where one is left over. */
export function entriesOf(texts: readonly string[]): [name: string, text: string][] | null {
  if (texts.length % 2 !== 0) return null;
  const entries: [string, string][] = [];
  for (let at = 0; at < texts.length; at += 2) entries.push([texts[at]!, texts[at + 1]!]);
  return entries;
}

/** Names and texts that `=` joins; null where one has none. */
export function joinedEntries(texts: readonly string[]): [name: string, text: string][] | null {
  const entries: [string, string][] = [];
  for (const text of texts) {
    const equals = text.indexOf('=');
    if (equals < 0) return null;
    entries.push([text.slice(0, equals), text.slice(equals + 1)]);
  }
  return entries;
}

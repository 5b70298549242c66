/**
 * Takes the text of a parameter apart by its style and explode (OpenAPI 3, RFC 6570; Swagger's
 * collection formats map to them). Delimiters count before decoding, escaped ones are data, but
 * for spaceDelimited and pipeDelimited, whose delimiters travel escaped.
 */

import type { ApiParameter, ApiTextShape } from '../contract/api-checks.ts';
import { decodeForm, decodePercent, fromUtf8 } from './pairs.ts';
import { readPlainJson } from './plain-json.ts';
import {
  entriesOf,
  joinedEntries,
  listOf,
  objectOf,
  scalarOf,
  type ObjectShape,
} from './text-values.ts';

/** What a text may mean, of which one has to be valid; or the keyword of what is wrong with it. */
export type Reading = { readonly values: readonly unknown[] } | { readonly fault: string };

/** How a parameter, or a field of a form, is laid out. */
export type Layout = Pick<ApiParameter, 'style' | 'explode' | 'shape'>;

/** How a place decodes the texts in it. */
export type Decoder = (text: string) => string | null;

/** Texts of headers are not escaped. */
export const decoders: Readonly<Record<ApiParameter['in'], Decoder>> = {
  path: decodePercent,
  query: decodeForm,
  header: fromUtf8,
  cookie: decodePercent,
};

const duplicate: Reading = { fault: 'duplicate' };
const encoding: Reading = { fault: 'encoding' };
const styleFault: Reading = { fault: 'style' };

/** Shapes whose values come in a name each, or several of one name. */
export function isSpread({ style, explode, shape }: Layout): boolean {
  return shape.kind === 'object' && (style === 'deepObject' || (style === 'form' && explode));
}

/**
 * The property of the object `name` that a name of a query or form is: `filter[a]` is `a`, and an
 * exploded one is its own name. Null for other names; undefined for what origins read differently,
 * the bare name beside `filter[a]` and deeper ones.
 */
export function spreadProperty(
  name: string,
  style: ApiParameter['style'],
  { properties }: ObjectShape,
  key: string,
): string | null | undefined {
  if (style !== 'deepObject') return Object.hasOwn(properties, key) ? key : null;
  if (key === name) return undefined;
  if (!key.startsWith(`${name}[`)) return null;
  const property = key.slice(name.length + 1, -1);
  return key.endsWith(']') && !/[[\]]/.test(property) ? property : undefined;
}

/** What all texts of one name mean; there is one text at least. */
export function readTexts(
  name: string,
  layout: Layout,
  raws: readonly string[],
  decode: Decoder,
): Reading {
  const { style, explode, shape } = layout;
  if (shape.kind === 'array' && explode && isOnePerName(style)) {
    const texts = decodeAll(raws, decode);
    return texts === null ? encoding : { values: [listOf(texts, shape.items)] };
  }
  if (raws.length > 1) return duplicate;
  const raw = raws[0]!;
  if (shape.kind === 'scalar') return readScalar(name, style, raw, shape.types, decode);
  if (shape.kind === 'json') return readJsonText(decode(raw));
  if (shape.kind === 'unread') return { values: [] };
  const texts = splitText(name, layout, raw, decode);
  if (!Array.isArray(texts)) return texts;
  if (shape.kind === 'array') return { values: [listOf(texts, shape.items)] };
  const joined = explode && (style === 'simple' || style === 'label' || style === 'matrix');
  return readEntries(joined ? joinedEntries(texts) : entriesOf(texts), shape);
}

/** An object of names and texts that came one by one. */
export function readEntries(
  entries: readonly (readonly [name: string, text: string])[] | null,
  shape: ObjectShape,
): Reading {
  if (entries === null) return styleFault;
  const object = objectOf(entries, shape);
  return object === null ? duplicate : { values: [object] };
}

function isOnePerName(style: ApiParameter['style']): boolean {
  return style === 'form' || style === 'spaceDelimited' || style === 'pipeDelimited';
}

function readScalar(
  name: string,
  style: ApiParameter['style'],
  raw: string,
  types: Extract<ApiTextShape, { kind: 'scalar' }>['types'],
  decode: Decoder,
): Reading {
  const bare = withoutPrefix(name, style, raw);
  if (bare === null) return styleFault;
  const text = decode(bare);
  if (text === null) return encoding;
  if (types.length === 1) return { values: [scalarOf(text, types[0]!)] };
  return { values: types.map((type) => scalarOf(text, type)) };
}

/** The text of a label or matrix parameter without what marks it; null where that is missing. */
function withoutPrefix(name: string, style: ApiParameter['style'], raw: string): string | null {
  if (style === 'label') return raw.startsWith('.') ? raw.slice(1) : null;
  if (style !== 'matrix') return raw;
  const prefix = `;${name}`;
  if (raw === prefix) return '';
  return raw.startsWith(`${prefix}=`) ? raw.slice(prefix.length + 1) : null;
}

function readJsonText(text: string | null): Reading {
  if (text === null) return encoding;
  const read = readPlainJson(Buffer.from(text, 'utf8'));
  return 'fault' in read ? read : { values: [read.value] };
}

/** The texts that delimiters part, decoded. */
function splitText(name: string, layout: Layout, raw: string, decode: Decoder): string[] | Reading {
  const { style, explode, shape } = layout;
  if (style === 'spaceDelimited' || style === 'pipeDelimited') {
    const text = decode(raw);
    return text === null ? encoding : text.split(style === 'spaceDelimited' ? ' ' : '|');
  }
  let pieces: string[];
  if (style === 'matrix' && explode) {
    if (!raw.startsWith(';')) return styleFault;
    pieces = raw.slice(1).split(';');
    if (shape.kind === 'array') {
      if (pieces.some((piece) => !piece.startsWith(`${name}=`))) return styleFault;
      pieces = pieces.map((piece) => piece.slice(name.length + 1));
    }
  } else {
    const bare = withoutPrefix(name, style, raw);
    if (bare === null) return styleFault;
    pieces = bare.split(style === 'label' && explode ? '.' : ',');
  }
  return (
    decodeAll(
      pieces.map((piece) => (decode === fromUtf8 ? piece.trim() : piece)),
      decode,
    ) ?? encoding
  );
}

function decodeAll(raws: readonly string[], decode: Decoder): string[] | null {
  const texts: string[] = [];
  for (const raw of raws) {
    const text = decode(raw);
    if (text === null) return null;
    texts.push(text);
  }
  return texts;
}

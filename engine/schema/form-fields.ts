/** Makes the object that a form's check looks at, out of its pairs or parts. */

import type { ApiField, ApiMedia } from '../contract/api-checks.ts';
import type { ArrayNames } from '../contract/array-names.ts';
import { isUtf8 } from 'node:buffer';
import { isListed } from './media-type.ts';
import type { FormPart } from './multipart-parts.ts';
import { OriginNames, type Grouped } from './origin-names.ts';
import { decodeForm, fromUtf8, readPairs } from './pairs.ts';
import {
  isSpread,
  readEntries,
  readTexts,
  spreadProperty,
  type Decoder,
  type Reading,
} from './parameter-reading.ts';
import type { PlainObject } from './text-values.ts';

/** How a field is read that the document does not describe. */
const plainField: ApiField = {
  style: 'form',
  explode: true,
  allowReserved: false,
  shape: { kind: 'scalar', types: ['string'] },
  contentTypes: [],
  repeats: false,
  file: false,
};

/** How a list is read that the document does not describe; a check of scalars refuses it. */
const plainList: ApiField = {
  ...plainField,
  shape: { kind: 'array', items: 'string' },
  repeats: true,
};

const asIs: Decoder = (text) => text;

/** The names of a form, as the site's origin reads them. */
export function formNames(by: ArrayNames, { fields = {} }: ApiMedia): OriginNames {
  const names = Object.entries(fields).flatMap(([name, { style, explode, shape }]) => {
    const spread = style === 'form' && explode && shape.kind === 'object';
    return spread ? [name, ...Object.keys(shape.properties)] : [name];
  });
  return new OriginNames(by, names);
}

const asSent = new OriginNames('none', []);

/** The object of a form-encoded body. */
export function readForm(media: ApiMedia, body: Buffer, names: OriginNames = asSent): Reading {
  const pairs = readPairs(body.latin1Slice());
  if (pairs === null) return { fault: 'size' };
  const named: [string, string][] = [];
  for (const { name, raw } of pairs) {
    if (name === null) return { fault: 'encoding' };
    named.push([name, raw]);
  }
  const grouped = names.group(named);
  const { byName, written } = grouped;
  if (!areAsWritten(media, names, grouped)) return { fault: 'style' };
  const object = Object.create(null) as PlainObject;
  const fault = addSpread(media, byName, object);
  if (fault !== null) return { fault };
  for (const [name, raws] of byName) {
    const field = fieldOf(media, name, written.has(name));
    const read = readTexts(name, field, raws, decodeForm);
    if ('fault' in read) return read;
    const problem = put(object, name, read.values);
    if (problem !== null) return { fault: problem };
  }
  return { values: [object] };
}

/** The object of a multipart body. A file stands as ''. */
export function readMultipart(
  media: ApiMedia,
  parts: readonly FormPart[],
  names: OriginNames = asSent,
): Reading {
  const grouped = names.group(parts.map((part) => [part.name, part] as const));
  const { byName, written } = grouped;
  if (!areAsWritten(media, names, grouped)) return { fault: 'style' };
  const object = Object.create(null) as PlainObject;
  for (const [name, same] of byName) {
    const field = fieldOf(media, name, written.has(name));
    const wrongType = same.some(
      ({ contentType }) => contentType !== '' && !isListed(field.contentTypes, contentType),
    );
    if (wrongType) return { fault: 'contentType' };
    const problem = addParts(object, name, field, same);
    if (problem !== null) return { fault: problem };
  }
  return { values: [object] };
}

function addParts(
  object: PlainObject,
  name: string,
  field: ApiField,
  parts: readonly FormPart[],
): string | null {
  if (field.file) {
    object[name] = field.repeats ? parts.map(() => '') : '';
    return parts.length > 1 && !field.repeats ? 'duplicate' : null;
  }
  if (parts.some(({ isFile }) => isFile)) {
    // Origins give files to other code than fields.
    if (field !== plainField && field !== plainList) return 'file';
    object[name] = '';
    return null;
  }
  const texts: string[] = [];
  for (const { content } of parts) {
    if (!isUtf8(content)) return 'encoding';
    texts.push(content.toString('utf8'));
  }
  if (field.repeats && field.shape.kind !== 'array') {
    const values = texts.map((text) => readTexts(name, field, [text], asIs));
    const broken = values.find((one) => 'fault' in one);
    if (broken !== undefined && 'fault' in broken) return broken.fault;
    object[name] = values.flatMap((one) => ('values' in one ? one.values.slice(0, 1) : []));
    return null;
  }
  const read = readTexts(name, field, texts, asIs);
  return 'fault' in read ? read.fault : put(object, name, read.values);
}

/** Whether what the document describes was written as it describes it. */
function areAsWritten<T>(
  { fields = {} }: ApiMedia,
  names: OriginNames,
  { written }: Grouped<T>,
): boolean {
  if (written.size === 0) return true;
  return Object.entries(fields).every(([name, field]) => {
    if (!names.takes(name, written.get(name), field)) return false;
    const { style, explode, shape } = field;
    if (shape.kind !== 'object' || style !== 'form' || !explode) return true;
    return !Object.keys(shape.properties).some((one) => written.has(one));
  });
}

/** Exploded and deep objects: their properties have names of their own, which leave `byName`. */
function addSpread(
  { fields = {} }: ApiMedia,
  byName: Map<string, string[]>,
  object: PlainObject,
): string | null {
  for (const [name, field] of Object.entries(fields)) {
    if (!isSpread(field) || field.shape.kind !== 'object') continue;
    const { shape, style } = field;
    const entries: [string, string][] = [];
    for (const [key, raws] of byName) {
      const property = spreadProperty(name, style, shape, key);
      if (property === undefined) return 'style';
      if (property === null || (property === key && Object.hasOwn(fields, key))) continue;
      byName.delete(key);
      for (const raw of raws) {
        const text = decodeForm(raw);
        if (text === null) return 'encoding';
        entries.push([property, text]);
      }
    }
    // A value of the bare name would stand in for the properties that origins read.
    if (byName.has(name)) return 'style';
    if (entries.length === 0) continue;
    const read = readEntries(entries, shape);
    if ('fault' in read) return read.fault;
    object[name] = read.values[0];
  }
  return null;
}

/** `several`: the origin makes a list of it. */
function fieldOf({ fields, otherFields }: ApiMedia, name: string, several: boolean): ApiField {
  if (fields !== undefined && Object.hasOwn(fields, name)) return fields[name]!;
  const field = otherFields ?? plainField;
  return several && field.shape.kind === 'scalar' ? plainList : field;
}

/** Readings of one field cannot be tried for the whole form: the first that is no text counts. */
function put(object: PlainObject, name: string, values: readonly unknown[]): string | null {
  if (values.length === 0) return 'unread';
  object[name] = values.find((value) => typeof value !== 'string') ?? values[0];
  return null;
}

/** Text of a body in UTF-8; null where it is none. */
export function textOf(body: Buffer): string | null {
  return fromUtf8(body.latin1Slice());
}

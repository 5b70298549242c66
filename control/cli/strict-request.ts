/**
 * Reads the JSON of a request that an operator hands in: strict JSON, strict protobuf JSON. What
 * could be read in two ways is refused, with the place and the name of what is wrong.
 */

import type { DescField, DescMessage, MessageShape } from '@bufbuild/protobuf';
import { AppError } from '../../base/errors.ts';
import { commandLineLimits } from '../limits/command-limits.ts';
import { isObject } from '../documents/pointer.ts';
import { readStrictJson } from '../documents/strict-json.ts';
import { badFlag, readInput } from './input.ts';
import { readMessage } from './show.ts';

/** The message in a file; `-` is standard input. Errors: AppError bad_flag. */
export async function readRequest<S extends DescMessage>(
  schema: S,
  path: string,
): Promise<MessageShape<S>> {
  const name = path === '-' ? 'standard input' : path;
  const value = strictJson(readInput(path, commandLineLimits.requestBytesMax), name);
  if (!isObject(value)) throw badFlag(`${name}: must hold one JSON object, the request`);
  const twice = namedTwice(schema, value);
  if (twice !== '') throw badFlag(`${name}: ${twice} is given twice, in two spellings: keep one`);
  return readMessage(schema, value, name);
}

function strictJson(bytes: Uint8Array, name: string): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badFlag(`${name}: is not UTF-8`);
  }
  try {
    return readStrictJson(text);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw badFlag(error.message.replace(/^source:/, `${name}:`));
  }
}

/** Path of the first field under both of its names, `siteId` and `site_id`; '' for none. */
function namedTwice(schema: DescMessage, value: unknown, path = ''): string {
  if (!isObject(value) || schema.typeName.startsWith('google.protobuf.')) return '';
  const seen = new Set<DescField>();
  for (const [key, one] of Object.entries(value)) {
    const field = schema.fields.find(({ jsonName, name }) => jsonName === key || name === key);
    if (field === undefined) continue;
    const place = `${path}${field.jsonName}`;
    if (seen.has(field)) return place;
    seen.add(field);
    const inner = field.message;
    if (inner === undefined || field.fieldKind === 'map') continue;
    for (const part of Array.isArray(one) ? (one as unknown[]) : [one]) {
      const found = namedTwice(inner, part, `${place}.`);
      if (found !== '') return found;
    }
  }
  return '';
}

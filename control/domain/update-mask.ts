/** Update masks: which fields of a stored record an update replaces. */

import type { DescMessage } from '@bufbuild/protobuf';
import { invalidField } from './errors.ts';

/** A record in the JSON form of its message. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** What a mask may name: field names, and for messages the names inside. */
export type MaskFields = { readonly [field: string]: MaskFields | true };

const pathsMax = 256;

/** What the service sets in records of all kinds. */
const setByService = 'id tenantId revision builtin createdAt updatedAt deletedAt';

/**
 * What masks of a kind may name: all fields of its message, but those that the service sets.
 * `others`: names of further ones, with spaces between.
 */
export function maskOf(schema: DescMessage, others = ''): MaskFields {
  const fixed = `${setByService} ${others}`.split(' ');
  return Object.fromEntries(
    Object.entries(allOf(schema)).filter(([name]) => !fixed.includes(name)),
  );
}

/** All fields; those of messages of ours can be named one by one. Depth: that of the types. */
function allOf(schema: DescMessage): MaskFields {
  return Object.fromEntries(
    schema.fields.map((field) => {
      const isOurs = field.fieldKind === 'message' && field.message.typeName.startsWith('waf.');
      return [field.jsonName, isOurs ? allOf(field.message) : true];
    }),
  );
}

/**
 * The record with the masked fields of `change` in place of its own. A masked field that the change
 * leaves out is cleared. Names may be spelt as in JSON or in proto. Errors: invalid_argument at
 * updateMask for an empty mask or an unknown path.
 */
export function applyMask<T extends object>(
  record: T,
  change: object,
  mask: string,
  fields: MaskFields,
): T {
  let result = record as JsonRecord;
  for (const path of readMask(mask, fields)) result = replaceAt(result, change as JsonRecord, path);
  return result as T;
}

/** The paths of a mask as lists of JSON names. */
export function readMask(mask: string, fields: MaskFields): string[][] {
  const texts = mask.split(',').map((path) => path.trim());
  if (texts.every((text) => text === '')) {
    throw invalidField('updateMask', 'is required: name the fields to change, joined by commas');
  }
  if (texts.length > pathsMax) throw invalidField('updateMask', `has at most ${pathsMax} paths`);
  return texts.map((text, at) => {
    const path = text.split('.').map(toJsonName);
    let here: MaskFields | true | undefined = fields;
    for (const name of path) {
      here = here === true || !Object.hasOwn(here, name) ? undefined : here[name];
      if (here === undefined) {
        throw invalidField('updateMask', `path ${at + 1} names no field that can be changed`);
      }
    }
    return path;
  });
}

function toJsonName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function replaceAt(record: JsonRecord, change: JsonRecord, path: readonly string[]): JsonRecord {
  const [name = '', ...rest] = path;
  const given = change[name];
  const result: Record<string, unknown> = { ...record };
  if (rest.length > 0) {
    const inner = (record[name] ?? {}) as JsonRecord;
    result[name] = replaceAt(inner, (given ?? {}) as JsonRecord, rest);
  } else if (given === undefined) {
    delete result[name];
  } else {
    result[name] = given;
  }
  return result;
}

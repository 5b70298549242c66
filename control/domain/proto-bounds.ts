/** Bounds of numbers, read from the .proto files, for what is no request: manifests, layers. */

import { getOption, hasOption, type DescField, type DescMessage } from '@bufbuild/protobuf';
import { field as fieldRules, Ignore } from '../../proto/gen/buf/validate/validate_pb.ts';
import { invalidField } from './errors.ts';

/** What a number may be, both ends included. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Whether 0 may stand for the default, too. */
  readonly zeroIsDefault: boolean;
}

const knownBounds = new WeakMap<DescField, Bounds | null>();

/** Checks all numbers of a message in its JSON form. Errors: invalid_argument under `at`. */
export function checkBounds(schema: DescMessage, message: object, at: string): void {
  const values: Readonly<Record<string, unknown>> = { ...message };
  for (const field of schema.fields) {
    const bounds = boundsAt(field);
    const value = values[field.jsonName];
    if (bounds === null || value === undefined) continue;
    const { min, max, zeroIsDefault } = bounds;
    const number = Number(value);
    if ((zeroIsDefault && number === 0) || (number >= min && number <= max)) continue;
    const standard = zeroIsDefault ? '; 0 is the default' : '';
    throw invalidField(`${at}.${field.jsonName}`, `must be between ${min} and ${max}${standard}`);
  }
}

/** The bounds of one field. Errors: an assertion where the field has none. */
export function boundsOf(schema: DescMessage, jsonName: string): Bounds {
  const field = schema.fields.find((one) => one.jsonName === jsonName);
  const bounds = field === undefined ? null : boundsAt(field);
  if (bounds === null) throw new Error(`${schema.typeName}.${jsonName} has no bounds`);
  return bounds;
}

function boundsAt(field: DescField): Bounds | null {
  const known = knownBounds.get(field);
  if (known !== undefined) return known;
  const found = hasOption(field, fieldRules) ? readBounds(field) : null;
  knownBounds.set(field, found);
  return found;
}

function readBounds(field: DescField): Bounds | null {
  const { type, ignore } = getOption(field, fieldRules);
  if (type.case !== 'int32' && type.case !== 'int64') return null;
  const { greaterThan, lessThan } = type.value;
  if (greaterThan.case !== 'gte' || lessThan.case !== 'lte') return null;
  return {
    min: Number(greaterThan.value),
    max: Number(lessThan.value),
    zeroIsDefault: ignore === Ignore.IF_ZERO_VALUE,
  };
}

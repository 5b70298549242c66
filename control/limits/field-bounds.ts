/** Reads the bounds that fields have in the .proto files. */

import { getOption, hasOption, type DescField, type DescMessage } from '@bufbuild/protobuf';
import {
  field as fieldRules,
  Ignore,
  type FieldRules,
} from '../../proto/gen/buf/validate/validate_pb.ts';

/** What a number may be, both ends included. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Whether 0 may stand for the default, too. */
  readonly zeroIsDefault: boolean;
}

const knownRules = new WeakMap<DescField, FieldRules | null>();

/** The bounds of one number. Errors: an assertion where the field has none. */
export function boundsOf(schema: DescMessage, jsonName: string): Bounds {
  const field = schema.fields.find((one) => one.jsonName === jsonName);
  const rules = field === undefined ? null : rulesOf(field);
  const bounds = rules === null ? null : numberBounds(rules);
  if (bounds === null) throw new Error(`${schema.typeName}.${jsonName} has no bounds`);
  return bounds;
}

/** The rules of a field; null for none. */
export function rulesOf(field: DescField): FieldRules | null {
  const known = knownRules.get(field);
  if (known !== undefined) return known;
  const found = hasOption(field, fieldRules) ? getOption(field, fieldRules) : null;
  knownRules.set(field, found);
  return found;
}

/** The bounds that rules set for a number; null for none. */
export function numberBounds({ type, ignore }: FieldRules): Bounds | null {
  const isSigned = type.case === 'int32' || type.case === 'int64' || type.case === 'double';
  if (!isSigned && type.case !== 'uint32') return null;
  const { greaterThan, lessThan } = type.value;
  const hasMin = greaterThan.case === 'gte';
  if (!hasMin && (isSigned || lessThan.case !== 'lte')) return null;
  return {
    min: hasMin ? Number(greaterThan.value) : 0,
    max: lessThan.case === 'lte' ? Number(lessThan.value) : Infinity,
    zeroIsDefault: ignore === Ignore.IF_ZERO_VALUE,
  };
}

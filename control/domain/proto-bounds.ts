/** Holds what is no request, such as manifests and layers, to the bounds of the .proto files. */

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import type { FieldRules } from '../../proto/gen/buf/validate/validate_pb.ts';
import { numberBounds, rulesOf } from '../limits/field-bounds.ts';
import { invalidField } from './errors.ts';

/**
 * Checks all numbers, texts and lists of a message in its JSON form, and of what lies in it. Other
 * rules, such as patterns, are left to the checks of each kind. Errors: invalid_argument under
 * `at`. Depth: that of the types.
 */
export function checkBounds(schema: DescMessage, message: object, at: string): void {
  const values: Readonly<Record<string, unknown>> = { ...message };
  for (const field of schema.fields) {
    const value = values[field.jsonName] ?? absentValue(field);
    if (value !== undefined) checkValue(field, rulesOf(field), value, `${at}.${field.jsonName}`);
  }
}

/** A number that is not sent is 0, unless its field tells the two apart. */
function absentValue({ fieldKind, presence }: DescField): 0 | undefined {
  const isZero = fieldKind === 'scalar' && presence === FeatureSet_FieldPresence.IMPLICIT;
  return isZero ? 0 : undefined;
}

function checkValue(field: DescField, rules: FieldRules | null, value: unknown, at: string): void {
  const problem = rules === null ? '' : problemOf(rules, value);
  if (problem !== '') throw invalidField(at, problem);
  if (Array.isArray(value)) {
    const items = rules?.type.case === 'repeated' ? (rules.type.value.items ?? null) : null;
    value.forEach((one, index) => checkValue(field, items, one, `${at}[${index}]`));
    return;
  }
  if (field.fieldKind === 'map' || field.message === undefined) return;
  if (typeof value === 'object' && value !== null) checkBounds(field.message, value, at);
}

/** What is wrong with a value; '' for nothing. */
function problemOf(rules: FieldRules, value: unknown): string {
  const { type } = rules;
  if (type.case === 'string') return textProblem(type.value, value);
  if (type.case === 'repeated' && Array.isArray(value)) {
    return value.length > Number(type.value.maxItems || Infinity)
      ? `has at most ${type.value.maxItems} items`
      : '';
  }
  const bounds = numberBounds(rules);
  if (bounds === null) return '';
  const { min, max, zeroIsDefault } = bounds;
  const number = Number(value);
  if ((zeroIsDefault && number === 0) || (number >= min && number <= max)) return '';
  if (max === Infinity) return `must be at least ${min}`;
  return `must be between ${min} and ${max}${zeroIsDefault ? '; 0 is the default' : ''}`;
}

function textProblem(
  { maxLen, maxBytes }: { readonly maxLen: bigint; readonly maxBytes: bigint },
  value: unknown,
): string {
  if (typeof value !== 'string') return '';
  // A character outside the basic plane has two units.
  const isLong = maxLen > 0n && value.length > maxLen && [...value].length > maxLen;
  if (isLong) return `must be at most ${maxLen} characters`;
  const isLarge = maxBytes > 0n && Buffer.byteLength(value) > maxBytes;
  return isLarge ? `must be at most ${maxBytes} bytes` : '';
}

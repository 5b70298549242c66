/**
 * Says which field of a JSON request is wrong, and what would be right. Uses the parser of the
 * messages itself field by field, so that both always agree. Never repeats a value.
 */

import {
  fromJson,
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonValue,
} from '@bufbuild/protobuf';
import { callLimits } from '../../limits/call-limits.ts';
import type { AppError } from '../../../base/errors.ts';
import { invalidField } from '../../domain/errors.ts';
import { itemsMaxOf } from './request-size.ts';

const strict = { ignoreUnknownFields: false } as const;

/**
 * The error of a request that does not fit its message; null when it fits. Cost: one parse of what
 * fits; field by field, up to the first that is wrong, of what does not.
 */
export function checkJson(message: DescMessage, value: JsonValue): AppError | null {
  return keepsBounds(message, value, 0) && fits(message, value)
    ? null
    : checkMessage(message, value, '', 0);
}

function fits(message: DescMessage, value: JsonValue): boolean {
  try {
    fromJson(message, value, strict);
    return true;
  } catch {
    return false;
  }
}

const leaves = new WeakMap<DescMessage, boolean>();

/** Whether a message has single values only: nothing in it needs a look at bounds. */
function isLeaf(message: DescMessage): boolean {
  const known = leaves.get(message);
  if (known !== undefined) return known;
  const leaf = message.fields.every(
    (field) =>
      field.fieldKind === 'scalar' ||
      field.fieldKind === 'enum' ||
      field.message?.typeName === 'google.protobuf.Timestamp',
  );
  leaves.set(message, leaf);
  return leaf;
}

/** Whether lists and nesting stay below what they may have; false also where the form is wrong. */
function keepsBounds(message: DescMessage, value: JsonValue, depth: number): boolean {
  if (depth > callLimits.jsonDepthMax) return false;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (isLeaf(message)) return true;
  for (const [key, member] of Object.entries(value)) {
    const field = message.fields.find((one) => one.jsonName === key || one.name === key);
    if (field === undefined) return false;
    const inner = innerMessage(field);
    if (field.fieldKind === 'list') {
      if (!Array.isArray(member) || member.length > itemsMaxOf(field)) return false;
      if (inner === null || isLeaf(inner)) continue;
      if (!member.every((item) => keepsBounds(inner, item, depth + 1))) return false;
    } else if (inner !== null && member !== null && field.fieldKind === 'message') {
      if (!keepsBounds(inner, member, depth + 1)) return false;
    } else if (nestingOf(member) > callLimits.jsonDepthMax) return false;
  }
  return true;
}

function checkMessage(
  message: DescMessage,
  value: JsonValue,
  path: string,
  depth: number,
): AppError | null {
  if (depth > callLimits.jsonDepthMax) return invalidField(path, 'is nested too deeply');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return invalidField(path || 'request', 'must be a JSON object');
  }
  for (const [key, member] of Object.entries(value)) {
    const at = path === '' ? shown(key) : `${path}.${shown(key)}`;
    const field = message.fields.find((one) => one.jsonName === key || one.name === key);
    if (field === undefined) {
      const known = message.fields.map((one) => one.jsonName).join(', ');
      const allowed = known === '' ? 'The message has no fields.' : `Allowed: ${known}.`;
      return invalidField(at, `Unknown field "${shown(key)}". ${allowed}`);
    }
    const wrong = member === null ? null : checkField(message, field, member, at, depth);
    if (wrong !== null) return wrong;
  }
  return null;
}

function checkField(
  parent: DescMessage,
  field: DescField,
  value: JsonValue,
  at: string,
  depth: number,
): AppError | null {
  const inner = innerMessage(field);
  if (field.fieldKind === 'list') {
    if (!Array.isArray(value)) return invalidField(at, 'must be a list');
    const itemsMax = itemsMaxOf(field);
    if (value.length > itemsMax) return invalidField(at, `has at most ${itemsMax} items`);
    if (inner === null && tryParse(parent, field, value, at) === null) return null;
    for (const [index, item] of value.entries()) {
      const path = `${at}[${index}]`;
      const wrong =
        inner === null
          ? tryParse(parent, field, [item], path)
          : checkMessage(inner, item, path, depth + 1);
      if (wrong !== null) return wrong;
    }
    return null;
  }
  if (field.fieldKind === 'map' && inner !== null) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return invalidField(at, 'must be a JSON object');
    }
    for (const [key, item] of Object.entries(value)) {
      const wrong = checkMessage(inner, item, `${at}.${shown(key)}`, depth + 1);
      if (wrong !== null) return wrong;
    }
    return null;
  }
  if (inner !== null) return checkMessage(inner, value, at, depth + 1);
  if (field.message !== undefined && nestingOf(value) > callLimits.jsonDepthMax) {
    return invalidField(at, 'is nested too deeply');
  }
  return tryParse(parent, field, value, at);
}

/**
 * The message inside a field; null for scalars, enums and messages with a JSON form of their own.
 */
function innerMessage(field: DescField): DescMessage | null {
  const message = field.message;
  return message === undefined || message.typeName.startsWith('google.protobuf.') ? null : message;
}

function tryParse(
  parent: DescMessage,
  field: DescField,
  value: JsonValue,
  at: string,
): AppError | null {
  try {
    fromJson(parent, { [field.jsonName]: value }, strict);
    return null;
  } catch {
    return invalidField(at, expectation(field));
  }
}

const scalarExpectations: Readonly<Record<number, string>> = {
  1: 'must be a number',
  3: 'must be a whole number, as a decimal string',
  4: 'must be a whole number from 0, as a decimal string',
  5: 'must be a whole number of 32 bits',
  7: 'must be a whole number from 0 of 32 bits',
  8: 'must be true or false',
  9: 'must be text',
  12: 'must be base64',
  13: 'must be a whole number from 0 of 32 bits',
};

const messageExpectations: Readonly<Record<string, string>> = {
  'google.protobuf.Timestamp': 'must be an RFC 3339 time such as 2026-01-31T12:00:00Z',
  'google.protobuf.Duration': 'must be a duration in seconds such as 30s',
  'google.protobuf.Struct': 'must be a JSON object',
};

function expectation(field: DescField): string {
  if (field.enum !== undefined) return `must be one of ${namesOf(field.enum)}`;
  if (field.message !== undefined) {
    return messageExpectations[field.message.typeName] ?? 'has the wrong form';
  }
  if (field.fieldKind === 'map') return 'must be a JSON object of texts';
  return scalarExpectations[field.scalar ?? 0] ?? 'has the wrong type';
}

function namesOf(desc: DescEnum): string {
  return desc.values
    .filter(({ number }) => number !== 0)
    .map(({ name }) => name)
    .join(', ');
}

/** A key that can be shown without repeating text from outside at length. */
function shown(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(key) ? key : 'a field';
}

function nestingOf(value: JsonValue, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > callLimits.jsonDepthMax) return depth;
  let deepest = depth;
  for (const member of Object.values(value)) {
    deepest = Math.max(deepest, nestingOf(member as JsonValue, depth + 1));
  }
  return deepest;
}

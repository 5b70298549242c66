/** Reads a part of a manifest as an API message; errors name the field and its words. */

import {
  fromJson,
  toJson,
  type DescField,
  type DescMessage,
  type JsonValue,
} from '@bufbuild/protobuf';
import { invalid } from './manifest-fields.ts';

/** The message in its JSON form. Errors: manifest_invalid that names the field below `field`. */
export function readAsMessage(
  schema: DescMessage,
  value: unknown,
  where: string,
  field: string,
): JsonValue {
  try {
    return toJson(schema, fromJson(schema, value as JsonValue));
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\s+/g, ' ').slice(0, 200) : '';
    throw invalid(where, unreadableField(schema, value, field) ?? `${field}: ${reason}`);
  }
}

/** The first field that cannot be read, and why; null when each can. Depth: that of the types. */
export function unreadableField(schema: DescMessage, value: unknown, at: string): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  for (const [name, part] of Object.entries(value)) {
    const place = `${at}.${name}`;
    const field = schema.fields.find((one) => one.jsonName === name || one.name === name);
    if (field === undefined) return `Unknown field "${place}".`;
    const reason = whyUnreadable(schema, name, part);
    if (reason === null) continue;
    const inner =
      field.fieldKind === 'message' ? unreadableField(field.message, part, place) : null;
    return inner ?? `${place}: ${expectation(field) ?? reason}`;
  }
  return null;
}

function whyUnreadable(schema: DescMessage, name: string, part: unknown): string | null {
  try {
    fromJson(schema, { [name]: part as JsonValue });
    return null;
  } catch (error) {
    if (!(error instanceof Error)) return 'unreadable';
    // The field is named by its place.
    const reason = error.message.replace(/^cannot decode [\w ]*field \S+ from JSON: /, '');
    return reason.replace(/\s+/g, ' ').slice(0, 200);
  }
}

function expectation(field: DescField): string | null {
  const { enum: words } = field;
  if (words === undefined) return null;
  const names = words.values.filter(({ number }) => number !== 0).map(({ name }) => name);
  return `must be one of ${names.join(', ')}`;
}

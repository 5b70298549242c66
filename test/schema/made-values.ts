/**
 * Makes values out of a schema of an API document, by reading the document alone: valid ones, and
 * ones that break one thing. Written apart from the checks, whose code it never uses.
 */

/** A schema, or any other part of a document. */
export type Part = Readonly<Record<string, unknown>>;

/** A value; `fault` is what it breaks, '' for nothing. */
export interface Value {
  readonly fault: string;
  readonly value: unknown;
}

/** How deep values go into optional members; schemas may be endless. */
const deepest = 5;

/** The part that a reference leads to. */
export function follow(document: Part, part: Part): Part {
  const reference = part['$ref'];
  if (typeof reference !== 'string') return part;
  let found: unknown = document;
  for (const name of reference.slice(2).split('/')) {
    const plain = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
    found = (found as Part)[plain];
  }
  return follow(document, found as Part);
}

/** A schema with its references and its `allOf` put together, and the first of its alternatives. */
export function plainSchema(document: Part, raw: Part): Part {
  const schema = follow(document, raw);
  const beside = schema === raw ? {} : { ...raw, $ref: undefined };
  let merged: Part = { ...schema, ...beside };
  for (const one of list(merged['allOf'])) merged = join(merged, plainSchema(document, one));
  const [choice] = [...list(merged['oneOf']), ...list(merged['anyOf'])];
  if (choice === undefined) return merged;
  const chosen = join(merged, plainSchema(document, choice));
  const name = property(merged);
  if (name === '') return chosen;
  const kind = { type: 'string', enum: [choiceName(merged, choice)] };
  const properties = { ...members(chosen), [name]: { ...members(chosen)[name], ...kind } };
  return { ...chosen, properties, required: [...new Set([...names(chosen), name])] };
}

function join(one: Part, other: Part): Part {
  const properties = { ...members(other), ...members(one) };
  const required = [...new Set([...names(one), ...names(other)])];
  return {
    ...other,
    ...one,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** Members that requests have. */
export function members(schema: Part): Record<string, Part> {
  return (schema['properties'] ?? {}) as Record<string, Part>;
}

function names(schema: Part): string[] {
  return (schema['required'] ?? []) as string[];
}

function list(value: unknown): Part[] {
  return Array.isArray(value) ? (value as Part[]) : [];
}

function property(schema: Part): string {
  const discriminator = schema['discriminator'] as { propertyName: string } | undefined;
  return discriminator?.propertyName ?? '';
}

/** The value of the discriminator that chooses an alternative. */
function choiceName(schema: Part, choice: Part): string {
  const reference = String(choice['$ref']);
  const own = reference.slice(reference.lastIndexOf('/') + 1);
  const mapping = ((schema['discriminator'] as Part)['mapping'] ?? {}) as Record<string, string>;
  const found = Object.entries(mapping).find(([, to]) => to === reference || to === own);
  return found === undefined ? own : found[0];
}

const patterns: Readonly<Record<string, readonly [good: string, bad: string]>> = {
  '^[A-Z]{3}-[0-9]{4}$': ['ABC-1234', 'ABC-123'],
  '^[a-z]+$': ['abc', 'ab1'],
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$': ['web-1', 'web-'],
  '^(?:[0-9]{4} ){3}[0-9]{4}$': ['4242 4242 4242 4242', '4242 4242 4242'],
  '^\\+[1-9]\\d{7,14}$': ['+4915112345678', '4915112345678'],
  '^#[0-9a-fA-F]{6}$': ['#00ff7F', '#00ff7'],
};
const formats: Readonly<Record<string, readonly [good: unknown, bad: unknown]>> = {
  uuid: ['3f2504e0-4f89-11d3-9a0c-0305e82c3301', '3f2504e0-4f89-11d3-9a0c'],
  date: ['2026-11-22', '2026-13-22'],
  'date-time': ['2026-11-22T10:00:00Z', '2026-11-22'],
  time: ['10:00:00Z', '25:00:00Z'],
  duration: ['P1DT2H', 'P1D2H'],
  email: ['a@example.com', 'a.example.com'],
  hostname: ['www.example.com', '-www.example.com'],
  ipv4: ['192.0.2.1', '192.0.2.256'],
  ipv6: ['2001:db8::1', '2001:db8::g'],
  uri: ['https://example.com/a', 'example.com a'],
  byte: ['aGVsbG8=', 'aGVsbG8*'],
  'json-pointer': ['/a/b', 'a/b'],
  int32: [7, 2 ** 31],
};

/** One valid value of a request. */
export function validOf(document: Part, raw: Part, depth = 0): unknown {
  const schema = plainSchema(document, raw);
  const { pattern, format, minLength = 1, minItems = 1 } = schema;
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const type = typeOf(schema);
  if (type === 'string') {
    if (typeof pattern === 'string') return patterns[pattern]![0];
    const known = formats[String(format)];
    if (known !== undefined) return known[0];
    return 'v'.repeat(Math.max(1, Number(minLength)));
  }
  if (type === 'integer' || type === 'number') return numberIn(schema);
  if (type === 'boolean') return true;
  if (type === 'array') {
    const first = list(schema['prefixItems']).map((one) => validOf(document, one, depth + 1));
    const { items } = schema;
    const more = items === undefined || items === false ? 0 : Math.max(1, Number(minItems));
    const count = depth > deepest ? Number(schema['minItems'] ?? 0) : more;
    const rest = Array.from({ length: Math.max(0, count - first.length) }, (_, at) =>
      vary(validOf(document, items as Part, depth + 1), at),
    );
    return [...first, ...rest];
  }
  return type === 'object' ? objectOf(document, schema, depth) : null;
}

function objectOf(document: Part, schema: Part, depth: number): Part {
  const required = names(schema);
  const made: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(members(schema))) {
    // Answers have these, requests do not.
    if (isReadOnly(document, part)) continue;
    if (depth > deepest && !required.includes(name)) continue;
    made[name] = validOf(document, part, depth + 1);
  }
  const more = schema['additionalProperties'];
  if (typeof more === 'object' && depth <= deepest) {
    const least = Math.max(1, Number(schema['minProperties'] ?? 1));
    for (let at = 0; at < least; at++) {
      made[`key${'z'.repeat(at)}`] = validOf(document, more as Part, depth + 1);
    }
  }
  return made;
}

function isReadOnly(document: Part, part: Part): boolean {
  return plainSchema(document, part)['readOnly'] === true;
}

/** Further valid values: null where it may be, and no optional member. */
export function otherValid(document: Part, raw: Part): Value[] {
  const schema = plainSchema(document, raw);
  const found: Value[] = [];
  if (isNullable(schema)) found.push({ fault: '', value: null });
  if (typeOf(schema) !== 'object') return found;
  const all = validOf(document, raw) as Part;
  const required = names(schema);
  const kept = Object.entries(all).filter(([name]) => required.includes(name));
  if (Number(schema['minProperties'] ?? 0) <= kept.length) {
    found.push({ fault: '', value: Object.fromEntries(kept) });
  }
  for (const [name, part] of Object.entries(members(schema))) {
    if (name in all && isNullable(plainSchema(document, part))) {
      found.push({ fault: '', value: { ...all, [name]: null } });
    }
  }
  return found;
}

/** Another value of the same kind, so that items differ. */
function vary(value: unknown, at: number): unknown {
  if (typeof value === 'number') return value + at;
  return typeof value === 'string' && /^v+$/.test(value) ? value + 'w'.repeat(at) : value;
}

function numberIn(schema: Part): number {
  const step = Number(schema['multipleOf'] ?? 1);
  const { exclusiveMinimum, maximum } = schema;
  const least = Number(schema['minimum'] ?? (numeric(exclusiveMinimum) ? exclusiveMinimum : 1));
  const found = Math.ceil((least + 1) / step) * step;
  return numeric(maximum) && found > maximum ? Math.floor(maximum / step) * step : found;
}

function numeric(value: unknown): value is number {
  return typeof value === 'number';
}

/** The type of a schema, null apart. */
export function typeOf(schema: Part): string {
  const { type } = schema;
  if (Array.isArray(type)) return String(type.find((one) => one !== 'null'));
  if (type === undefined && schema['properties'] !== undefined) return 'object';
  return type === undefined && Array.isArray(schema['enum'])
    ? typeof schema['enum'][0]
    : String(type);
}

/** Whether null is valid. */
export function isNullable(schema: Part): boolean {
  const { type } = schema;
  const listed = Array.isArray(type) && type.includes('null');
  return schema['nullable'] === true || schema['x-nullable'] === true || listed;
}

/** Every type that a schema takes, of all its alternatives. */
function typesOf(document: Part, raw: Part): string[] {
  const schema = follow(document, raw);
  const options = [...list(schema['oneOf']), ...list(schema['anyOf'])];
  if (options.length > 0) return options.flatMap((one) => typesOf(document, one));
  const plain = plainSchema(document, schema);
  return [...(Array.isArray(plain['type']) ? (plain['type'] as string[]) : []), typeOf(plain)];
}

const samples: Readonly<Record<string, unknown>> = {
  string: 'text',
  integer: 4,
  boolean: true,
  array: [],
  object: {},
};

/** Values that break a schema in one place each. */
export function faultsOf(document: Part, raw: Part, depth = 0): Value[] {
  const schema = plainSchema(document, raw);
  const types = typesOf(document, raw);
  const found: Value[] = [];
  if (types.includes('undefined')) return found;
  if (!isNullable(schema) && !types.includes('null')) found.push({ fault: 'null', value: null });
  for (const [name, value] of Object.entries(samples)) {
    const fits = types.includes(name) || (types.includes('number') && name === 'integer');
    if (!fits) found.push({ fault: `${name} for ${types[0]!}`, value });
  }
  if (types.includes('integer') && !types.includes('number')) {
    found.push({ fault: 'a fraction', value: 4.5 });
  }
  // What breaks one alternative may be another one.
  const options = [...list(schema['oneOf']), ...list(schema['anyOf'])];
  if (options.length > 1 && property(schema) === '') return found;
  if (options.length > 1) {
    const [name, value] = [property(schema), validOf(document, raw) as Part];
    found.push({ fault: 'no such alternative', value: { ...value, [name]: 'none-of-them' } });
  }
  return [...found, ...limitFaults(document, schema, depth)];
}

/** Faults of bounds alone, all of the right type. */
function limitFaults(document: Part, schema: Part, depth: number): Value[] {
  if ('const' in schema) return [{ fault: 'const', value: otherThan([schema['const']]) }];
  if (Array.isArray(schema['enum'])) return [{ fault: 'enum', value: otherThan(schema['enum']) }];
  const type = typeOf(schema);
  if (type === 'string') return stringFaults(schema);
  if (type === 'integer' || type === 'number') return numberFaults(schema);
  if (type === 'array') return arrayFaults(document, schema, depth);
  return type === 'object' ? objectFaults(document, schema, depth) : [];
}

function otherThan(values: readonly unknown[]): unknown {
  return typeof values[0] === 'number' ? 987_654 : 'none-of-them';
}

function stringFaults({ minLength, maxLength, pattern, format }: Part): Value[] {
  const found: Value[] = [];
  if (numeric(minLength) && minLength > 0) {
    found.push({ fault: 'minLength', value: 'v'.repeat(minLength - 1) });
  }
  if (numeric(maxLength)) found.push({ fault: 'maxLength', value: 'v'.repeat(maxLength + 1) });
  if (typeof pattern === 'string') found.push({ fault: 'pattern', value: patterns[pattern]![1] });
  const known = formats[String(format)];
  if (known !== undefined) found.push({ fault: `format ${String(format)}`, value: known[1] });
  return found;
}

function numberFaults(schema: Part): Value[] {
  const { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum, format } = schema;
  const found: Value[] = [];
  if (numeric(minimum)) found.push({ fault: 'minimum', value: minimum - 1 });
  if (numeric(maximum)) found.push({ fault: 'maximum', value: maximum + 1 });
  if (numeric(multipleOf)) found.push({ fault: 'multipleOf', value: multipleOf * 4.5 });
  const low = exclusiveMinimum === true ? minimum : exclusiveMinimum;
  const high = exclusiveMaximum === true ? maximum : exclusiveMaximum;
  if (numeric(low)) found.push({ fault: 'exclusiveMinimum', value: low });
  if (numeric(high)) found.push({ fault: 'exclusiveMaximum', value: high });
  if (format === 'int32') found.push({ fault: 'format int32', value: formats['int32']![1] });
  return found;
}

function arrayFaults(document: Part, schema: Part, depth: number): Value[] {
  const { minItems, maxItems, uniqueItems } = schema;
  const valid = validOf(document, schema, depth) as unknown[];
  const found: Value[] = list(schema['prefixItems']).flatMap((one, at) =>
    faultsOf(document, one, depth + 1).map(({ fault, value }) => ({
      fault: `item ${at}: ${fault}`,
      value: valid.with(at, value),
    })),
  );
  const items = schema['items'] as Part | false | undefined;
  if (items === undefined) return found;
  if (items === false) return [...found, { fault: 'one item more', value: [...valid, 1] }];
  if (depth <= deepest && valid.length > 0) {
    for (const { fault, value } of faultsOf(document, items, depth + 1)) {
      found.push({ fault: `item: ${fault}`, value: [...valid.slice(1), value] });
    }
  }
  if (numeric(minItems) && minItems > 0)
    found.push({ fault: 'minItems', value: valid.slice(0, minItems - 1) });
  if (numeric(maxItems)) {
    const one = validOf(document, items, depth + 1);
    const many = Array.from({ length: maxItems + 1 }, (_, at) => vary(one, at));
    found.push({ fault: 'maxItems', value: many });
  }
  if (uniqueItems === true) found.push({ fault: 'uniqueItems', value: [valid[0], valid[0]] });
  return found;
}

function objectFaults(document: Part, schema: Part, depth: number): Value[] {
  const valid = objectOf(document, schema, depth);
  const found: Value[] = [];
  for (const name of names(schema)) {
    if (!(name in valid)) continue;
    const { [name]: _, ...rest } = valid;
    found.push({ fault: `${name} missing`, value: rest });
  }
  const { additionalProperties: more, minProperties, maxProperties } = schema;
  if (more === false) {
    found.push({ fault: 'an extra member', value: { ...valid, extraMember: 1 } });
  }
  if (depth > deepest) return found;
  if (typeof more === 'object') {
    for (const { fault, value } of faultsOf(document, more as Part, depth + 1)) {
      found.push({ fault: `other: ${fault}`, value: { ...valid, key: value } });
    }
    const one = validOf(document, more as Part, depth + 1);
    const many = Array.from({ length: Number(maxProperties) + 1 }, (_, at) => [`key${at}`, one]);
    if (numeric(maxProperties))
      found.push({ fault: 'maxProperties', value: Object.fromEntries(many) });
    if (numeric(minProperties)) found.push({ fault: 'minProperties', value: {} });
  }
  for (const [name, needed] of Object.entries(
    (schema['dependentRequired'] ?? {}) as Record<string, string[]>,
  )) {
    const left = Object.entries(valid).filter(([one]) => !needed.includes(one));
    found.push({ fault: `${name} without ${needed.join()}`, value: Object.fromEntries(left) });
  }
  for (const [name, part] of Object.entries(members(schema))) {
    if (!(name in valid)) continue;
    for (const { fault, value } of faultsOf(document, part, depth + 1)) {
      found.push({ fault: `${name}: ${fault}`, value: { ...valid, [name]: value } });
    }
  }
  return found;
}

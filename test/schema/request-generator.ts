/**
 * Makes requests out of an API document, by reading the document alone: valid ones, and ones that
 * break one thing. Written apart from the checks, whose code it never uses.
 */

/** A schema, or any other part of a document. */
export type Part = Readonly<Record<string, unknown>>;

/** A request; what is absent is not sent. */
export interface MadeRequest {
  /** What it breaks; '' for nothing. */
  readonly fault: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

interface Value {
  readonly fault: string;
  readonly value: unknown;
}

/** Every request of a document: for each operation valid ones, then one for each fault. */
export function requestsOf(document: Part): MadeRequest[] {
  const made: MadeRequest[] = [];
  for (const [path, item] of Object.entries(document['paths'] as Record<string, Part>)) {
    for (const [method, operation] of Object.entries(item)) {
      if (method !== 'parameters') made.push(...requestsFor(document, path, method, operation));
    }
  }
  return made;
}

function requestsFor(document: Part, path: string, method: string, raw: unknown): MadeRequest[] {
  const operation = raw as Part;
  const parameters = ((operation['parameters'] ?? []) as Part[]).map((one) =>
    follow(document, one),
  );
  const body = bodyOf(document, operation);
  const valid = { parameters: new Map<Part, Value>(), body: null as Value | null };
  for (const one of parameters) {
    valid.parameters.set(one, { fault: '', value: validOf(document, schemaOf(one)) });
  }
  if (body !== null) valid.body = { fault: '', value: validOf(document, body.schema) };
  const send = (change: typeof valid, fault: string): MadeRequest =>
    write(path, method, change.parameters, body, change.body, fault);
  const made = [send(valid, '')];
  const optional = new Map(valid.parameters);
  for (const one of parameters) if (one['required'] !== true) optional.delete(one);
  made.push(send({ ...valid, parameters: optional }, ''));
  for (const one of parameters) {
    const name = `${String(one['in'])} ${String(one['name'])}`;
    if (one['required'] === true && one['in'] !== 'path') {
      const without = new Map(valid.parameters);
      without.delete(one);
      made.push(send({ ...valid, parameters: without }, `${name}: missing`));
    }
    for (const broken of textFaults(document, schemaOf(one))) {
      const changed = new Map(valid.parameters).set(one, broken);
      made.push(send({ ...valid, parameters: changed }, `${name}: ${broken.fault}`));
    }
  }
  if (body === null) return made;
  if (body.required) made.push(send({ ...valid, body: null }, 'body: missing'));
  const faults = body.type === 'application/json' ? faultsOf : textFaults;
  for (const broken of faults(document, body.schema)) {
    made.push(send({ ...valid, body: broken }, `body: ${broken.fault}`));
  }
  return made;
}

interface Body {
  readonly type: string;
  readonly schema: Part;
  readonly required: boolean;
}

function bodyOf(document: Part, operation: Part): Body | null {
  const body = operation['requestBody'] as Part | undefined;
  if (body === undefined) return null;
  const [type, media] = Object.entries(body['content'] as Record<string, Part>)[0]!;
  const schema = follow(document, media['schema'] as Part);
  return { type, schema, required: body['required'] === true };
}

function schemaOf(parameter: Part): Part {
  return (parameter['schema'] ?? parameter) as Part;
}

function follow(document: Part, part: Part): Part {
  const reference = part['$ref'];
  if (typeof reference !== 'string') return part;
  let found: unknown = document;
  for (const name of reference.slice(2).split('/')) found = (found as Part)[name];
  return follow(document, found as Part);
}

const patterns: Readonly<Record<string, readonly [good: string, bad: string]>> = {
  '^[A-Z]{3}-[0-9]{4}$': ['ABC-1234', 'ABC-123'],
  '^[a-z]+$': ['abc', 'ab1'],
};
const formats: Readonly<Record<string, readonly [good: string, bad: string]>> = {
  uuid: ['3f2504e0-4f89-11d3-9a0c-0305e82c3301', '3f2504e0-4f89-11d3-9a0c'],
  date: ['2026-11-22', '2026-13-22'],
  'date-time': ['2026-11-22T10:00:00Z', '2026-11-22'],
  email: ['a@example.com', 'a.example.com'],
  ipv4: ['192.0.2.1', '192.0.2.256'],
};

/** One valid value. */
function validOf(document: Part, raw: Part): unknown {
  const schema = follow(document, raw);
  const { enum: values, pattern, format, minLength = 1, minItems = 1, items } = schema;
  if (Array.isArray(values)) return values[0];
  const type = typeOf(schema);
  if (type === 'string') {
    if (typeof pattern === 'string') return patterns[pattern]![0];
    if (typeof format === 'string' && format in formats) return formats[format]![0];
    return 'v'.repeat(Math.max(1, Number(minLength)));
  }
  if (type === 'integer' || type === 'number') return numberIn(schema);
  if (type === 'boolean') return true;
  if (type === 'array') {
    const count = Math.max(1, Number(minItems));
    return Array.from({ length: count }, (_, at) => vary(validOf(document, items as Part), at));
  }
  if (type !== 'object') return null;
  const properties = (schema['properties'] ?? {}) as Record<string, Part>;
  return Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [name, validOf(document, part)]),
  );
}

/** Another value of the same kind, so that items differ. */
function vary(value: unknown, at: number): unknown {
  if (typeof value === 'number') return value + at;
  return typeof value === 'string' && /^v+$/.test(value) ? value + 'w'.repeat(at) : value;
}

function numberIn(schema: Part): number {
  const step = Number(schema['multipleOf'] ?? 1);
  const least = Number(schema['minimum'] ?? 1);
  return Math.ceil((least + 1) / step) * step;
}

function typeOf(schema: Part): string {
  const { type } = schema;
  return Array.isArray(type) ? String(type[0]) : String(type);
}

/** Values that break a schema in one place each. */
function faultsOf(document: Part, raw: Part): Value[] {
  const schema = follow(document, raw);
  const type = typeOf(schema);
  const found: Value[] = [];
  const nullable = schema['nullable'] === true || listed(schema['type'], 'null');
  if (!nullable) found.push({ fault: 'null', value: null });
  const others: Record<string, unknown> = {
    string: 'text',
    integer: 4,
    boolean: true,
    array: [],
    object: {},
  };
  for (const [name, value] of Object.entries(others)) {
    const fits = name === type || (type === 'number' && name === 'integer');
    if (!fits) found.push({ fault: `${name} for ${type}`, value });
  }
  if (type === 'integer') found.push({ fault: 'a fraction', value: 4.5 });
  found.push(...limitFaults(document, schema, type));
  return found;
}

function listed(types: unknown, name: string): boolean {
  return Array.isArray(types) && types.includes(name);
}

function limitFaults(document: Part, schema: Part, type: string): Value[] {
  if (Array.isArray(schema['enum'])) return [{ fault: 'enum', value: otherThan(schema['enum']) }];
  if (type === 'string') return stringFaults(schema);
  if (type === 'integer' || type === 'number') return numberFaults(schema);
  if (type === 'array') return arrayFaults(document, schema);
  return type === 'object' ? objectFaults(document, schema) : [];
}

function otherThan(values: readonly unknown[]): unknown {
  return typeof values[0] === 'number' ? 987_654 : 'none-of-them';
}

function stringFaults({ minLength, maxLength, pattern, format }: Part): Value[] {
  const found: Value[] = [];
  if (typeof minLength === 'number' && minLength > 0) {
    found.push({ fault: 'minLength', value: 'v'.repeat(minLength - 1) });
  }
  if (typeof maxLength === 'number') {
    found.push({ fault: 'maxLength', value: 'v'.repeat(maxLength + 1) });
  }
  if (typeof pattern === 'string') found.push({ fault: 'pattern', value: patterns[pattern]![1] });
  if (typeof format === 'string' && format in formats) {
    found.push({ fault: `format ${format}`, value: formats[format]![1] });
  }
  return found;
}

function numberFaults({ minimum, maximum, multipleOf }: Part): Value[] {
  const found: Value[] = [];
  if (typeof minimum === 'number') found.push({ fault: 'minimum', value: minimum - 1 });
  if (typeof maximum === 'number') found.push({ fault: 'maximum', value: maximum + 1 });
  if (typeof multipleOf === 'number')
    found.push({ fault: 'multipleOf', value: multipleOf * 4 + 1 });
  return found;
}

function arrayFaults(document: Part, schema: Part): Value[] {
  const { minItems, maxItems, uniqueItems } = schema;
  const items = schema['items'] as Part;
  const valid = validOf(document, schema) as unknown[];
  const found: Value[] = faultsOf(document, items).map(({ fault, value }) => ({
    fault: `item: ${fault}`,
    value: [...valid.slice(1), value],
  }));
  if (typeof minItems === 'number' && minItems > 0)
    found.push({ fault: 'minItems', value: valid.slice(1) });
  if (typeof maxItems === 'number') {
    const many = Array.from({ length: maxItems + 1 }, (_, at) =>
      vary(validOf(document, items), at),
    );
    found.push({ fault: 'maxItems', value: many });
  }
  if (uniqueItems === true) found.push({ fault: 'uniqueItems', value: [valid[0], valid[0]] });
  return found;
}

function objectFaults(document: Part, schema: Part): Value[] {
  const properties = (schema['properties'] ?? {}) as Record<string, Part>;
  const valid = validOf(document, schema) as Record<string, unknown>;
  const found: Value[] = [];
  for (const name of (schema['required'] ?? []) as string[]) {
    const { [name]: _, ...rest } = valid;
    found.push({ fault: `${name} missing`, value: rest });
  }
  if (schema['additionalProperties'] === false) {
    found.push({ fault: 'an extra member', value: { ...valid, extraMember: 1 } });
  }
  for (const [name, part] of Object.entries(properties)) {
    for (const { fault, value } of faultsOf(document, part)) {
      found.push({ fault: `${name}: ${fault}`, value: { ...valid, [name]: value } });
    }
  }
  return found;
}

/** Faults that a text can have: there is no null in it, and every text is a text. */
function textFaults(document: Part, raw: Part): Value[] {
  const schema = follow(document, raw);
  const type = typeOf(schema);
  // One item and a list of one are the same text.
  const limits = limitFaults(document, schema, type).filter(
    ({ fault, value }) => !fault.endsWith(' for array') && isText(value, type),
  );
  if (type === 'string' || type === 'array' || type === 'object') return limits;
  return [{ fault: 'a word', value: 'word' }, ...limits];
}

/** Lists and objects of texts break where their items do in a way that a text shows. */
function isText(value: unknown, type: string): boolean {
  const parts =
    type === 'array' ? (value as unknown[]) : type === 'object' ? Object.values(value as Part) : [];
  if (type === 'array' && parts.length === 0) return false;
  return parts.every(
    (part) => typeof part === 'number' || (typeof part === 'string' && part !== 'text'),
  );
}

const escape = encodeURIComponent;

function write(
  template: string,
  method: string,
  parameters: ReadonlyMap<Part, Value>,
  body: Body | null,
  content: Value | null,
  fault: string,
): MadeRequest {
  let path = template;
  const query: string[] = [];
  const headers: Record<string, string> = {};
  const cookies: string[] = [];
  for (const [parameter, { value }] of parameters) {
    const name = String(parameter['name']);
    const place = parameter['in'];
    if (place === 'path') path = path.replace(`{${name}}`, inPath(parameter, value));
    else if (place === 'query') query.push(...inQuery(parameter, value));
    else if (place === 'header')
      headers[name] = Array.isArray(value) ? value.join(',') : String(value);
    else cookies.push(`${name}=${escape(String(value))}`);
  }
  if (cookies.length > 0) headers['Cookie'] = cookies.join('; ');
  let text: string | null = null;
  if (body !== null && content !== null) {
    headers['Content-Type'] = body.type;
    text = body.type === 'application/json' ? JSON.stringify(content.value) : form(content.value);
  }
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
  return { fault, method: method.toUpperCase(), target, headers, body: text };
}

function inPath({ name, style = 'simple', explode }: Part, value: unknown): string {
  const texts = (Array.isArray(value) ? value : [value]).map((one) => escape(String(one)));
  if (style === 'label') return `.${texts.join(explode === true ? '.' : ',')}`;
  if (style !== 'matrix') return texts.join(',');
  if (explode === true) return texts.map((text) => `;${String(name)}=${text}`).join('');
  return `;${String(name)}=${texts.join(',')}`;
}

function inQuery({ name, style = 'form', explode = true }: Part, value: unknown): string[] {
  const key = String(name);
  if (style === 'deepObject') {
    return Object.entries(value as Part).map(
      ([part, one]) => `${key}[${part}]=${escape(String(one))}`,
    );
  }
  if (!Array.isArray(value)) return [`${key}=${escape(String(value))}`];
  const texts = value.map((one) => escape(String(one)));
  if (explode === true && style === 'form') return texts.map((text) => `${key}=${text}`);
  const between = { spaceDelimited: '%20', pipeDelimited: '|' }[String(style)] ?? ',';
  return [`${key}=${texts.join(between)}`];
}

function form(value: unknown): string {
  return Object.entries(value as Part)
    .flatMap(([name, one]) =>
      (Array.isArray(one) ? one : [one]).map((item) => [name, item] as const),
    )
    .map(([name, item]) => `${escape(name)}=${escape(String(item))}`)
    .join('&');
}

/**
 * Makes bodies of requests out of an API document, by reading the document alone: JSON, forms,
 * multipart, texts of a length. Written apart from the checks, whose code it never uses.
 */

import { faultsOf, follow, members, otherValid, plainSchema } from './made-values.ts';
import { typeOf, validOf, type Part, type Value } from './made-values.ts';
import { inQuery, textFaults, type Layout } from './made-texts.ts';

/** A body; `fault` is what it breaks, '' for nothing. */
export interface MadeBody {
  readonly fault: string;
  readonly type: string;
  readonly bytes: Buffer;
}

interface Media {
  readonly type: string;
  readonly schema: Part;
  readonly encoding: Record<string, Part>;
}

/** The bodies of an operation, valid ones and others, of every media type. */
export function bodiesOf(
  document: Part,
  operation: Part,
  parameters: readonly Part[],
): { readonly made: readonly MadeBody[]; readonly required: boolean } {
  const { media, required } = mediaOf(document, operation, parameters);
  if (media.length === 0) return { made: [], required };
  const made = media.flatMap((one) => bodiesOfMedia(document, one));
  const other = { fault: 'another media type', type: 'application/x-other' };
  const wrong = { ...other, bytes: Buffer.from('text') };
  // Without a type a body may be anything (RFC 9110, section 8.3).
  const any = media.some(({ type }) => type === 'application/octet-stream');
  const untyped = { ...wrong, fault: any ? '' : 'no media type', type: '' };
  return { made: [...made, wrong, untyped], required };
}

function mediaOf(
  document: Part,
  operation: Part,
  parameters: readonly Part[],
): { readonly media: readonly Media[]; readonly required: boolean } {
  const raw = operation['requestBody'] as Part | undefined;
  if (raw !== undefined) {
    const body = follow(document, raw);
    const content = Object.entries(body['content'] as Record<string, Part>);
    const media = content.map(([type, one]) => ({
      type,
      schema: one['schema'] as Part,
      encoding: (one['encoding'] ?? {}) as Record<string, Part>,
    }));
    return { media, required: body['required'] === true };
  }
  const consumes = (operation['consumes'] ?? document['consumes'] ?? []) as string[];
  const body = parameters.find((one) => one['in'] === 'body');
  if (body !== undefined) {
    const types = consumes.length === 0 ? ['application/json'] : consumes;
    const schema = body['schema'] as Part;
    const media = types.map((type) => ({ type, schema, encoding: {} }));
    return { media, required: body['required'] === true };
  }
  const form = parameters.filter((one) => one['in'] === 'formData');
  if (form.length === 0) return { media: [], required: false };
  return swaggerForm(form, consumes);
}

function swaggerForm(
  form: readonly Part[],
  consumes: readonly string[],
): { readonly media: readonly Media[]; readonly required: boolean } {
  const styles: Readonly<Record<string, string>> = {
    ssv: 'spaceDelimited',
    pipes: 'pipeDelimited',
  };
  const properties: Record<string, Part> = {};
  const encoding: Record<string, Part> = {};
  for (const { name, collectionFormat, in: _, required: __, ...schema } of form) {
    const file = schema['type'] === 'file';
    properties[String(name)] = file ? { type: 'string', format: 'binary' } : schema;
    const style = styles[String(collectionFormat)] ?? 'form';
    encoding[String(name)] = { style, explode: collectionFormat === 'multi' };
  }
  const required = form.filter((one) => one['required'] === true).map((one) => one['name']);
  const schema = { type: 'object', properties, required };
  const media = consumes.map((type) => ({ type, schema, encoding }));
  return { media, required: required.length > 0 };
}

function bodiesOfMedia(document: Part, media: Media): MadeBody[] {
  const { type } = media;
  if (/[/+]json$/.test(type)) return jsonBodies(document, media);
  if (type === 'application/x-www-form-urlencoded') return formBodies(document, media);
  if (type === 'multipart/form-data') return multipartBodies(document, media);
  // Its content is not checked.
  if (/[/+]xml$/.test(type))
    return [{ fault: '', type, bytes: Buffer.from('<pet><id>1</id></pet>') }];
  return textBodies(document, media);
}

function jsonBodies(document: Part, { type, schema }: Media): MadeBody[] {
  const body = ({ fault, value }: Value): MadeBody => ({
    fault,
    type,
    bytes: Buffer.from(JSON.stringify(value)),
  });
  const valid = body({ fault: '', value: validOf(document, schema) });
  const text = valid.bytes.toString();
  const raw = (fault: string, bytes: Buffer): MadeBody => ({ fault, type, bytes });
  return [
    valid,
    { ...valid, type: `${type}; charset=utf-8` },
    ...otherValid(document, schema).map(body),
    ...faultsOf(document, schema).map(body),
    raw('half of it', Buffer.from(text.slice(0, -1))),
    raw('two values', Buffer.from(`${text} ${text}`)),
    raw('not UTF-8', Buffer.from(`${text.slice(0, -1)},"\xff":1}`, 'latin1')),
    raw('a byte order mark', Buffer.from(`\ufeff${text}`)),
    ...(text.startsWith('{"')
      ? [raw('a member twice', Buffer.from(`{"a":1,"a":2,${text.slice(1)}`))]
      : []),
  ];
}

function formBodies(document: Part, { type, schema: raw, encoding }: Media): MadeBody[] {
  const schema = plainSchema(document, raw);
  const fields = members(schema);
  const layout = (name: string): Layout => {
    const own = encoding[name] ?? {};
    const style = (own['style'] as string | undefined) ?? 'form';
    return { name, style, explode: (own['explode'] ?? style === 'form') === true };
  };
  const write = (value: Part): Buffer => {
    const pairs = Object.entries(value).flatMap(([name, one]) => inQuery(layout(name), one));
    return Buffer.from(pairs.join('&'));
  };
  const body = ({ fault, value }: Value): MadeBody => ({
    fault,
    type,
    bytes: write(value as Part),
  });
  const valid = validOf(document, raw) as Part;
  const required = (schema['required'] ?? []) as string[];
  const kept = Object.entries(valid).filter(([name]) => required.includes(name));
  const found = [body({ fault: '', value: valid })];
  if (kept.length > 0) found.push(body({ fault: '', value: Object.fromEntries(kept) }));
  for (const name of required) {
    const { [name]: _, ...rest } = valid;
    found.push(body({ fault: `${name} missing`, value: rest }));
  }
  if (schema['additionalProperties'] === false) {
    found.push(body({ fault: 'an extra member', value: { ...valid, extraMember: 1 } }));
  }
  for (const [name, part] of Object.entries(fields)) {
    for (const { fault, value } of textFaults(document, part, layout(name))) {
      found.push(body({ fault: `${name}: ${fault}`, value: { ...valid, [name]: value } }));
    }
  }
  const text = write(valid).toString();
  const [first] = required;
  if (first !== undefined) {
    const bytes = Buffer.from(`${text}&${first}=%zz`);
    found.push({ fault: 'a broken escape', type, bytes });
  }
  return found;
}

interface MadePart {
  readonly name: string;
  readonly file: boolean;
  readonly type: string;
  readonly text: string;
}

const boundary = 'a-boundary-of-tests';

function multipartBodies(document: Part, { schema: raw, encoding }: Media): MadeBody[] {
  const type = `multipart/form-data; boundary=${boundary}`;
  const schema = plainSchema(document, raw);
  const fields = members(schema);
  const valid = validOf(document, raw) as Part;
  const partsFor = (name: string, value: unknown): MadePart[] => {
    const field = plainSchema(document, fields[name] ?? { type: 'string' });
    const many = Array.isArray(value) ? (value as unknown[]) : [value];
    const items = field['items'] as Part | undefined;
    const one = typeOf(field) === 'array' ? plainSchema(document, items!) : field;
    const own = ((encoding[name]?.['contentType'] as string | undefined) ?? '').split(',')[0]!;
    const json = typeOf(one) === 'object';
    const file = one['format'] === 'binary' || one['contentMediaType'] !== undefined;
    return many.map((each) => ({
      name,
      file,
      type: own === '' && json ? 'application/json' : own.trim(),
      text: json ? JSON.stringify(each) : String(each),
    }));
  };
  const write = (parts: readonly MadePart[]): Buffer => Buffer.from(textOf(parts));
  const partsOf = (value: Part): MadePart[] =>
    Object.entries(value).flatMap(([name, one]) => partsFor(name, one));
  const found: MadeBody[] = [];
  const add = (fault: string, parts: readonly MadePart[]): unknown =>
    found.push({ fault, type, bytes: write(parts) });
  const all = partsOf(valid);
  add('', all);
  for (const name of (schema['required'] ?? []) as string[]) {
    add(
      `${name} missing`,
      all.filter((one) => one.name !== name),
    );
  }
  if (schema['additionalProperties'] === false) {
    add('an extra member', [...all, { name: 'extraMember', file: false, type: '', text: '1' }]);
  }
  for (const [name, part] of Object.entries(fields)) {
    const field = plainSchema(document, part);
    const [first, ...more] = all.filter((one) => one.name === name);
    if (first === undefined) continue;
    const others = all.filter((one) => one.name !== name);
    const json = typeOf(field) === 'object';
    const layout = { name, style: 'form', explode: true };
    const broken = json ? faultsOf(document, part) : textFaults(document, part, layout);
    if (!first.file) {
      // An empty list is no part at all.
      const sent = broken.filter(({ value }) => !(Array.isArray(value) && value.length === 0));
      for (const { fault, value } of sent)
        add(`${name}: ${fault}`, [...others, ...partsFor(name, value)]);
      add(`${name}: a file`, [...others, ...more, { ...first, file: true }]);
    }
    if (encoding[name]?.['contentType'] !== undefined) {
      add(`${name}: another media type`, [...others, ...more, { ...first, type: 'text/x-other' }]);
    }
    if (typeOf(field) !== 'array') add(`${name}: twice`, [...all, first]);
  }
  const text = textOf(all);
  const bad = (fault: string, changed: string): unknown =>
    found.push({ fault, type, bytes: Buffer.from(changed) });
  bad('no last boundary', text.slice(0, -4));
  bad('plain line ends', text.replaceAll('\r\n', '\n'));
  bad('another boundary', text.replaceAll(boundary, 'other'));
  bad('a part without a name', text.replace(/name="[^"]*"/, ''));
  return found;
}

function textOf(parts: readonly MadePart[]): string {
  const texts = parts.map(({ name, file, type, text }) => {
    const fileName = file ? '; filename="a.bin"' : '';
    const typed = type === '' ? '' : `Content-Type: ${type}\r\n`;
    const head = `Content-Disposition: form-data; name="${name}"${fileName}\r\n${typed}`;
    return `--${boundary}\r\n${head}\r\n${text}\r\n`;
  });
  return `${texts.join('')}--${boundary}--\r\n`;
}

/** Of texts and binary content the size alone is checked. */
function textBodies(document: Part, { type, schema: raw }: Media): MadeBody[] {
  const { minLength, maxLength } = plainSchema(document, raw);
  const of = (fault: string, length: number): MadeBody => ({
    fault,
    type,
    bytes: Buffer.from('v'.repeat(length)),
  });
  const found = [of('', Number(minLength ?? 1))];
  if (typeof minLength === 'number' && minLength > 1) found.push(of('minLength', minLength - 1));
  if (typeof maxLength === 'number') found.push(of('maxLength', maxLength + 1));
  return found;
}

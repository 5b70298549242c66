/** What a document says of a request's body, as engines read and check it. */

import { mediaFamily } from '../../base/body-family.ts';
import type {
  ApiBody,
  ApiField,
  ApiMedia,
  ApiParameterStyle,
  ApiTextShape,
} from '../../engine/contract/api-checks.ts';
import type { DocumentOperation, Placed } from './document-model.ts';
import { isJsonType, plainSchema, swaggerSchema, type CheckTools } from './parameter-checks.ts';
import { below, isObject, objectOf, textOf, type JsonObject } from './pointer.ts';
import { isObjectOnly, propertiesOf, textShape } from './text-shape.ts';

/** The body of an operation; undefined where the document says nothing of one. */
export function bodyCheck(tools: CheckTools, operation: DocumentOperation): ApiBody | undefined {
  if (tools.version === '2.0') return swaggerBody(tools, operation);
  if (operation.requestBody === null) return undefined;
  const { value, pointer } = operation.requestBody;
  const media = Object.entries(objectOf(value['content'])).map(([range, one]) =>
    mediaCheck(tools, range, objectOf(one), below(pointer, 'content', range)),
  );
  return { required: value['required'] === true, media, pointer };
}

function mediaCheck(
  tools: CheckTools,
  range: string,
  value: JsonObject,
  pointer: string,
): ApiMedia {
  const { schema } = value;
  const at = below(pointer, 'schema');
  const name = (range.split(';', 1)[0] ?? '').trim().toLowerCase();
  const kind = mediaFamily(name);
  const plain = { range: name, kind, pointer };
  if (schema === undefined) return plain;
  const fault = (problem: string): unknown =>
    tools.report({ pointer: at, keyword: 'schema', problem });
  if (kind === 'json') return { ...plain, ...compiled(tools, schema, at) };
  if (kind === 'form' || kind === 'multipart') {
    const encoding = objectOf(value['encoding']);
    return { ...plain, ...fieldChecks(tools, kind, schema, encoding, at) };
  }
  if (kind === 'xml') fault('describes XML, whose content is not checked');
  else if (name.includes('*')) fault('describes bodies of several media types: it is not checked');
  else return { ...plain, ...sizes(tools, schema, at) };
  return plain;
}

function compiled(tools: CheckTools, schema: unknown, pointer: string): { check?: number } {
  const found = tools.compiler.add(schema, pointer);
  found.faults.forEach(tools.report);
  return found.check === undefined ? {} : { check: found.check };
}

/** Of bodies that are one text: their size. */
function sizes(tools: CheckTools, schema: unknown, pointer: string): Partial<ApiMedia> {
  const plain = plainSchema(tools.document, schema);
  const known = new Set(['type', 'format', 'minLength', 'maxLength', 'contentMediaType']);
  const notes = new Set(['description', 'title', 'example', 'examples', 'default', 'nullable']);
  for (const keyword of Object.keys(plain)) {
    if (known.has(keyword) || notes.has(keyword) || keyword.startsWith('x-')) continue;
    const at = below(pointer, keyword);
    tools.report({ pointer: at, keyword, problem: 'is not checked of bodies that are one text' });
  }
  const bound = (keyword: string): number | undefined =>
    Number.isSafeInteger(plain[keyword]) ? (plain[keyword] as number) : undefined;
  const [minSize, maxSize] = [bound('minLength'), bound('maxLength')];
  return {
    ...(minSize === undefined ? {} : { minSize }),
    ...(maxSize === undefined ? {} : { maxSize }),
  };
}

function fieldChecks(
  tools: CheckTools,
  kind: 'form' | 'multipart',
  schema: unknown,
  encoding: JsonObject,
  pointer: string,
): Partial<ApiMedia> {
  const fields: Record<string, ApiField> = {};
  let read = true;
  for (const [name, property] of Object.entries(propertiesOf(tools.document, schema, 0))) {
    const own = objectOf(encoding[name]);
    const field = kind === 'form' ? formField(tools, property, own) : part(tools, property, own);
    Object.defineProperty(fields, name, { value: field, enumerable: true });
    const at = below(pointer, 'properties', name);
    const problem = fieldProblem(tools, field, property);
    if (problem !== '') tools.report({ pointer: at, keyword: 'properties', problem });
    read &&= problem === '';
  }
  const otherFields = otherField(tools, kind, schema);
  if (otherFields.shape.kind === 'unread') {
    const problem = 'describes fields that can be read from a form in more than one way';
    tools.report({
      pointer: below(pointer, 'additionalProperties'),
      keyword: 'additionalProperties',
      problem,
    });
    read = false;
  }
  // A check over values that cannot all be read would refuse what is valid.
  const check = read ? compiled(tools, schema, pointer) : {};
  return { ...check, fields, otherFields };
}

function fieldProblem(tools: CheckTools, field: ApiField, property: unknown): string {
  if (field.shape.kind === 'unread') return 'can be read from a form in more than one way';
  const plain = plainSchema(tools.document, property);
  const items = plainSchema(tools.document, plain['items']);
  const looked = ['minLength', 'pattern', 'enum', 'const'].some(
    (one) => plain[one] !== undefined || items[one] !== undefined,
  );
  return field.file && looked ? 'is a file, whose content is not checked' : '';
}

function otherField(tools: CheckTools, kind: 'form' | 'multipart', schema: unknown): ApiField {
  const more = plainSchema(tools.document, schema)['additionalProperties'];
  const property = isObject(more) ? more : { type: 'string' };
  return kind === 'form' ? formField(tools, property, {}) : part(tools, property, {});
}

const formStyles = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const;

function formField(tools: CheckTools, property: unknown, encoding: JsonObject): ApiField {
  const style = formStyles.find((one) => one === (encoding['style'] ?? 'form'));
  const shape = textShape(tools.document, property);
  const readable = style !== undefined && (shape.kind !== 'object' || style === 'deepObject');
  return {
    style: style ?? 'form',
    explode: encoding['explode'] === undefined ? style === 'form' : encoding['explode'] === true,
    allowReserved: encoding['allowReserved'] === true,
    shape: readable ? shape : { kind: 'unread' },
    contentTypes: [],
    repeats: shape.kind === 'array' && style === 'form' && encoding['explode'] !== false,
    file: false,
  };
}

function part(tools: CheckTools, property: unknown, encoding: JsonObject): ApiField {
  const plain = plainSchema(tools.document, property);
  const repeats = plain['type'] === 'array';
  const one = repeats ? plain['items'] : property;
  const inner = plainSchema(tools.document, one);
  const file =
    inner['format'] === 'binary' ||
    inner['contentMediaType'] !== undefined ||
    inner['contentEncoding'] !== undefined;
  const types = textOf(encoding['contentType'])
    .split(',')
    .map((type) => type.trim().toLowerCase())
    .filter((type) => type !== '');
  return {
    style: 'form',
    explode: repeats,
    allowReserved: false,
    shape: file ? textual(repeats) : partShape(tools, one, repeats, types),
    contentTypes: types,
    repeats,
    file,
  };
}

function textual(repeats: boolean): ApiTextShape {
  return repeats ? { kind: 'array', items: 'string' } : { kind: 'scalar', types: ['string'] };
}

/** Objects are JSON unless the encoding says something else. */
function partShape(
  tools: CheckTools,
  one: unknown,
  repeats: boolean,
  types: readonly string[],
): ApiTextShape {
  const shape = textShape(tools.document, one ?? {});
  const json = types.length > 0 ? types.every(isJsonType) : isObjectOnly(tools.document, one ?? {});
  if (json) return { kind: 'json' };
  if (shape.kind === 'object' || shape.kind === 'array') return { kind: 'unread' };
  if (!repeats) return shape;
  return textShape(tools.document, { type: 'array', items: one ?? {} });
}

function swaggerBody(tools: CheckTools, operation: DocumentOperation): ApiBody | undefined {
  const { parameters, consumes } = operation;
  const body = parameters.find(({ value }) => value['in'] === 'body');
  const form = parameters.filter(({ value }) => value['in'] === 'formData');
  if (body !== undefined) {
    const ranges = consumes.length === 0 ? ['application/json'] : consumes;
    const { value, pointer } = body;
    const media = ranges.map((range) =>
      mediaCheck(tools, range, { schema: value['schema'] ?? {} }, pointer),
    );
    return { required: value['required'] === true, media, pointer };
  }
  return form.length === 0 ? undefined : swaggerForm(tools, operation, form);
}

function swaggerForm(
  tools: CheckTools,
  { consumes, pointer }: DocumentOperation,
  form: readonly Placed[],
): ApiBody {
  const hasFile = form.some(({ value }) => value['type'] === 'file');
  const usual = hasFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  const known = consumes.filter((one) =>
    ['form', 'multipart'].includes(mediaFamily(one.toLowerCase())),
  );
  const properties: Record<string, unknown> = {};
  const encoding: Record<string, unknown> = {};
  const required: string[] = [];
  for (const { value } of form) {
    const name = textOf(value['name']);
    const file = value['type'] === 'file';
    const schema = file ? { type: 'string', format: 'binary' } : swaggerSchema(value);
    properties[name] = schema;
    encoding[name] = swaggerEncoding(value);
    if (value['required'] === true) required.push(name);
  }
  const schema = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
  const media = (known.length === 0 ? [usual] : known).map((range) =>
    mediaCheck(tools, range, { schema, encoding }, below(pointer, 'parameters')),
  );
  return { required: required.length > 0, media, pointer: below(pointer, 'parameters') };
}

const formFormats: Readonly<Record<string, { style: ApiParameterStyle; explode: boolean }>> = {
  csv: { style: 'form', explode: false },
  multi: { style: 'form', explode: true },
  ssv: { style: 'spaceDelimited', explode: false },
  pipes: { style: 'pipeDelimited', explode: false },
};

function swaggerEncoding(value: JsonObject): JsonObject {
  const format = textOf(value['collectionFormat'] ?? 'csv');
  return { ...(formFormats[format] ?? { style: 'unknown' }) };
}

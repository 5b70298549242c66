/** What a document says of one parameter, as engines read and check it. */

import type { ApiParameter, ApiParameterStyle } from '../../engine/contract/api-checks.ts';
import type { DocumentVersion, Placed } from './document-model.ts';
import { below, isObject, objectOf, resolved, textOf, type JsonObject } from './pointer.ts';
import type { SchemaCompiler } from './schema-compiler.ts';
import type { SchemaFault } from './schema-survey.ts';
import { textShape } from './text-shape.ts';

/** What compiling the parts of an operation needs. */
export interface CheckTools {
  readonly compiler: SchemaCompiler;
  readonly document: JsonObject;
  readonly version: DocumentVersion;
  /** Called with each constraint that is not enforced. */
  readonly report: (fault: SchemaFault) => void;
}

/** Header fields that describe the message: other parts of a document speak of them. */
const ignoredHeaders = new Set(['accept', 'content-type', 'authorization']);
const places = new Set(['path', 'query', 'header', 'cookie']);
const styles: Readonly<Record<string, readonly ApiParameterStyle[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};

/** The parameter; null where it is no parameter that is checked. */
export function parameterCheck(tools: CheckTools, placed: Placed): ApiParameter | null {
  const { value, pointer } = placed;
  const place = textOf(value['in']);
  const fault = (keyword: string, problem: string): unknown =>
    tools.report({ pointer: below(pointer, keyword), keyword, problem });
  if (!places.has(place)) {
    if (place !== 'body' && place !== 'formData') fault('in', 'is a place that is not checked');
    return null;
  }
  const where = place as ApiParameter['in'];
  const name = where === 'header' ? textOf(value['name']).toLowerCase() : textOf(value['name']);
  if (where === 'header' && ignoredHeaders.has(name)) return null;
  const layout = tools.version === '2.0' ? swaggerLayout(value) : openApiLayout(value, where);
  if (layout === null) fault('style', 'is a layout that is not read');
  const found = schemaOf(tools, value, pointer);
  const shape = shapeOf(tools, found);
  const unread = shape.kind === 'unread' || layout === null;
  const checked = unread ? undefined : tools.compiler.add(found.schema, found.pointer);
  checked?.faults.forEach(tools.report);
  if (shape.kind === 'unread') fault('schema', 'can be read from a text in more than one way');
  return {
    name,
    in: where,
    style: layout?.style ?? 'form',
    explode: layout?.explode ?? false,
    allowReserved: value['allowReserved'] === true,
    required: value['required'] === true || where === 'path',
    allowEmptyValue: where === 'query' && value['allowEmptyValue'] === true,
    ...(found.mediaType === undefined ? {} : { mediaType: found.mediaType }),
    shape: unread ? { kind: 'unread' } : shape,
    ...(checked?.check === undefined ? {} : { check: checked.check }),
    pointer,
  };
}

interface Layout {
  readonly style: ApiParameterStyle;
  readonly explode: boolean;
}

function openApiLayout(value: JsonObject, where: ApiParameter['in']): Layout | null {
  const allowed = styles[where] ?? [];
  const style = allowed.find((one) => one === (value['style'] ?? allowed[0]));
  if (style === undefined) return null;
  const explode = value['explode'] ?? style === 'form';
  return { style, explode: explode === true };
}

/** Swagger: how the items of a list stand side by side. */
function swaggerLayout(value: JsonObject): Layout | null {
  const inQuery = value['in'] === 'query' || value['in'] === 'formData';
  switch (value['collectionFormat'] ?? 'csv') {
    case 'csv':
      return { style: inQuery ? 'form' : 'simple', explode: false };
    case 'multi':
      return inQuery ? { style: 'form', explode: true } : null;
    case 'ssv':
      return inQuery ? { style: 'spaceDelimited', explode: false } : null;
    case 'pipes':
      return inQuery ? { style: 'pipeDelimited', explode: false } : null;
    default:
      return null;
  }
}

interface FoundSchema {
  readonly schema: unknown;
  readonly pointer: string;
  /** Of `content`; absent for others. */
  readonly mediaType?: string;
}

function schemaOf({ version }: CheckTools, value: JsonObject, pointer: string): FoundSchema {
  // Swagger writes the keywords of the schema beside the name.
  if (version === '2.0') return { schema: swaggerSchema(value), pointer };
  const content = Object.entries(objectOf(value['content']))[0];
  if (content === undefined) {
    return { schema: value['schema'] ?? {}, pointer: below(pointer, 'schema') };
  }
  const [mediaType, media] = content;
  return {
    schema: objectOf(media)['schema'] ?? {},
    pointer: below(pointer, 'content', mediaType, 'schema'),
    mediaType: mediaType.toLowerCase(),
  };
}

const ownKeys = new Set([
  ...['name', 'in', 'description', 'required', 'allowEmptyValue', 'collectionFormat', 'default'],
]);

/** The schema within a parameter of Swagger 2. */
export function swaggerSchema(value: JsonObject): JsonObject {
  const kept = Object.entries(value).filter(([name]) => !ownKeys.has(name));
  const schema: Record<string, unknown> = Object.fromEntries(kept);
  // A file has no schema.
  if (schema['type'] === 'file') delete schema['type'];
  return schema;
}

function shapeOf({ document }: CheckTools, found: FoundSchema): ApiParameter['shape'] {
  if (found.mediaType === undefined) return textShape(document, found.schema);
  return isJsonType(found.mediaType) ? { kind: 'json' } : { kind: 'unread' };
}

/** Whether a media type is JSON (RFC 6839 for `+json`). */
export function isJsonType(mediaType: string): boolean {
  return /^(?:application|text)\/json$|^[^/]+\/[^/]+\+json$/.test(mediaType);
}

/** The schema that references lead to. */
export function plainSchema(document: JsonObject, schema: unknown): JsonObject {
  const found = resolved(document, schema, '');
  return 'value' in found && isObject(found.value) ? found.value : {};
}

/**
 * Rewrites a schema for the compiler: notes go, patterns become those of RE2, what OpenAPI means by
 * `nullable`, `readOnly` and `discriminator` is spelled out, references get names. What cannot be
 * compiled is left out where the rest then accepts more, never where it would refuse what is valid.
 */

import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { linearPattern } from './linear-pattern.ts';
import { below, isObject, listOf, objectOf, targetOf, textOf, type JsonObject } from './pointer.ts';
import { exactKeywords, keywordsOf, type KeywordKind } from './schema-keywords.ts';
import { isCheckedFormat, type SchemaFault, type SchemaSurvey } from './schema-survey.ts';

/** What a conversion needs of the one who compiles. */
export interface ConvertTools {
  readonly survey: SchemaSurvey;
  /** OpenAPI's own keywords count. */
  readonly openApi: boolean;
  /** Texts of known formats are checked. */
  readonly formats: boolean;
  /** Name of the compiled schema at a pointer. */
  readonly nameOf: (pointer: string) => string;
  readonly report: (fault: SchemaFault) => void;
}

type Mutable = Record<string, unknown>;

/** The schema in the compiler's form. `true` accepts everything. */
export function convertSchema(tools: ConvertTools, schema: unknown, pointer: string): unknown {
  return new Conversion(tools).convert(schema, pointer, new Set(), 0);
}

class Conversion {
  readonly #tools: ConvertTools;

  constructor(tools: ConvertTools) {
    this.#tools = tools;
  }

  /** `readOnly`: names that a request leaves out, known from around this schema. */
  convert(schema: unknown, pointer: string, readOnly: ReadonlySet<string>, depth: number): unknown {
    const { survey, report, nameOf } = this.#tools;
    if (typeof schema === 'boolean') return schema;
    const faults = survey.faultsOf(schema, pointer);
    faults.forEach(report);
    if (!isObject(schema) || depth > apiDocumentLimits.schemaDepthMax) return {};
    const broken = new Set(faults.filter(({ note }) => !note).map(({ keyword }) => keyword));
    const out: Mutable = {};
    if (typeof schema['$ref'] === 'string') {
      const target = targetOf(survey.document, schema['$ref']);
      if ('pointer' in target && !broken.has('$id')) out['$ref'] = nameOf(target.pointer);
      if (survey.dialect !== '2020-12') return out;
    }
    // References inside would be followed from another base.
    if (broken.has('$id') || broken.has('$schema')) return {};
    const leftOut = this.#withoutInexact(schema, pointer, broken);
    const names = this.#readOnlyNames(schema, readOnly, depth);
    const kinds = keywordsOf[survey.dialect];
    for (const [keyword, value] of Object.entries(schema)) {
      const kind = Object.hasOwn(kinds, keyword) ? kinds[keyword] : undefined;
      if (kind === undefined || leftOut.has(keyword)) continue;
      const made = this.#value(kind, keyword, value, below(pointer, keyword), names, depth);
      if (made !== undefined) out[keyword] = made;
    }
    return this.#tools.openApi ? this.#openApi(schema, out, pointer) : out;
  }

  /** Keywords that go because they, or what they rest on, cannot be compiled. */
  #withoutInexact(schema: JsonObject, pointer: string, broken: ReadonlySet<string>): Set<string> {
    const { survey, report } = this.#tools;
    const out = new Set(broken);
    const drop = (keyword: string, reason: string): void => {
      if (out.has(keyword) || schema[keyword] === undefined) return;
      out.add(keyword);
      report({ pointer: below(pointer, keyword), keyword, problem: reason });
    };
    const rests = 'rests on what cannot be compiled';
    for (const keyword of exactKeywords) {
      if (schema[keyword] === undefined || out.has(keyword)) continue;
      const whole = keyword.startsWith('unevaluated');
      const parts = whole ? [schema] : [schema[keyword]].flat();
      if (!parts.every((part) => survey.exact(part))) drop(keyword, rests);
    }
    if (out.has('if')) {
      drop('then', rests);
      drop('else', rests);
    }
    // Without the patterns more properties would count as additional ones.
    if (out.has('patternProperties') || out.has('properties')) drop('additionalProperties', rests);
    if (out.has('items') && survey.dialect !== '2020-12') drop('additionalItems', rests);
    if (out.has('prefixItems')) drop('items', rests);
    if (out.has('contains') || !survey.exact(schema['contains'])) drop('maxContains', rests);
    if (out.has('contains')) drop('minContains', rests);
    if (survey.dialect === 'draft4') {
      if (out.has('maximum')) drop('exclusiveMaximum', rests);
      if (out.has('minimum')) drop('exclusiveMinimum', rests);
    }
    return out;
  }

  #value(
    kind: KeywordKind,
    keyword: string,
    value: unknown,
    pointer: string,
    readOnly: ReadonlySet<string>,
    depth: number,
  ): unknown {
    // Names from around hold for schemas of the same value only.
    const { survey } = this.#tools;
    const same = keyword === 'allOf' || keyword === 'anyOf' || keyword === 'oneOf';
    const around = same ? readOnly : new Set<string>();
    const sub = (one: unknown, at: string): unknown => this.convert(one, at, around, depth + 1);
    switch (kind) {
      case 'schema':
      case 'schema-or-boolean':
        return sub(value, pointer);
      case 'schemas':
        return listOf(value).map((one, at) => sub(one, below(pointer, at)));
      case 'items':
        return Array.isArray(value)
          ? value.map((one: unknown, at) => sub(one, below(pointer, at)))
          : sub(value, pointer);
      case 'schema-map':
        return mapOf(value, (name, one) => [name, sub(one, below(pointer, name))]);
      case 'pattern-map':
        return mapOf(value, (name, one) => [toLinear(name), sub(one, below(pointer, name))]);
      case 'dependencies':
        return mapOf(value, (name, one) => [
          name,
          Array.isArray(one) ? one : sub(one, below(pointer, name)),
        ]);
      case 'pattern':
        return toLinear(textOf(value));
      case 'format':
        if (!this.#tools.formats || !isCheckedFormat(value)) return undefined;
        // Before draft 7 host names were those of RFC 1123.
        return value === 'hostname' && survey.dialect === 'draft4' ? 'hostname-1123' : value;
      case 'texts':
        return listOf(value).filter((name) => !readOnly.has(name as string));
      default:
        return value;
    }
  }

  /** Properties that answers have and requests leave out: they are not required. */
  #readOnlyNames(
    schema: JsonObject,
    around: ReadonlySet<string>,
    depth: number,
  ): ReadonlySet<string> {
    if (!this.#tools.openApi) return around;
    const names = new Set(around);
    const { survey } = this.#tools;
    const follow = (one: unknown): JsonObject => {
      let found = one;
      for (let hops = 0; hops < 8 && isObject(found) && typeof found['$ref'] === 'string'; hops++) {
        if (found['readOnly'] === true) return found;
        const target = targetOf(survey.document, found['$ref']);
        found = 'pointer' in target ? target.value : undefined;
      }
      return objectOf(found);
    };
    const collect = (one: JsonObject, left: number): void => {
      for (const [name, property] of Object.entries(objectOf(one['properties']))) {
        if (follow(property)['readOnly'] === true) names.add(name);
      }
      if (left > 0) for (const part of listOf(one['allOf'])) collect(follow(part), left - 1);
    };
    collect(schema, Math.min(8, apiDocumentLimits.schemaDepthMax - depth));
    return names;
  }

  #openApi(schema: JsonObject, out: Mutable, pointer: string): unknown {
    const nullable = schema['nullable'] === true || schema['x-nullable'] === true;
    if (nullable && this.#tools.survey.dialect === 'draft4') allowNull(out);
    const choice = this.#discriminated(schema, pointer);
    if (choice !== null) {
      delete out['oneOf'];
      delete out['anyOf'];
      out['allOf'] = [...listOf(out['allOf']), choice];
    } else if (schema['discriminator'] !== undefined) this.#reportUnread(schema, pointer);
    return out;
  }

  /** A discriminator that chooses nothing here: of Swagger, of a base, of unnamed alternatives. */
  #reportUnread(schema: JsonObject, pointer: string): void {
    const at = { pointer: below(pointer, 'discriminator'), keyword: 'discriminator' };
    const { report } = this.#tools;
    if (schema['oneOf'] !== undefined || schema['anyOf'] !== undefined) {
      report({ ...at, problem: 'the alternatives are checked without it', note: true });
    } else report({ ...at, problem: 'the schemas that extend this one are not checked for it' });
  }

  /** Alternatives of which one field names the one that counts; null where none does. */
  #discriminated(schema: JsonObject, pointer: string): unknown {
    const property = textOf(objectOf(schema['discriminator'])['propertyName']);
    const keyword = schema['oneOf'] === undefined ? 'anyOf' : 'oneOf';
    const branches = listOf(schema[keyword]).map((one) => textOf(objectOf(one)['$ref']));
    if (property === '' || branches.length === 0 || branches.includes('')) return null;
    const { survey, nameOf, report } = this.#tools;
    const named = new Map<string, string>();
    const mapping = objectOf(objectOf(schema['discriminator'])['mapping']);
    for (const [value, ref] of Object.entries(mapping)) named.set(value, schemaRef(textOf(ref)));
    const mapped = new Set(named.values());
    // A schema without an entry has its own name.
    for (const ref of branches) {
      if (!mapped.has(ref)) named.set(ref.slice(ref.lastIndexOf('/') + 1), ref);
    }
    const options: unknown[] = [];
    for (const [value, ref] of named) {
      const target = targetOf(survey.document, ref);
      if ('problem' in target) {
        const at = below(pointer, 'discriminator', 'mapping', value);
        report({ pointer: at, keyword: 'discriminator', problem: target.problem });
        return null;
      }
      const properties = { [property]: { enum: [value] } };
      options.push({ properties, allOf: [{ $ref: nameOf(target.pointer) }] });
    }
    return { required: [property], anyOf: options };
  }
}

/** A mapping names a schema, or refers to one. */
function schemaRef(text: string): string {
  return /^[A-Za-z0-9._-]+$/.test(text) ? `#/components/schemas/${text}` : text;
}

function allowNull(out: Mutable): void {
  const { type } = out;
  if (typeof type === 'string') out['type'] = [type, 'null'];
  else if (Array.isArray(type) && !type.includes('null')) out['type'] = [...type, 'null'];
}

function toLinear(pattern: string): string {
  const found = linearPattern(pattern);
  return 'source' in found ? found.source : '';
}

function mapOf(
  value: unknown,
  make: (name: string, one: unknown) => readonly [string, unknown],
): Mutable {
  // Names come from documents: `__proto__` is one as any other.
  return Object.fromEntries(Object.entries(objectOf(value)).map(([name, one]) => make(name, one)));
}

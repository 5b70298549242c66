/**
 * Looks through schemas before they are compiled: what cannot be compiled, which references lead
 * where, and whether a schema compiles exactly. Answers are remembered by object. Never changes a
 * schema.
 */

import { textFormats } from '../../base/text-formats.ts';
import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { keywordFault } from './keyword-fault.ts';
import { below, isObject, targetOf, textOf, type JsonObject } from './pointer.ts';
import {
  keywordsOf,
  notedKeywords,
  plainFormats,
  unsupportedKeywords,
  type Dialect,
} from './schema-keywords.ts';

/** A constraint that is not enforced. */
export interface SchemaFault {
  /** Where it stands in the document. */
  readonly pointer: string;
  readonly keyword: string;
  readonly problem: string;
  /** A note for readers: the rest of the schema means the same without. */
  readonly note?: true;
}

/** A schema with its place. */
export interface PlacedSchema {
  readonly schema: unknown;
  readonly pointer: string;
}

interface Unit {
  readonly faults: readonly SchemaFault[];
  readonly refs: readonly string[];
  readonly size: number;
}

/** Knows the schemas of one document. */
export class SchemaSurvey {
  readonly document: unknown;
  readonly dialect: Dialect;
  readonly #units = new Map<object, Unit>();
  readonly #exact = new Map<object, boolean>();
  readonly #byPointer = new Map<string, unknown>();

  constructor(document: unknown, dialect: Dialect) {
    this.document = document;
    this.dialect = dialect;
  }

  /** The schema that a local reference leads to; undefined where it leads nowhere. */
  at(pointer: string): unknown {
    if (!this.#byPointer.has(pointer)) {
      const found = targetOf(this.document, `#${encodeURI(pointer)}`);
      this.#byPointer.set(pointer, 'problem' in found ? undefined : found.value);
    }
    return this.#byPointer.get(pointer);
  }

  /** Whether all of a schema, with all that it refers to, can be compiled. */
  exact(schema: unknown): boolean {
    if (!isObject(schema)) return true;
    const known = this.#exact.get(schema);
    if (known !== undefined) return known;
    const { faults } = this.reach({ schema, pointer: '' });
    const exact = faults.every(({ note }) => note === true);
    this.#exact.set(schema, exact);
    return exact;
  }

  /** Everything that a schema consists of, each referenced schema once. */
  reach(start: PlacedSchema): { readonly faults: readonly SchemaFault[]; readonly size: number } {
    const first = this.#unit(start);
    const faults = [...first.faults];
    let { size } = first;
    const seen = new Set(first.refs);
    // The set grows while it is walked.
    for (const pointer of seen) {
      const unit = this.#unit({ schema: this.at(pointer), pointer });
      size += unit.size;
      faults.push(...unit.faults);
      for (const ref of unit.refs) seen.add(ref);
      if (size > apiDocumentLimits.schemasPerCheckMax) break;
    }
    return { faults, size };
  }

  /** The faults of one schema object, without those of the schemas in it. */
  faultsOf(schema: unknown, pointer: string): readonly SchemaFault[] {
    const faults: SchemaFault[] = [];
    const add = (keyword: string, problem: string): unknown =>
      faults.push({ pointer: below(pointer, keyword), keyword, problem });
    const note = (keyword: string, problem: string): unknown =>
      faults.push({ pointer: below(pointer, keyword), keyword, problem, note: true });
    if (typeof schema === 'boolean') return [];
    if (!isObject(schema)) return [{ pointer, keyword: '', problem: 'is no schema' }];
    const { $ref } = schema;
    if (typeof $ref === 'string') {
      const target = targetOf(this.document, $ref);
      if ('problem' in target) add('$ref', target.problem);
      if (this.dialect !== '2020-12') return faults;
    }
    const kinds = keywordsOf[this.dialect];
    for (const [keyword, value] of Object.entries(schema)) {
      const kind = Object.hasOwn(kinds, keyword) ? kinds[keyword] : undefined;
      if (kind !== undefined) {
        const problem = keywordFault(kind, value, this.dialect);
        if (problem !== '') add(keyword, problem);
        else if (kind === 'format' && !isCheckedFormat(value) && !plainFormats.has(value)) {
          note(keyword, 'is a format that is not checked');
        }
      } else if (unsupportedKeywords.has(keyword)) add(keyword, 'is not compiled');
      else if (notedKeywords.has(keyword)) note(keyword, 'is not checked');
    }
    if (schema['unevaluatedItems'] !== undefined && itemSources.some((one) => one in schema)) {
      add('unevaluatedItems', 'is not compiled beside keywords that evaluate items');
    }
    if (schema['unevaluatedProperties'] !== undefined && hasHalfCondition(schema)) {
      add('unevaluatedProperties', 'is not compiled beside a condition without its consequences');
    }
    const meta = schema['$schema'];
    if (meta !== undefined && !dialectNames[this.dialect].test(textOf(meta))) {
      add('$schema', 'names a dialect that is not compiled');
    }
    const id = schema['$id'] ?? (this.dialect === 'draft4' ? schema['id'] : undefined);
    if (typeof id === 'string' && !id.startsWith('#') && pointer !== '') {
      add('$id', 'gives references another base: they are not followed');
    }
    return faults;
  }

  /** The schemas right below one, with their keywords. References are not followed. */
  *childrenOf(schema: JsonObject, pointer: string): Generator<PlacedSchema & { keyword: string }> {
    if (typeof schema['$ref'] === 'string' && this.dialect !== '2020-12') return;
    const kinds = keywordsOf[this.dialect];
    for (const [keyword, value] of Object.entries(schema)) {
      const kind = Object.hasOwn(kinds, keyword) ? kinds[keyword] : undefined;
      const at = below(pointer, keyword);
      const many = kind === 'schemas' || kind === 'items';
      const named = kind === 'schema-map' || kind === 'pattern-map' || kind === 'dependencies';
      if (many && Array.isArray(value)) {
        for (const [index, one] of value.entries()) {
          yield { keyword, schema: one as unknown, pointer: below(at, index) };
        }
      } else if (named && isObject(value)) {
        for (const [name, one] of Object.entries(value)) {
          if (!Array.isArray(one)) yield { keyword, schema: one, pointer: below(at, name) };
        }
      } else if (kind === 'schema' || kind === 'items' || kind === 'schema-or-boolean') {
        yield { keyword, schema: value, pointer: at };
      }
    }
  }

  #unit({ schema, pointer }: PlacedSchema): Unit {
    if (!isObject(schema)) return { faults: this.faultsOf(schema, pointer), refs: [], size: 1 };
    const known = this.#units.get(schema);
    if (known !== undefined) return known;
    const faults: SchemaFault[] = [];
    const refs = new Set<string>();
    let size = 0;
    const walk = (one: unknown, at: string, depth: number): void => {
      size++;
      faults.push(...this.faultsOf(one, at));
      if (!isObject(one)) return;
      if (typeof one['$ref'] === 'string') {
        const target = targetOf(this.document, one['$ref']);
        if ('pointer' in target) refs.add(target.pointer);
      }
      if (depth > apiDocumentLimits.schemaDepthMax) {
        faults.push({ pointer: at, keyword: '', problem: 'is nested too deeply' });
        return;
      }
      for (const child of this.childrenOf(one, at)) walk(child.schema, child.pointer, depth + 1);
    };
    walk(schema, pointer, 0);
    const unit = { faults, refs: [...refs], size };
    this.#units.set(schema, unit);
    return unit;
  }
}

/** Keywords that the compiler does not count together with `unevaluatedItems`. */
const itemSources = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'contains', 'dependentSchemas'];

/** Names of the dialects; that of OpenAPI 3.1 adds notes. */
const dialectNames: Readonly<Record<Dialect, RegExp>> = {
  draft4: /^http:\/\/json-schema\.org\/draft-04\/schema#?$/,
  draft7: /^http:\/\/json-schema\.org\/draft-07\/schema#?$/,
  '2020-12':
    /^https:\/\/(?:json-schema\.org\/draft\/2020-12\/schema|spec\.openapis\.org\/oas\/.*)#?$/,
};

/** Whether a schema, or one of its parts for the same value, has `if` without `then` and `else`. */
function hasHalfCondition(schema: JsonObject, depth = 0): boolean {
  if (depth > apiDocumentLimits.schemaDepthMax) return true;
  if (schema['if'] !== undefined && (!('then' in schema) || !('else' in schema))) return true;
  const parts = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'not'].flatMap((keyword) => [
    schema[keyword] ?? [],
  ]);
  return parts.flat().some((part) => isObject(part) && hasHalfCondition(part, depth + 1));
}

/** Whether texts of a format are checked. Others are notes to readers. */
export function isCheckedFormat(format: unknown): boolean {
  return typeof format === 'string' && textFormats[format] !== undefined;
}

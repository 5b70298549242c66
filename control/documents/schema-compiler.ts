/**
 * Compiles the schemas of one document into the text of check functions. Equal schemas become one
 * function, referenced ones are compiled once. The text is the same for the same document. Never
 * runs on the thread that answers calls: a large document takes seconds.
 */

import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import type * as AjvPackage from 'ajv';
import type { Ajv, KeywordCxt, Options } from 'ajv';
import { AppError } from '../../base/errors.ts';
import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import { convertSchema } from './schema-convert.ts';
import { compilerFormats } from './compiler-formats.ts';
import { leanChecks, leanPrologue } from './lean-checks.ts';
import type { Dialect } from './schema-keywords.ts';
import { SchemaSurvey, type SchemaFault } from './schema-survey.ts';

// The packages are CommonJS; their types describe another form of export.
const require = createRequire(import.meta.url);
type AjvClass = new (options: Options) => Ajv;
const { _, Name } = require('ajv') as typeof AjvPackage;
const standalone = require('ajv/dist/standalone') as {
  default: (ajv: Ajv, names: Record<string, string>) => string;
};
const classes: Readonly<Record<Dialect, AjvClass>> = {
  draft4: (require('ajv-draft-04') as { default: AjvClass }).default,
  draft7: (require('ajv') as { default: AjvClass }).default,
  '2020-12': (require('ajv/dist/2020') as { default: AjvClass }).default,
};

/** Where exports go, and functions of the engine under the names that the code has for them. */
const prologue =
  '"use strict";const exports={};' +
  'const runtime$unique=runtime.unique;const runtime$multipleOf=runtime.multipleOf;' +
  leanPrologue;

/** How the compiler begins a function; texts of schemas hold no bare quotes. */
const functionStart =
  /function validate\d+\(data, \{instancePath="", [\w, =]+(?:, dynamicAnchors=\{\})?\}=\{\}\)\{/g;

/** Lets each function count its calls. Errors: a function that begins in another way. */
function withCallCounts(code: string): string {
  let counted = 0;
  const text = code.replaceAll(functionStart, (start) => {
    counted++;
    return `${start}runtime.enter();`;
  });
  if (counted !== (code.match(/function validate\d+\([^)]*instancePath=""/g)?.length ?? 0)) {
    throw new Error('a function of the checks does not count its calls');
  }
  return text;
}

/** What became of a schema. */
export interface CompiledSchema {
  /** Index of its function; absent where nothing is checked. */
  readonly check?: number;
  /** Constraints that are not enforced, of all that it refers to. */
  readonly faults: readonly SchemaFault[];
}

/** How schemas are meant. */
export interface CompilerOptions {
  readonly dialect: Dialect;
  /** OpenAPI's own keywords count. */
  readonly openApi: boolean;
  /** Texts of known formats are checked. */
  readonly formats: boolean;
}

/** Compiles the schemas of one document. */
export class SchemaCompiler {
  readonly #survey: SchemaSurvey;
  readonly #options: CompilerOptions;
  readonly #ajv: Ajv;
  readonly #names = new Map<string, string>();
  readonly #waiting: string[] = [];
  readonly #faults = new Map<string, SchemaFault[]>();
  readonly #refs = new Map<string, Set<string>>();
  readonly #compiled = new Map<string, CompiledSchema>();
  #checks = 0;

  constructor(document: unknown, options: CompilerOptions) {
    this.#survey = new SchemaSurvey(document, options.dialect);
    this.#options = options;
    this.#ajv = makeAjv(options.dialect);
  }

  get survey(): SchemaSurvey {
    return this.#survey;
  }

  /** Compiles a schema of the document, or one that was made of its parts at `pointer`. */
  add(schema: unknown, pointer: string): CompiledSchema {
    const key = canonicalJson(schema);
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const made = this.#compile(schema, pointer);
    this.#compiled.set(key, made);
    return made;
  }

  /** The body of a function with the parameter `runtime` that returns all functions by index. */
  code(): string {
    const text = leanChecks(this.plainCode());
    if (text.length > apiDocumentLimits.codeCharactersMax) {
      const message = 'The checks of this document are too large: split the document.';
      throw new AppError('resource_exhausted', message, { source: 'client' });
    }
    // Engines would refuse what it guards if they could not read it.
    compileFunction(text, ['runtime']);
    return text;
  }

  /** As `code`, as the compiler writes it: twice as long. */
  plainCode(): string {
    if (this.#checks === 0) return '';
    const names = Array.from({ length: this.#checks }, (_one, at) => `c${at}`);
    const text = standalone.default(this.#ajv, Object.fromEntries(names.map((one) => [one, one])));
    const code = text
      .replaceAll('require("ajv/dist/runtime/ucs2length").default', 'runtime.length')
      .replaceAll('require("ajv/dist/runtime/equal").default', 'runtime.equal');
    if (/^const \w+ = require\(/m.test(code) || code.includes('= require("ajv')) {
      throw new Error('the code of checks needs a module that engines do not have');
    }
    return `${withCallCounts(code).replace('"use strict";', prologue)}\nreturn [${names
      .map((one) => `exports.${one}`)
      .join(',')}];`;
  }

  #compile(schema: unknown, pointer: string): CompiledSchema {
    const reach = this.#survey.reach({ schema, pointer });
    if (reach.size > apiDocumentLimits.schemasPerCheckMax) {
      const most = apiDocumentLimits.schemasPerCheckMax;
      return {
        faults: [{ pointer, keyword: '', problem: `consists of more than ${most} schemas` }],
      };
    }
    const name = `c${this.#checks}`;
    const converted = this.#convert(name, schema, pointer);
    this.#convertWaiting();
    const faults = this.#faultsFrom(name);
    if (converted === true || isEmpty(converted)) return { faults };
    try {
      this.#ajv.addSchema(converted as object, name);
      void this.#ajv.getSchema(name);
    } catch (error) {
      // What the compiler refuses is one more constraint that is not enforced.
      this.#ajv.removeSchema(name);
      const problem = 'cannot be compiled';
      const keyword = error instanceof Error ? '' : 'unknown';
      return { faults: [...faults, { pointer, keyword, problem }] };
    }
    this.#checks++;
    return { check: this.#checks - 1, faults };
  }

  #convert(name: string, schema: unknown, pointer: string): unknown {
    const faults: SchemaFault[] = [];
    const refs = new Set<string>();
    this.#faults.set(name, faults);
    this.#refs.set(name, refs);
    const nameOf = (target: string): string => {
      const found = this.#nameOf(target);
      refs.add(found);
      return found;
    };
    const { openApi, formats } = this.#options;
    const tools = { survey: this.#survey, openApi, formats, nameOf };
    return convertSchema({ ...tools, report: (fault) => faults.push(fault) }, schema, pointer);
  }

  #nameOf(pointer: string): string {
    const known = this.#names.get(pointer);
    if (known !== undefined) return known;
    const name = `r${this.#names.size}`;
    this.#names.set(pointer, name);
    this.#waiting.push(pointer);
    return name;
  }

  #convertWaiting(): void {
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      const name = this.#nameOf(next);
      const made = this.#convert(name, this.#survey.at(next), next);
      this.#ajv.addSchema(typeof made === 'boolean' ? boolean(made) : (made as object), name);
    }
  }

  #faultsFrom(name: string): SchemaFault[] {
    const seen = new Set([name]);
    // The set grows while it is walked.
    for (const one of seen) for (const ref of this.#refs.get(one) ?? []) seen.add(ref);
    return [...seen].flatMap((one) => this.#faults.get(one) ?? []);
  }
}

/** Draft 4 has no schemas that are booleans. */
function boolean(value: boolean): object {
  return value ? {} : { not: {} };
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function makeAjv(dialect: Dialect): Ajv {
  // Stands in for the function of engines. The compiler tells patterns apart by their text.
  const pattern = Object.assign(
    (source: string) => ({ test: () => true, toString: () => source }) as unknown as RegExp,
    { code: 'runtime.pattern' },
  );
  const ajv = new classes[dialect]({
    strict: false,
    allErrors: false,
    messages: false,
    meta: false,
    validateSchema: false,
    validateFormats: true,
    addUsedSchema: false,
    inlineRefs: false,
    ownProperties: true,
    logger: false,
    // Optimizing halves the speed of compiling and saves 8 % of the text.
    code: { source: true, optimize: false, regExp: pattern, formats: _`runtime.formats` },
    formats: compilerFormats,
  });
  // Takes time linear in the list; the standard one compares each item with each.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword(linear('uniqueItems', 'array', 'boolean', 'runtime.unique'));
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword(linear('multipleOf', 'number', 'number', 'runtime.multipleOf'));
  return ajv;
}

/** A keyword whose check is a function of the engine: (value, schema) to whether it holds. */
function linear(
  keyword: string,
  type: 'array' | 'number',
  schemaType: 'boolean' | 'number',
  code: string,
): { keyword: string; code: (context: KeywordCxt) => void } & Record<string, unknown> {
  const run = new Name(code.replace('.', '$'));
  return {
    keyword,
    type,
    schemaType,
    error: { message: '' },
    code: (context) => {
      if (context.schema === false) return;
      context.fail(_`!${run}(${context.data}, ${context.schema as number})`);
    },
  };
}

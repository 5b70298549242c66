/**
 * Compiles every operation of a document: how its requests are read, the text of its checks, and
 * the constraints that are not enforced. The same document gives the same result.
 */

import type { ApiOperation } from '../../engine/contract/api-checks.ts';
import type { ApiSegment } from '../../engine/contract/api-path.ts';
import { bodyCheck } from './body-checks.ts';
import type { Diagnostic, DocumentModel, DocumentOperation } from './document-model.ts';
import { parameterCheck, type CheckTools } from './parameter-checks.ts';
import { parsePath } from './path-template.ts';
import { textOf } from './pointer.ts';
import { SchemaCompiler } from './schema-compiler.ts';
import type { SchemaFault } from './schema-survey.ts';

/** What a document says of the requests of one operation, without host and base path. */
export type OperationChecks = Pick<
  ApiOperation,
  'parameters' | 'unknownQuery' | 'body' | 'method' | 'pointer'
> & {
  /** Path template of the document. */
  readonly template: string;
  /** Segments of the template alone. */
  readonly path: readonly ApiSegment[];
  /** Constraints that are checked at all, and those that are not. */
  readonly checked: number;
  readonly unchecked: number;
};

/** A compiled document. */
export interface CompiledDocument {
  readonly operations: readonly OperationChecks[];
  readonly code: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** Compiles a document. Cost: about a millisecond a schema. */
export function compileDocument(model: DocumentModel): CompiledDocument {
  const modern = model.version === '3.1' || model.version === '3.2';
  const compiler = new SchemaCompiler(model.document, {
    dialect: modern ? '2020-12' : 'draft4',
    openApi: true,
    formats: true,
  });
  const diagnostics: Diagnostic[] = [];
  const foreign = modern && isForeign(textOf(model.document['jsonSchemaDialect']));
  if (foreign) {
    const message = 'names a dialect that is not compiled: no schema is checked';
    const pointer = '/jsonSchemaDialect';
    diagnostics.push({ severity: 'warning', code: 'unchecked_dialect', pointer, message });
  }
  const operations = model.operations.flatMap((operation) => {
    const made = compileOperation(model, compiler, operation, foreign, diagnostics);
    return made === null ? [] : [made];
  });
  return { operations, code: compiler.code(), diagnostics: firstOf(diagnostics) };
}

function compileOperation(
  model: DocumentModel,
  compiler: SchemaCompiler,
  operation: DocumentOperation,
  foreign: boolean,
  diagnostics: Diagnostic[],
): OperationChecks | null {
  const parsed = parsePath(operation.path);
  if ('problem' in parsed) return null;
  const faults = new Map<string, SchemaFault>();
  const report = (fault: SchemaFault): unknown =>
    faults.set(`${fault.pointer} ${fault.problem}`, fault);
  const { document, version } = model;
  const tools: CheckTools = { compiler, document, version, report };
  const parameters = foreign
    ? []
    : operation.parameters.flatMap((one) => parameterCheck(tools, one) ?? []);
  const body = foreign ? undefined : bodyCheck(tools, operation);
  diagnostics.push(...[...faults.values()].map(toDiagnostic));
  const media = body?.media ?? [];
  return {
    method: operation.method,
    template: operation.path,
    path: parsed.segments,
    parameters,
    unknownQuery: operation.unknownQuery,
    ...(body === undefined ? {} : { body }),
    pointer: operation.pointer,
    checked: parameters.length + media.length + (operation.unknownQuery === 'violation' ? 1 : 0),
    unchecked: [...faults.values()].filter(({ note }) => note !== true).length + (foreign ? 1 : 0),
  };
}

function toDiagnostic({ pointer, keyword, problem, note }: SchemaFault): Diagnostic {
  return {
    severity: note === true ? 'info' : 'warning',
    code: note === true ? 'note' : 'unchecked',
    pointer,
    message: keyword === '' ? problem : `${keyword}: ${problem}`,
  };
}

/** The same fault is met by every operation that refers to its schema. */
function firstOf(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const found = new Map<string, Diagnostic>();
  for (const one of diagnostics) found.set(`${one.pointer} ${one.message}`, one);
  return [...found.values()];
}

function isForeign(name: string): boolean {
  const own = /^https:\/\/(?:json-schema\.org\/draft\/2020-12\/schema|spec\.openapis\.org\/oas\/)/;
  return name !== '' && !own.test(name);
}

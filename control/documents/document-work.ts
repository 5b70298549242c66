/**
 * The work on documents that takes too long for the thread that answers calls: reading, placing and
 * compiling them. Questions and answers are plain data.
 */

import { createHash } from 'node:crypto';
import { canonicalJson } from '../domain/canonical-json.ts';
import { jsonSha256 } from '../domain/documents/operation-control.ts';
import {
  compileDocument,
  type CompiledDocument,
  type OperationChecks,
} from './compile-document.ts';
import { declare, type Declaration, type Mapping } from './declaration.ts';
import type { Diagnostic, DocumentModel } from './document-model.ts';
import { serversOf } from './document-model.ts';
import { sealReport, type ReportedOperation, type SealedReport } from './document-report.ts';
import { modelOf, readDocument, type SourceFormat } from './read-document.ts';
import type { JsonObject } from './pointer.ts';
import type { ProfileArtifact } from './stored-documents.ts';

/** A document that was read before, as JSON, with its places on a site. */
interface PlacedQuestion {
  readonly documentJson: string;
  readonly sourceSha256: string;
  readonly mappings: readonly Mapping[];
}

/** What is asked. */
export type DocumentQuestion =
  | { readonly type: 'read'; readonly bytes: Uint8Array; readonly format: SourceFormat }
  | (PlacedQuestion & { readonly type: 'declare' })
  | (PlacedQuestion & { readonly type: 'compile' });

/** A document that was read. */
export interface ReadAnswer {
  readonly type: 'read';
  /** Canonical JSON of the document. */
  readonly documentJson: string;
  readonly sourceSha256: string;
  readonly family: 'openapi' | 'swagger';
  readonly version: string;
  readonly warnings: number;
  readonly servers: ReturnType<typeof serversOf>;
  readonly report: SealedReport;
}

/** A document with its places. */
export interface DeclareAnswer {
  readonly type: 'declare';
  readonly declaration: Declaration;
  readonly report: SealedReport;
}

/** A compiled document. */
export interface CompileAnswer {
  readonly type: 'compile';
  readonly artifactJson: string;
  readonly artifactSha256: string;
  readonly operations: readonly ReportedOperation[];
  readonly hasChecks: boolean;
  readonly report: SealedReport;
}

/** What is answered. */
export type DocumentAnswer = ReadAnswer | DeclareAnswer | CompileAnswer;

/** Does the work. Errors: AppError document_invalid, resource_exhausted. */
export async function workOnDocument(question: DocumentQuestion): Promise<DocumentAnswer> {
  if (question.type === 'read') return read(question.bytes, question.format);
  const model = modelOf(JSON.parse(question.documentJson) as JsonObject);
  const declaration = declare(model, question.mappings);
  return question.type === 'declare'
    ? { type: 'declare', declaration, report: declarationReport(question, model, declaration) }
    : compile(question, model, declaration);
}

async function read(bytes: Uint8Array, format: SourceFormat): Promise<ReadAnswer> {
  const sourceSha256 = createHash('sha256').update(bytes).digest('hex');
  const model = await readDocument(bytes, format);
  const { operations, diagnostics } = model;
  const report = sealReport({
    stage: 'parse',
    ...about(model, sourceSha256, []),
    operations: operations.map(({ method, path, pointer }) => ({
      ...{ key: '', method, path, pointer },
      state: 'read' as const,
    })),
    diagnostics,
  });
  return {
    type: 'read',
    documentJson: canonicalJson(model.document),
    sourceSha256,
    family: familyOf(model),
    version: model.versionText,
    warnings: diagnostics.filter(({ severity }) => severity !== 'info').length,
    servers: serversOf(model),
    report,
  };
}

function familyOf({ version }: DocumentModel): 'openapi' | 'swagger' {
  return version === '2.0' ? 'swagger' : 'openapi';
}

function about(model: DocumentModel, sourceSha256: string, mappings: readonly Mapping[]) {
  return {
    sourceSha256,
    inputSha256: jsonSha256([sourceSha256, mappings]),
    documentFamily: familyOf(model),
    documentVersion: model.versionText,
  };
}

function declarationReport(
  { sourceSha256, mappings }: PlacedQuestion,
  model: DocumentModel,
  { operations, diagnostics }: Declaration,
): SealedReport {
  const placed = new Set(operations.map(({ pointer }) => pointer));
  const left = model.operations.filter(({ pointer }) => !placed.has(pointer));
  return sealReport({
    stage: 'declaration',
    ...about(model, sourceSha256, mappings),
    operations: [
      ...operations.map(({ key, method, path, pointer }) => ({
        ...{ key, method, path, pointer },
        state: 'declared' as const,
      })),
      ...left.map(({ method, path, pointer }) => ({
        ...{ key: '', method, path, pointer },
        state: 'excluded' as const,
      })),
    ],
    diagnostics: [...model.diagnostics, ...diagnostics],
  });
}

function compile(
  question: PlacedQuestion,
  model: DocumentModel,
  declaration: Declaration,
): CompileAnswer {
  const compiled = compileDocument(model);
  const artifact = artifactOf(declaration, compiled);
  const artifactJson = canonicalJson(artifact);
  const operations = declaration.operations.map(({ key, method, path, pointer }) => {
    const checks = artifact.operations[key];
    const unchecked = checks?.unchecked ?? 1;
    const state = checks === undefined ? 'excluded' : unchecked > 0 ? 'partial' : 'compiled';
    return { key, method, path, pointer, state, checked: checks?.checked ?? 0, unchecked } as const;
  });
  const diagnostics: readonly Diagnostic[] = [
    ...model.diagnostics,
    ...declaration.diagnostics,
    ...compiled.diagnostics,
  ];
  const { sourceSha256, mappings } = question;
  return {
    type: 'compile',
    artifactJson,
    artifactSha256: createHash('sha256').update(artifactJson).digest('hex'),
    operations,
    hasChecks: operations.some(({ checked }) => checked > 0),
    report: sealReport({
      stage: 'profile',
      ...about(model, sourceSha256, mappings),
      operations,
      diagnostics,
    }),
  };
}

function artifactOf(declaration: Declaration, compiled: CompiledDocument): ProfileArtifact {
  const byPlace = new Map<string, OperationChecks>();
  for (const one of compiled.operations) byPlace.set(`${one.template} ${one.pointer}`, one);
  const operations: [string, OperationChecks][] = [];
  for (const { key, path, basePath, pointer } of declaration.operations) {
    const found = byPlace.get(`${path.slice(basePath.length)} ${pointer}`);
    if (found !== undefined) operations.push([key, found]);
  }
  return {
    format: 'waf.api_artifact.v1',
    operations: Object.fromEntries(operations),
    code: compiled.code,
  };
}

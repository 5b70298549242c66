/** The JSON documents in answers of ApiSchemaService, as far as commands read them. */

import type { OperationMode } from './api-modes.ts';

/** `validationJson`: what is wanted of a site. */
export interface Validation {
  readonly intentId: string;
  readonly controlRevision: string;
  readonly snapshotSha256: string;
  readonly contractId: string;
  readonly bindingId: string;
  readonly undeclaredAction: string;
  readonly operations: readonly { readonly key: string; readonly mode: OperationMode }[];
}

/** `declarationJson`: what a document declares on a site. */
export interface Declared {
  readonly operations: readonly { readonly key: string }[];
  readonly scopes: readonly { readonly sha256: string }[];
}

/** `reconciliationJson`: how operations meet the catalog. */
export interface Reconciliation {
  readonly operations: readonly { readonly key: string; readonly state: string }[];
}

/** `profileJson`: the checks of a document. */
export interface Profile {
  readonly operations: readonly {
    readonly key: string;
    readonly checked?: number;
    readonly unchecked?: number;
  }[];
}

/** `bindingsJson`: which operations are validated. */
export interface Bindings {
  readonly profileId: string;
}

/** `changesJson` of a preview. */
export interface ControlChanges {
  readonly removed: readonly string[];
  readonly undeclaredAction: readonly [before: string, after: string];
}

/** `resourcesJson` of a preview. */
export interface ControlResources {
  readonly observed: number;
  readonly enforced: number;
  readonly partial: number;
  readonly artifactBytes: number;
  /** Why nodes cannot carry it out; '' where they can. */
  readonly unsupported: string;
}

/** Something that a report says of a document. */
export interface ReportedDiagnostic {
  readonly severity: string;
  readonly code: string;
  readonly pointer: string;
  readonly message: string;
}

/** `pageJson` of a report. */
export interface DiagnosticsPage {
  readonly items: readonly ReportedDiagnostic[];
  readonly omitted: number;
  readonly nextOffset: number | null;
}

/** `detectionJson` as a summary: counters are decimal. */
export interface DetectionSummary {
  readonly query_start: string;
  readonly query_end: string;
  readonly operations: readonly {
    readonly operation_key: string;
    readonly requests: string;
    readonly valid: string;
    readonly violation: string;
    readonly not_evaluated: string;
  }[];
  readonly fallback: { readonly undeclared: string; readonly other_operations: string };
}

/** The document of a field whose name ends in `Json`. */
export function readAnswer<T>(bytes: Uint8Array): T {
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as T;
}

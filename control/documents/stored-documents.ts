/** The forms of what is stored of a document's way to the engine. Each names its format. */

import type { ApiMode } from '../../engine/contract/api-checks.ts';
import type { OperationChecks } from './compile-document.ts';
import type { Mapping } from './declaration.ts';

/** A reviewed declaration. */
export interface ContractDocument {
  readonly format: 'waf.schema_contract.v1';
  readonly siteId: string;
  readonly sourceId: string;
  readonly sourceSha256: string;
  readonly reportSha256: string;
  readonly mappings: readonly Mapping[];
  readonly scopes: readonly ContractScope[];
  readonly operations: readonly ContractOperation[];
}

/** Part of the site with what was decided of it. */
export interface ContractScope {
  readonly host: string;
  readonly basePath: string;
  readonly sha256: string;
  readonly state: 'partial' | 'authoritative_complete';
}

/** An operation of a reviewed declaration. */
export interface ContractOperation {
  readonly key: string;
  readonly assetId: string;
  readonly method: string;
  readonly host: string;
  readonly basePath: string;
  readonly path: string;
  readonly pointer: string;
  /** Catalog entries that are the same endpoint under another path. */
  readonly aliases: readonly string[];
}

/** What engines need of a profile. */
export interface ProfileArtifact {
  readonly format: 'waf.api_artifact.v1';
  /** By key of the operation in its place. */
  readonly operations: Readonly<Record<string, OperationChecks>>;
  readonly code: string;
}

/** Which operations are validated, and how. */
export interface BindingsDocument {
  readonly format: 'waf.schema_bindings.v1';
  readonly siteId: string;
  readonly declarationId: string;
  readonly declarationSha256: string;
  readonly profileId: string;
  readonly artifactSha256: string;
  readonly acceptPartial: boolean;
  readonly operations: readonly { readonly key: string; readonly mode: Exclude<ApiMode, 'off'> }[];
  /** Selected operations of which not everything is checked. */
  readonly partialOperationKeys: readonly string[];
}

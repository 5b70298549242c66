/**
 * Places the operations of a document on hosts and base paths of a site, and compares them with the
 * catalog. Pure; nothing of any request ever decides here.
 */

import type { ApiSegment } from '../../engine/contract/api-path.ts';
import { jsonSha256 } from '../domain/documents/operation-control.ts';
import type { Diagnostic, DocumentModel, DocumentOperation } from './document-model.ts';
import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { parsePath, pathShape, pathsOverlap } from './path-template.ts';

/** Where operations of a server of the document lie on the site. */
export interface Mapping {
  /** An exact host name, lower case. */
  readonly host: string;
  /** '' or a path that begins with a slash and does not end with one. */
  readonly basePath: string;
  /** Upper case; empty for all. */
  readonly methods: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** A server URL of the document as it is spelled there; '' for all operations. */
  readonly serverUrl: string;
  readonly approved: boolean;
}

/** An operation in its place. */
export interface PlacedOperation {
  readonly key: string;
  readonly method: string;
  readonly host: string;
  readonly basePath: string;
  /** Template with the base path. */
  readonly path: string;
  readonly segments: readonly ApiSegment[];
  /** JSON pointer of the operation in the document. */
  readonly pointer: string;
}

/** Part of the site that the document describes. */
export interface DeclaredScope {
  readonly host: string;
  readonly basePath: string;
  readonly operations: number;
  /** Names the scope with its operations. */
  readonly sha256: string;
}

/** What a document declares on a site. */
export interface Declaration {
  readonly operations: readonly PlacedOperation[];
  readonly scopes: readonly DeclaredScope[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Places every operation that a mapping takes. */
export function declare(model: DocumentModel, mappings: readonly Mapping[]): Declaration {
  const placed = new Map<string, PlacedOperation>();
  const diagnostics: Diagnostic[] = mappings.flatMap((mapping, at) =>
    mappingNotes(model, mapping, at),
  );
  let firstOut: string | null = null;
  for (const operation of model.operations) {
    const takers = mappings.filter((one) => one.approved && takes(one, operation));
    const { pointer } = operation;
    const own = parsePath(operation.path);
    if ('problem' in own) {
      diagnostics.push({ severity: 'error', code: 'bad_path', pointer, message: own.problem });
      continue;
    }
    if (takers.length === 0) {
      const message = 'no approved mapping takes this operation: it is not declared';
      diagnostics.push({ severity: 'warning', code: 'unmapped', pointer, message });
    }
    for (const mapping of takers) {
      const made = place(operation, mapping);
      if (made === null) continue;
      const name = `${made.method} ${made.host} ${pathShape(made.segments)}`;
      if (placed.has(name)) {
        const message = 'another operation takes the same requests: this one is left out';
        diagnostics.push({ severity: 'error', code: 'duplicate_operation', pointer, message });
      } else if (placed.size >= apiDocumentLimits.operationsMax) firstOut ??= pointer;
      else placed.set(name, made);
    }
  }
  if (firstOut !== null) {
    const most = apiDocumentLimits.operationsMax;
    const message = `with its mappings, and all after it, is past the bound of ${most} operations`;
    const fault = { severity: 'error', code: 'too_many_operations', pointer: firstOut } as const;
    diagnostics.push({ ...fault, message });
  }
  const operations = [...placed.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  return { operations, scopes: scopesOf(operations), diagnostics };
}

function takes({ methods, serverUrl }: Mapping, { method, servers }: DocumentOperation): boolean {
  if (methods.length > 0 && !methods.includes(method)) return false;
  return serverUrl === '' || servers.includes(serverUrl);
}

function place(operation: DocumentOperation, { host, basePath }: Mapping): PlacedOperation | null {
  const path = `${basePath}${operation.path}`;
  const parsed = parsePath(path);
  if ('problem' in parsed) return null;
  const { method, pointer } = operation;
  const key = `${method} ${host}${path}`;
  return { key, method, host, basePath, path, segments: parsed.segments, pointer };
}

/** Where a mapping does not fit the document. */
function mappingNotes(model: DocumentModel, mapping: Mapping, at: number): Diagnostic[] {
  const pointer = `/mappings/${at}`;
  const note = (code: string, message: string): Diagnostic[] => [
    { severity: 'warning', code, pointer, message },
  ];
  if (!mapping.approved) return note('mapping_not_approved', 'is not approved: it takes nothing');
  const { serverUrl, variables, basePath } = mapping;
  if (serverUrl === '') return [];
  if (!model.operations.some(({ servers }) => servers.includes(serverUrl))) {
    return note('unknown_server', 'names a server that the document does not have');
  }
  const missing = /\{([^{}]+)\}/.exec(
    serverUrl.replaceAll(/\{([^{}]+)\}/g, (all, name: string) => variables[name] ?? all),
  );
  if (missing !== null) return note('open_variable', 'leaves a variable of the server open');
  const filled = serverUrl.replaceAll(
    /\{([^{}]+)\}/g,
    (_all, name: string) => variables[name] ?? '',
  );
  const path = filled.replace(/^[a-z][a-z0-9+.-]*:/i, '').replace(/^\/\/[^/]*/, '');
  if (path.replace(/\/$/, '') === basePath) return [];
  return note('other_base_path', 'has another base path than the server of the document');
}

function scopesOf(operations: readonly PlacedOperation[]): DeclaredScope[] {
  const found = new Map<string, PlacedOperation[]>();
  for (const one of operations) {
    const name = `${one.host}${one.basePath}`;
    found.set(name, [...(found.get(name) ?? []), one]);
  }
  return [...found.values()].map((list) => {
    const { host = '', basePath = '' } = list[0] ?? {};
    const sha256 = jsonSha256([host, basePath, list.map(({ key }) => key)]);
    return { host, basePath, operations: list.length, sha256 };
  });
}

/** A catalog entry as reconciliation sees it. */
export interface CatalogEntry {
  readonly id: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly revision: number;
  readonly cataloged: boolean;
}

/** How an operation meets the catalog. */
export interface Reconciled {
  readonly key: string;
  /** `matched`: one entry takes the same requests. `ambiguous`: a decision is required. */
  readonly state: 'matched' | 'ambiguous' | 'new';
  /** Entries that may be meant. Identities and revisions only. */
  readonly candidates: readonly {
    readonly assetId: string;
    readonly assetRevision: number;
    readonly path: string;
    readonly cataloged: boolean;
  }[];
}

/** Compares operations with the catalog of the site. */
export function reconcile(
  operations: readonly PlacedOperation[],
  entries: readonly CatalogEntry[],
): Reconciled[] {
  const groups = new Map<string, { entry: CatalogEntry; segments: readonly ApiSegment[] }[]>();
  for (const entry of entries) {
    const parsed = parsePath(entry.path);
    if ('problem' in parsed) continue;
    const name = `${entry.method} ${entry.host} ${parsed.segments.length}`;
    const list = groups.get(name) ?? [];
    list.push({ entry, segments: parsed.segments });
    groups.set(name, list);
  }
  return operations.map(({ key, method, host, segments }) => {
    const near = groups.get(`${method} ${host} ${segments.length}`) ?? [];
    const shape = pathShape(segments);
    const same = near.filter((one) => pathShape(one.segments) === shape);
    const overlapping = near.filter((one) => pathsOverlap(one.segments, segments));
    const found = same.length === 1 ? same : overlapping;
    const candidates = found.map(({ entry }) => ({
      assetId: entry.id,
      assetRevision: entry.revision,
      path: entry.path,
      cataloged: entry.cataloged,
    }));
    if (same.length === 1) return { key, state: 'matched', candidates };
    return { key, state: candidates.length === 0 ? 'new' : 'ambiguous', candidates };
  });
}

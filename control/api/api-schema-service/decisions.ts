/** What people decided of a declaration: which catalog entry is meant, and what is complete. */

import { randomUUID } from 'node:crypto';
import type {
  SchemaCoverageDecision,
  SchemaReconciliationDecision,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import type { DeclaredScope, PlacedOperation, Reconciled } from '../../documents/declaration.ts';
import type { ContractOperation, ContractScope } from '../../documents/stored-documents.ts';
import { invalidField } from '../../domain/errors.ts';

/** The decisions of a request. */
export interface Decisions {
  readonly decisions: readonly SchemaReconciliationDecision[];
  readonly coverage: readonly SchemaCoverageDecision[];
}

/**
 * Operations with their catalog entries. Errors: invalid_argument where an ambiguous operation
 * has no acknowledged decision, or a decision names what was not previewed.
 */
export function decideOperations(
  operations: readonly PlacedOperation[],
  reconciled: readonly Reconciled[],
  decisions: readonly SchemaReconciliationDecision[],
): ContractOperation[] {
  const known = new Map(reconciled.map((one) => [one.key, one]));
  const decided = new Map<string, SchemaReconciliationDecision>();
  for (const [at, one] of decisions.entries()) {
    const field = `decisions[${at}]`;
    const found = known.get(one.key);
    if (found === undefined)
      throw invalidField(`${field}.key`, 'names no operation of the preview');
    if (decided.has(one.key)) throw invalidField(`${field}.key`, 'comes twice');
    checkDecision(found, one, field);
    decided.set(one.key, one);
  }
  const taken = new Set<string>();
  return operations.map((operation) => {
    const { key, method, host, basePath, path, pointer } = operation;
    const found = known.get(key);
    const decision = decided.get(key);
    if (found?.state === 'ambiguous' && decision === undefined) {
      const problem = `the operation ${key} may be several catalog entries: decide which one`;
      throw invalidField('decisions', problem);
    }
    const matched = found?.state === 'matched' ? (found.candidates[0]?.assetId ?? '') : '';
    const chosen = decision?.createNew === true ? '' : decision?.assetId || matched;
    const assetId = chosen || `asset-${randomUUID()}`;
    if (taken.has(assetId)) {
      throw invalidField('decisions', `two operations have the catalog entry ${assetId}`);
    }
    taken.add(assetId);
    const aliases = [...(decision?.attachAliases ?? [])].sort();
    return { key, assetId, method, host, basePath, path, pointer, aliases };
  });
}

function checkDecision(
  { candidates }: Reconciled,
  decision: SchemaReconciliationDecision,
  field: string,
): void {
  const ids = new Set(candidates.map(({ assetId }) => assetId));
  if (!decision.acknowledged) throw invalidField(`${field}.acknowledged`, 'must be true');
  if (decision.createNew === (decision.assetId !== '')) {
    throw invalidField(field, 'needs either assetId or createNew');
  }
  if (decision.assetId !== '' && !ids.has(decision.assetId)) {
    throw invalidField(`${field}.assetId`, 'must be a candidate of the preview');
  }
  if (!decision.attachAliases.every((one) => ids.has(one) && one !== decision.assetId)) {
    throw invalidField(`${field}.attachAliases`, 'must be other candidates of the preview');
  }
}

/** Scopes with what was decided of each. Errors: invalid_argument where one is not decided. */
export function decideCoverage(
  scopes: readonly DeclaredScope[],
  decisions: readonly SchemaCoverageDecision[],
): ContractScope[] {
  const decided = new Map<string, SchemaCoverageDecision>();
  for (const [at, one] of decisions.entries()) {
    const field = `coverage[${at}]`;
    if (!scopes.some(({ sha256 }) => sha256 === one.scopeSha256)) {
      throw invalidField(`${field}.scopeSha256`, 'names no scope of the preview');
    }
    if (decided.has(one.scopeSha256)) throw invalidField(`${field}.scopeSha256`, 'comes twice');
    if (!one.acknowledged) throw invalidField(`${field}.acknowledged`, 'must be true');
    decided.set(one.scopeSha256, one);
  }
  return scopes.map(({ host, basePath, sha256 }) => {
    const state = decided.get(sha256)?.state;
    if (state !== 'partial' && state !== 'authoritative_complete') {
      const place = `${host}${basePath}`;
      const states = 'partial or authoritative_complete';
      throw invalidField('coverage', `the scope ${place} needs a decision: ${states}`);
    }
    return { host, basePath, sha256, state };
  });
}

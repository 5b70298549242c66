/**
 * Owns applying documents of kinds that are one record each, found by id or name: what they share,
 * while each kind brings its own checks.
 */

import { randomUUID } from 'node:crypto';
import { meets } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import type { ResourceBase } from '../../domain/records.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import type { Spec } from '../../publish/manifests/manifest-fields.ts';
import type { ReferenceKind } from '../../publish/manifests/manifest-references.ts';
import type { Collection } from '../../store/collections.ts';
import { nextUpdate } from '../unchanged.ts';
import { changeOf, type ApplyRun, type DocumentChange } from './context.ts';
import { findBefore, refuseTakenId } from './find-before.ts';

/** One kind of document. */
export interface NamedKind<R extends ResourceBase> {
  readonly reference: ReferenceKind;
  readonly collection: Collection<R>;
  /** Of ids that are made. */
  readonly prefix: string;
  /** What the caller must hold beside the permission to apply, previews included. */
  readonly permission: string;
  readonly nameOf: (record: R) => string;
  readonly specOf: (record: R, run: ApplyRun) => Spec;
  /** The record that the document asks for. Errors: AppError naming the field. */
  readonly settle: (
    run: ApplyRun,
    document: ManifestDocument,
    before: R | null,
    base: ResourceBase,
  ) => R;
  /** Whether the document brings what no spec shows, such as a secret. */
  readonly bringsMore?: (document: ManifestDocument) => boolean;
  /** Keeps what lies beside the record. */
  readonly keepMore?: (
    run: ApplyRun,
    record: R,
    before: R | null,
    document: ManifestDocument,
  ) => void;
  readonly noteOf: (
    run: ApplyRun,
    record: R,
  ) => Omit<Parameters<ApplyRun['tx']['audit']>[0], 'action' | 'after'>;
}

/** Makes the record what the document says. Errors: AppError naming the field. */
export function applyNamed<R extends ResourceBase>(
  run: ApplyRun,
  document: ManifestDocument,
  kind: NamedKind<R>,
): DocumentChange {
  const { tx, caller, nowMs, references } = run;
  requireCode(run, document, kind.permission);
  const { collection, reference } = kind;
  const before = findBefore(run, reference, document, (id) => tx.get(collection, id));
  if (before === null) refuseTakenId(document, tx.get(collection, document.statedId));
  const updatedAt = nextUpdate(before ?? undefined, { nowMs: () => nowMs });
  const record = kind.settle(run, document, before, {
    id: before?.id ?? (document.statedId || `${kind.prefix}-${randomUUID()}`),
    tenantId: caller.tenantId,
    createdAt: before?.createdAt ?? updatedAt,
    updatedAt,
  });
  const earlier = before === null ? null : kind.specOf(before, run);
  const change = changeOf(document, record.id, '0', earlier, kind.specOf(record, run));
  const renamed = before !== null && kind.nameOf(before) !== kind.nameOf(record);
  const more = kind.bringsMore?.(document) === true;
  if (change.action === 'unchanged' && !renamed && !more) return change;
  tx.put(collection, record);
  kind.keepMore?.(run, record, before, document);
  references.add(reference, record.id, kind.nameOf(record));
  tx.audit({
    ...kind.noteOf(run, record),
    action: before === null ? 'create' : 'update',
    ...(before === null ? {} : { before }),
    after: record,
  });
  return renamed ? { ...change, action: 'update', changedPaths: ['metadata.name'] } : change;
}

/** Errors: permission_denied; who may apply manifests may not for that decide over people. */
export function requireCode(
  { caller }: ApplyRun,
  { kind }: ManifestDocument,
  permission: string,
): void {
  const rule = { public: false, anyPermission: [], allPermission: [permission] };
  if (meets(rule, caller.permissions)) return;
  throw refusal(
    'permission_denied',
    `kind: a document of kind ${kind} needs ${permission} as well`,
  );
}

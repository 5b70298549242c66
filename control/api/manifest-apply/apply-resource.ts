/** Applies documents of kinds that have a definition, found by their id or name. */

import { AppError } from '../../../base/errors.ts';
import { meets } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import { checkBounds } from '../../domain/proto-bounds.ts';
import type { ResourceBase } from '../../domain/records.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import { keep } from '../resource/owned.ts';
import { baseOf, refuseTaken, type Change, type StatedKind } from '../resource/resource.ts';
import { changeOf, type ApplyRun, type DocumentChange } from './context.ts';
import { findBefore, refuseTakenId } from './find-before.ts';

/** Makes the record what the document says. Errors: AppError naming the field. */
export function applyResource<A extends object, R extends ResourceBase>(
  run: ApplyRun,
  document: ManifestDocument,
  kind: StatedKind<A, R>,
): DocumentChange {
  const { permission, fields = [] } = kind.document;
  if (permission !== undefined) requireCode(run, document, permission);
  try {
    return keepStated(run, document, kind);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const [from, to] = fields.find(([pattern]) => pattern.test(error.message)) ?? [];
    if (from === undefined) throw error;
    const message = error.message.replace(from, to ?? '');
    throw new AppError(error.code, message, { source: error.source, cause: error });
  }
}

function keepStated<A extends object, R extends ResourceBase>(
  run: ApplyRun,
  document: ManifestDocument,
  kind: StatedKind<A, R>,
): DocumentChange {
  const { tx, caller, nowMs, references } = run;
  const { collection, nameOf } = kind;
  const { reference, read, spec } = kind.document;
  const { planned = (whole) => whole } = kind.document;
  const revisionOf = kind.revisionOf ?? (() => '0');
  const change: Change = { tx, caller, nowMs, document: { where: document.where, warn: run.warn } };
  const before = findBefore(run, reference, document, (id) => tx.get(collection, id));
  if (before === null) refuseTakenId(document, tx.get(collection, document.statedId));
  else kind.guard?.(change, before);
  const base = baseOf(change, kind, before, document.statedId);
  const asked = read(document, references);
  if (kind.schema !== undefined) checkBounds(kind.schema, asked, kind.field ?? '');
  const settled = kind.settle(change, asked, before, base);
  const { record, keepMore, bringsMore } = settled;
  const earlier = before === null ? null : spec(before, references, tx);
  const later = settled.spec?.(references) ?? spec(record, references, tx);
  const found = changeOf(document, record.id, revisionOf(before ?? record), earlier, later);
  const changed = {
    ...found,
    before: found.before === null ? null : planned(found.before),
    after: planned(found.after),
  };
  const renamed = before !== null && nameOf(before) !== nameOf(record);
  if (changed.action === 'unchanged' && !renamed && bringsMore !== true) return changed;
  if (before === null) kind.refuseMore?.(tx, caller);
  if (before === null || renamed) refuseTakenName(run, kind, record);
  const { action = before === null ? 'create' : 'update' } = kind.document;
  const kept =
    settled.keep?.(tx, action) ?? keep(tx, caller, kind, before, record, { action }, keepMore);
  references.add(reference, kept.id, nameOf(kept));
  const revised = { ...changed, revision: revisionOf(kept) };
  return renamed ? { ...revised, action: 'update', changedPaths: ['metadata.name'] } : revised;
}

/** The run knows all names: a look at every record, for every document, is not needed. */
function refuseTakenName<A extends object, R extends ResourceBase>(
  { tx, references }: ApplyRun,
  kind: StatedKind<A, R>,
  record: R,
): void {
  const known = references.find(kind.document.reference, kind.nameOf(record));
  const isOther = known !== undefined && known !== record.id;
  if (kind.namesakes !== undefined || isOther) refuseTaken(tx, kind, record);
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

/**
 * What belongs to a tenant: found for a caller only, kept and removed with its audit row.
 */

import type { Caller } from '../../auth/permissions.ts';
import { notFound } from '../../domain/errors.ts';
import type { AuditNote } from '../../store/audit-chain.ts';
import type { Collection } from '../../store/collections.ts';
import type { Identified } from '../../store/interface.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { actorNote } from '../context.ts';
import { requireText } from '../convert.ts';

/** A kind of record whose changes are audited. */
export interface Kept<R extends Identified> {
  readonly collection: Collection<R>;
  /** Resource type of audit rows. */
  readonly audit: string;
  readonly nameOf: (record: R) => string;
  /** What audit rows show of a record; absent for all of it. */
  readonly audited?: (record: R, store: ReadStore) => object;
}

/** A record that belongs to a tenant: it names it, or lies in what does, such as a policy. */
export interface OwnedRecord extends Identified {
  readonly tenantId?: string;
}

/** A kind of record that belongs to tenants. */
export interface Owned<R extends OwnedRecord> extends Kept<R> {
  /** In messages: `No role with the id "x".` */
  readonly noun: string;
  /** The tenant of records that do not name it. */
  readonly tenantOf?: (store: ReadStore, record: R) => string | undefined;
}

type Where<R extends OwnedRecord> = Pick<Owned<R>, 'collection' | 'tenantOf'>;

/** The tenant that a record belongs to; undefined for nobody's. */
export function tenantOf<R extends OwnedRecord>(
  store: ReadStore,
  kind: Pick<Owned<R>, 'tenantOf'>,
  record: R,
): string | undefined {
  return kind.tenantOf === undefined ? record.tenantId : kind.tenantOf(store, record);
}

/** Records of the caller's tenant, by id. */
export function ownedBy<R extends OwnedRecord>(
  store: ReadStore,
  { tenantId }: Pick<Caller, 'tenantId'>,
  kind: Where<R>,
): R[] {
  return store.list(kind.collection).filter((one) => tenantOf(store, kind, one) === tenantId);
}

/** Records of the caller's tenant, by name. */
export function listed<R extends OwnedRecord>(
  store: ReadStore,
  caller: Pick<Caller, 'tenantId'>,
  kind: Where<R> & Pick<Owned<R>, 'nameOf'>,
): R[] {
  const { nameOf } = kind;
  return ownedBy(store, caller, kind).sort((left, right) =>
    nameOf(left).localeCompare(nameOf(right), 'en'),
  );
}

/** A record of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export function stored<R extends OwnedRecord>(
  store: ReadStore,
  { tenantId }: Pick<Caller, 'tenantId'>,
  kind: Where<R> & Pick<Owned<R>, 'noun'>,
  id: string,
  field: string,
): R {
  const found = store.get(kind.collection, requireText(id, field));
  if (found === undefined || tenantOf(store, kind, found) !== tenantId) {
    throw notFound(kind.noun, id);
  }
  return found;
}

/** What was found, of the caller's tenant; undefined for nothing, and for what is another's. */
export function ours<T extends { readonly tenantId?: string }>(
  found: T | null | undefined,
  { tenantId }: Pick<Caller, 'tenantId'>,
): T | undefined {
  return found?.tenantId === tenantId ? (found ?? undefined) : undefined;
}

/** The same. Errors: not_found. */
export function requireOurs<T extends { readonly tenantId?: string }>(
  found: T | null | undefined,
  caller: Pick<Caller, 'tenantId'>,
  noun: string,
  id: string,
): T {
  const own = ours(found, caller);
  if (own === undefined) throw notFound(noun, id);
  return own;
}

/** `stored` for one kind. */
export function finderOf<R extends OwnedRecord>(kind: Where<R> & Pick<Owned<R>, 'noun'>) {
  return (store: ReadStore, caller: Pick<Caller, 'tenantId'>, id: string, field: string): R =>
    stored(store, caller, kind, id, field);
}

/** Who changed what, as audit rows have it. */
export function noteOf<R extends Identified>(
  caller: Caller,
  { audit, nameOf }: Pick<Kept<R>, 'audit' | 'nameOf'>,
  record: R,
) {
  return {
    ...actorNote(caller),
    resourceType: audit,
    resourceId: record.id,
    resourceName: nameOf(record),
  };
}

/** What an audit row says beside who, what and the two states. */
export type RowExtras = Partial<Pick<AuditNote, 'action' | 'metadata'>>;

/**
 * Keeps a record, and with `keepMore` what lies beside it, with its audit row; the action is
 * `create` or `update` where `extras` names none.
 */
export function keep<R extends Identified>(
  tx: WriteStore,
  caller: Caller,
  kind: Kept<R>,
  before: R | null | undefined,
  after: R,
  extras: RowExtras = {},
  keepMore?: (tx: WriteStore) => void,
): R {
  const { audited = (record) => record } = kind;
  // What lies beside a record may be a part of what is shown of it: read before it changes.
  const known = before ? { before: audited(before, tx) } : null;
  tx.put(kind.collection, after);
  keepMore?.(tx);
  tx.audit({
    ...noteOf(caller, kind, after),
    action: known === null ? 'create' : 'update',
    ...known,
    after: audited(after, tx),
    ...extras,
  });
  return after;
}

/** Notes what was done with a record that stays as it is, or of which only a part is kept. */
export function noteAction<R extends Identified>(
  tx: WriteStore,
  caller: Caller,
  kind: Pick<Kept<R>, 'audit' | 'nameOf'>,
  record: R,
  action: string,
  said: Partial<Pick<AuditNote, 'before' | 'after' | 'metadata'>> = {},
): void {
  tx.audit({ ...noteOf(caller, kind, record), action, ...said });
}

/** Keeps a record with an audit row that says of the change only what `said` does. */
export function keepNoted<R extends Identified>(
  tx: WriteStore,
  caller: Caller,
  kind: Pick<Kept<R>, 'collection' | 'audit' | 'nameOf'>,
  record: R,
  action: string,
  said: Partial<Pick<AuditNote, 'before' | 'after' | 'metadata'>>,
): R {
  tx.put(kind.collection, record);
  noteAction(tx, caller, kind, record, action, said);
  return record;
}

/** Removes a record with its audit row. */
export function drop<R extends Identified>(
  tx: WriteStore,
  caller: Caller,
  kind: Kept<R>,
  before: R,
  action = 'delete',
): void {
  const shown = kind.audited?.(before, tx) ?? before;
  tx.remove(kind.collection, before.id);
  tx.audit({ ...noteOf(caller, kind, before), action, before: shown });
}

/**
 * What belongs to a tenant: found for a caller only, kept and removed with its audit row. The one
 * place that compares tenants of resources with a definition.
 */

import type { Caller } from '../../auth/permissions.ts';
import { notFound } from '../../domain/errors.ts';
import type { AuditNote } from '../../store/audit-chain.ts';
import type { Collection } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { actorNote } from '../context.ts';
import { requireText } from '../convert.ts';

/** What every record of a tenant has. */
export interface TenantRecord {
  readonly id: string;
  readonly tenantId: string;
}

/** A kind of record that belongs to tenants. */
export interface Owned<R extends TenantRecord> {
  readonly collection: Collection<R>;
  /** In messages: `No role with the id "x".` */
  readonly noun: string;
  /** Resource type of audit rows. */
  readonly audit: string;
  readonly nameOf: (record: R) => string;
  /** What audit rows show of a record; absent for all of it. */
  readonly audited?: (record: R) => object;
}

/** Records of the caller's tenant, by id. */
export function ownedBy<R extends TenantRecord>(
  store: ReadStore,
  { tenantId }: Pick<Caller, 'tenantId'>,
  { collection }: Pick<Owned<R>, 'collection'>,
): R[] {
  return store.list(collection).filter((one) => one.tenantId === tenantId);
}

/** A record of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export function stored<R extends TenantRecord>(
  store: ReadStore,
  { tenantId }: Pick<Caller, 'tenantId'>,
  { collection, noun }: Pick<Owned<R>, 'collection' | 'noun'>,
  id: string,
  field: string,
): R {
  const found = store.get(collection, requireText(id, field));
  if (found === undefined || found.tenantId !== tenantId) throw notFound(noun, id);
  return found;
}

/** Who changed what, as audit rows have it. */
export function noteOf<R extends TenantRecord>(
  caller: Caller,
  { audit, nameOf }: Pick<Owned<R>, 'audit' | 'nameOf'>,
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

/** Writes the audit row of a record that was kept; the action is `create` or `update`. */
export function auditKept<R extends TenantRecord>(
  tx: WriteStore,
  caller: Caller,
  kind: Owned<R>,
  before: R | null,
  after: R,
  extras: RowExtras = {},
): void {
  const { audited = (record) => record } = kind;
  tx.audit({
    ...noteOf(caller, kind, after),
    action: before === null ? 'create' : 'update',
    ...(before === null ? {} : { before: audited(before) }),
    after: audited(after),
    ...extras,
  });
}

/** Keeps a record with its audit row. */
export function keep<R extends TenantRecord>(
  tx: WriteStore,
  caller: Caller,
  kind: Owned<R>,
  before: R | null,
  after: R,
  extras?: RowExtras,
): R {
  tx.put(kind.collection, after);
  auditKept(tx, caller, kind, before, after, extras);
  return after;
}

/** Removes a record with its audit row. */
export function drop<R extends TenantRecord>(
  tx: WriteStore,
  caller: Caller,
  kind: Owned<R>,
  before: R,
): void {
  tx.remove(kind.collection, before.id);
  const shown = kind.audited?.(before) ?? before;
  tx.audit({ ...noteOf(caller, kind, before), action: 'delete', before: shown });
}

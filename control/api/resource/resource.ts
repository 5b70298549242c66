/**
 * What a resource is: one definition, from which calls and manifests are served alike. What only
 * one kind does is a method of its own beside its definition.
 */

import { randomUUID } from 'node:crypto';
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { Caller } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import type { ResourceBase } from '../../domain/records.ts';
import type { MaskFields } from '../../domain/update-mask.ts';
import type { User } from '../../domain/usage.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import type { Spec } from '../../publish/manifests/manifest-fields.ts';
import type { ReferenceKind, References } from '../../publish/manifests/manifest-references.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { nextUpdate } from '../unchanged.ts';
import { ownedBy, tenantOf, type Owned, type OwnedRecord } from './owned.ts';

/** What a change is decided in: deciding only reads. */
export interface Asking {
  readonly tx: ReadStore;
  readonly caller: Caller;
  readonly nowMs: number;
  /** Absent for calls. What is asked for in a document may lack secrets, which is a warning. */
  readonly document?: ApplyingDocument;
}

/** What a change is made in. */
export interface Change extends Asking {
  readonly tx: WriteStore;
}

/** The document that asks for a change. */
export interface ApplyingDocument {
  /** For messages, for example `document 2 (Site shop)`. */
  readonly where: string;
  readonly warn: (...sentences: readonly string[]) => void;
}

/** A record that calls change. */
export interface ResourceRecord extends OwnedRecord {
  /** RFC 3339. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

/** A record as it will be. */
export interface Settled<R> {
  readonly record: R;
  /** Keeps what lies beside the record. */
  readonly keepMore?: (tx: WriteStore) => void;
  /** True where `keepMore` brings what no spec shows, such as a secret. */
  readonly bringsMore?: boolean;
  /** Keeps the record with all that belongs to it, its audit row, too. */
  readonly keep?: (tx: WriteStore, action: string) => R;
  /** How documents state it, where that is also what lies beside the record. */
  readonly spec?: (references: References) => Spec;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** How manifests state a resource. `A` is what is asked for, the same as in calls. */
export interface DocumentForm<A, R> {
  readonly reference: ReferenceKind;
  /** Of audit rows, where it is neither `create` nor `update`. */
  readonly action?: 'upsert';
  /** What the caller must hold beside the permission to apply, previews included. */
  readonly permission?: string;
  /** Errors: AppError manifest_invalid naming the field. */
  readonly read: (document: ManifestDocument, references: References) => A;
  readonly spec: (record: R, references: References, store: ReadStore) => Spec;
  /** The spec as plans show it; absent for all of it. */
  readonly planned?: (spec: Spec) => Spec;
  /** Fields of errors of `settle`, and what documents call them. The first that fits counts. */
  readonly fields?: readonly (readonly [RegExp, string])[];
}

/** What is decided about a resource, whatever asks for it. `A` is what is asked for. */
export interface Kind<A extends object, R extends ResourceRecord> extends Owned<R> {
  /** Of ids that are made. */
  readonly prefix: string;
  /** Refuses to change or to remove a record. */
  readonly guard?: (change: Asking, before: R) => void;
  /** The record in whose place one comes that names no id; absent where it is a new one. */
  readonly placed?: (change: Asking, asked: A) => R | undefined;
  /** The record that is asked for, all checks but those below made. */
  readonly settle: (change: Asking, asked: A, before: R | null, base: ResourceBase) => Settled<R>;
  /** Errors: resource_exhausted when there is no room for one more. */
  readonly refuseMore?: (store: ReadStore, caller: Caller) => void;
  /** The message for a name that another record of the tenant has; absent where names repeat. */
  readonly taken?: string;
  /** Records of equal names, where names are equal in other ways than to the letter. */
  readonly namesakes?: (store: ReadStore, record: R) => readonly R[];
  /** Absent for kinds without revisions. Changes of records that have them name the one read. */
  readonly revisionOf?: (record: R) => string;
}

/** A kind that documents state. */
export interface StatedKind<A extends object, R extends ResourceRecord> extends Kind<A, R> {
  readonly document: DocumentForm<A, R>;
  /** Whose bounds hold for documents as they do for calls; absent where `settle` has its own. */
  readonly schema?: DescMessage;
  /** What errors call it. */
  readonly field?: string;
}

/** A kind that is listed, shown and removed. */
export interface ShownKind<S extends DescMessage, R extends ResourceRecord>
  extends Owned<R>, Pick<Kind<never, R>, 'guard' | 'revisionOf'> {
  readonly schema: S;
  /** How records of a tenant are shown; absent for the record as it is. */
  readonly show?: (store: ReadStore, tenantId: string) => (record: R) => MessageShape<S>;
  /** What the query of a list may be a part of; absent for the name. */
  readonly searched?: (record: R) => readonly (string | undefined)[];
  /** Who needs the record: it is not removed before them. */
  readonly usersOf?: (store: ReadStore, record: R) => readonly User[];
  /** Refuses to remove a record for other reasons. */
  readonly refuseRemoval?: (store: ReadStore, record: R) => void;
  /** Removes what lies beside a record, or follows from it. */
  readonly dropMore?: (change: Change, record: R) => void;
}

/** A kind with the methods of a service. */
export interface ServedKind<S extends DescMessage, A extends object, R extends ResourceRecord>
  extends Kind<A, R>, ShownKind<S, R> {
  /** Of requests, for example `role`. */
  readonly field: string;
  /** What an update may name; absent where it replaces the whole. */
  readonly mask?: MaskFields;
}

/** A kind with the methods of a service that documents state, too. */
export type Resource<
  S extends DescMessage,
  A extends object,
  R extends ResourceRecord,
> = ServedKind<S, A, R> & StatedKind<A, R>;

/** What the service gives a record: its id, as stated or made, and its times. */
export function baseOf<R extends ResourceRecord>(
  { caller, nowMs }: Pick<Asking, 'caller' | 'nowMs'>,
  { prefix }: Pick<Kind<never, R>, 'prefix'>,
  before: R | null,
  statedId = '',
): ResourceBase {
  const updatedAt = nextUpdate(before ?? undefined, { nowMs: () => nowMs });
  return {
    id: before?.id ?? (statedId || `${prefix}-${randomUUID()}`),
    tenantId: caller.tenantId,
    createdAt: before?.createdAt ?? updatedAt,
    updatedAt,
  };
}

/** Errors: already_exists when another record of the tenant has the name. */
export function refuseTaken<R extends ResourceRecord>(
  store: ReadStore,
  kind: Pick<Kind<never, R>, 'collection' | 'tenantOf' | 'nameOf' | 'taken' | 'namesakes'>,
  record: R,
): void {
  if (kind.taken === undefined) return;
  const { nameOf } = kind;
  const tenantId = tenantOf(store, kind, record) ?? '';
  const same =
    kind.namesakes?.(store, record) ??
    ownedBy(store, { tenantId }, kind).filter((other) => nameOf(other) === nameOf(record));
  if (same.some((other) => other.id !== record.id && tenantOf(store, kind, other) === tenantId)) {
    throw refusal('already_exists', kind.taken);
  }
}

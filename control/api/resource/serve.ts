/** The methods that a resource has by its definition: list, get, create, update, upsert, remove. */

import { isDeepStrictEqual } from 'node:util';
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type { PageRequest } from '../../../proto/gen/waf/v1/common_pb.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { applyMask } from '../../domain/update-mask.ts';
import { refuseUsed } from '../../domain/usage.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import {
  fitsQuery,
  nextRevision,
  pageOf,
  requireRevision,
  toMessage,
  toRecord,
} from '../convert.ts';
import { requireUnchanged } from '../unchanged.ts';
import { drop, keep, listed, stored, tenantOf } from './owned.ts';
import {
  baseOf,
  refuseTaken,
  type Asking,
  type Change,
  type Kind,
  type ResourceRecord,
  type ServedKind,
  type Settled,
  type ShownKind,
} from './resource.ts';

/** Which records of a kind are asked for. */
export interface ListRequest {
  readonly page?: PageRequest | undefined;
  readonly query?: string;
}

/** How a change of a record that is there is asked for. */
export interface ChangeRequest {
  readonly updateMask?: string;
  readonly expectedUpdatedAt?: Timestamp | undefined;
  /** The revision that was read, of kinds with revisions. */
  readonly revision?: bigint;
}

/** What one method does otherwise than others. */
export interface CreateOptions<R> {
  /** Of audit rows. */
  readonly action?: string;
  /** Runs in the transaction, after all else. */
  readonly also?: (tx: WriteStore, after: R, before: R | null) => void;
}

/** What one removal does otherwise than others. */
export interface RemoveOptions<R> {
  /** Runs in the transaction, after all else. */
  readonly also?: (tx: WriteStore, gone: R) => void;
}

/** What one method does otherwise than others. */
export interface UpdateOptions<R> extends Pick<CreateOptions<R>, 'also'> {
  /** Of the request, in errors. */
  readonly idField?: string;
}

/** Which records a list is of. */
export interface ListOptions<R> {
  readonly fits?: (record: R) => boolean;
  /** In their order; absent for all of the tenant, by name. */
  readonly among?: readonly R[];
}

/**
 * Refuses a record that is to be kept after asking others, such as the engine. Runs outside of
 * transactions; what it looked at is what is kept.
 */
export type Vet<R> = (record: R, before: R | null) => Promise<void>;

/** A change with all checks made, but for those of others. */
interface Decided<R> {
  readonly before: R | null;
  readonly settled: Settled<R>;
  readonly action: string;
}

/** The methods of one kind that only show and remove. */
export function serveRecords<S extends DescMessage, R extends ResourceRecord>(
  parts: Uses<'store' | 'clock'>,
  kind: ShownKind<S, R>,
) {
  const { store } = parts;
  const shower = (tenantId: string): ((record: R) => MessageShape<S>) =>
    kind.show?.(store, tenantId) ?? ((record) => toMessage(kind.schema, record));
  return {
    show: (record: R) => shower(record.tenantId ?? '')(record),

    /** Records of the caller's tenant that fit, a page of them. */
    list: (
      { page: asked, query = '' }: ListRequest,
      context: HandlerContext,
      { fits = () => true, among }: ListOptions<R> = {},
    ) => {
      const caller = callerOf(context);
      const searched = (one: R) => kind.searched?.(one) ?? [kind.nameOf(one)];
      const found = (among ?? listed(store, caller, kind)).filter(
        (one) => fits(one) && fitsQuery(query, ...searched(one)),
      );
      const { items, page } = pageOf(found, asked);
      return { items: items.map(shower(caller.tenantId)), page };
    },

    get: ({ id }: { readonly id: string }, context: HandlerContext): MessageShape<S> => {
      const caller = callerOf(context);
      return shower(caller.tenantId)(stored(store, caller, kind, id, 'id'));
    },

    remove: (
      { id }: { readonly id: string },
      context: HandlerContext,
      { also }: RemoveOptions<R> = {},
    ) => remove(parts, kind, id, context, also),
  };
}

/** The methods of one kind of resource. */
export function serve<S extends DescMessage, A extends object, R extends ResourceRecord>(
  parts: Uses<'store' | 'clock'>,
  kind: ServedKind<S, A, R>,
  vet?: Vet<R>,
) {
  const make = (
    context: HandlerContext,
    decide: (asking: Asking) => Decided<R>,
    also?: CreateOptions<R>['also'],
  ): Promise<R> => change(parts, kind, context, decide, vet, also);
  return {
    ...serveRecords(parts, kind),

    /** Errors: invalid_argument for a request without the resource. */
    asked: (message: MessageShape<S> | undefined): A => {
      if (message === undefined) throw invalidField(kind.field, 'is required');
      return toRecord<A>(kind.schema, message);
    },

    create: (
      asked: A,
      context: HandlerContext,
      { action = 'create', also }: CreateOptions<R> = {},
    ): Promise<R> => make(context, (asking) => decideOn(asking, kind, asked, null, action), also),

    /** Changes the fields of the mask, or all where the kind has none. */
    update: (
      asked: A & { readonly id?: string },
      request: ChangeRequest,
      context: HandlerContext,
      { idField = `${kind.field}.id`, also }: UpdateOptions<R> = {},
    ): Promise<R> =>
      make(context, (asking) => updateOf(asking, kind, asked, request, idField), also),

    /** Creates a record, or changes the fields of the mask in the one that is there. */
    upsert: (
      asked: A & { readonly id?: string },
      request: ChangeRequest,
      context: HandlerContext,
      { also }: Pick<CreateOptions<R>, 'also'> = {},
    ): Promise<R> => make(context, (asking) => upsertOf(asking, kind, asked, request), also),
  };
}

async function remove<S extends DescMessage, R extends ResourceRecord>(
  { store, clock }: Uses<'store' | 'clock'>,
  kind: ShownKind<S, R>,
  id: string,
  context: HandlerContext,
  also: RemoveOptions<R>['also'],
) {
  const caller = callerOf(context);
  const removed = await store.write((tx) => {
    const gone = removeRecord({ tx, caller, nowMs: clock.nowMs() }, kind, id);
    also?.(tx, gone);
    return gone;
  });
  return { result: { id, changed: true, ...revisionAfter(kind, removed) } };
}

/** Decides on a change, has it vetted, decides again in the transaction, and keeps it. */
async function change<A extends object, R extends ResourceRecord>(
  { store, clock }: Uses<'store' | 'clock'>,
  kind: Kind<A, R> & { readonly field: string },
  context: HandlerContext,
  decide: (asking: Asking) => Decided<R>,
  vet: Vet<R> | undefined,
  also: CreateOptions<R>['also'],
): Promise<R> {
  const caller = callerOf(context);
  let seen: R | null | undefined;
  if (vet !== undefined) {
    const { settled, before } = decide({ tx: store, caller, nowMs: clock.nowMs() });
    await vet(settled.record, before);
    seen = before;
  }
  return store.write((tx) => {
    const making = { tx, caller, nowMs: clock.nowMs() };
    const decided = decide(making);
    if (seen !== undefined && !isDeepStrictEqual(seen, decided.before)) {
      throw refusal('aborted', `${kind.field}: it changed while it was checked; try again`);
    }
    const after = keepDecided(making, kind, decided);
    also?.(tx, after, decided.before);
    return after;
  });
}

function revisionAfter<R extends ResourceRecord>(
  { revisionOf }: Pick<Kind<never, R>, 'revisionOf'>,
  last: R,
): { readonly revision?: bigint } {
  return revisionOf === undefined ? {} : { revision: BigInt(nextRevision(revisionOf(last))) };
}

/** Creates a record by its kind inside of a larger change. */
export function createIn<A extends object, R extends ResourceRecord>(
  change: Change,
  kind: Kind<A, R>,
  asked: A,
  action = 'create',
): R {
  return keepDecided(change, kind, decideOn(change, kind, asked, null, action));
}

/** Keeps a record by its kind inside of a larger change, in place of one that is there. */
export function upsertIn<S extends DescMessage, A extends object, R extends ResourceRecord>(
  change: Change,
  kind: ServedKind<S, A, R>,
  asked: A & { readonly id?: string },
): R {
  return keepDecided(change, kind, upsertOf(change, kind, asked, {}));
}

function updateOf<S extends DescMessage, A extends object, R extends ResourceRecord>(
  asking: Asking,
  kind: ServedKind<S, A, R>,
  asked: A & { readonly id?: string },
  request: ChangeRequest,
  idField: string,
): Decided<R> {
  const before = stored(asking.tx, asking.caller, kind, asked.id ?? '', idField);
  return changeOf(asking, kind, asked, request, before, 'update');
}

function upsertOf<S extends DescMessage, A extends object, R extends ResourceRecord>(
  asking: Asking,
  kind: ServedKind<S, A, R>,
  asked: A & { readonly id?: string },
  request: ChangeRequest,
): Decided<R> {
  const { tx, caller } = asking;
  const { id = '' } = asked;
  const placed = id === '' ? kind.placed?.(asking, asked) : undefined;
  const isOwn = placed !== undefined && tenantOf(tx, kind, placed) === caller.tenantId;
  const found = isOwn ? placed : undefined;
  const before = id === '' ? found : stored(tx, caller, kind, id, `${kind.field}.id`);
  if (before !== undefined) return changeOf(asking, kind, asked, request, before, 'upsert');
  if (request.updateMask) throw invalidField('updateMask', `goes with ${kind.field}.id only`);
  requireUnchanged(request.expectedUpdatedAt, undefined);
  return decideOn(asking, kind, asked, null, 'upsert');
}

function removeRecord<S extends DescMessage, R extends ResourceRecord>(
  change: Change,
  kind: ShownKind<S, R>,
  id: string,
): R {
  const { tx, caller } = change;
  const before = stored(tx, caller, kind, id, 'id');
  kind.guard?.(change, before);
  refuseUsed('id', kind.usersOf?.(tx, before) ?? []);
  kind.refuseRemoval?.(tx, before);
  kind.dropMore?.(change, before);
  drop(tx, caller, kind, before);
  return before;
}

function changeOf<S extends DescMessage, A extends object, R extends ResourceRecord>(
  asking: Asking,
  kind: ServedKind<S, A, R>,
  asked: A,
  { updateMask = '', expectedUpdatedAt, revision = 0n }: ChangeRequest,
  before: R,
  action: 'update' | 'upsert',
): Decided<R> {
  kind.guard?.(asking, before);
  if (kind.revisionOf === undefined) requireUnchanged(expectedUpdatedAt, before);
  else requireRevision(revision, kind.revisionOf(before));
  const { mask } = kind;
  // A record holds what can be asked for, in the same form.
  const wanted =
    mask === undefined ? asked : applyMask(before as unknown as A, asked, updateMask, mask);
  return decideOn(asking, kind, wanted, before, action);
}

function decideOn<A extends object, R extends ResourceRecord>(
  asking: Asking,
  kind: Kind<A, R>,
  asked: A,
  before: R | null,
  action: string,
): Decided<R> {
  const { tx, caller } = asking;
  const settled = kind.settle(asking, asked, before, baseOf(asking, kind, before));
  if (before === null) kind.refuseMore?.(tx, caller);
  refuseTaken(tx, kind, settled.record);
  return { before, settled, action };
}

function keepDecided<A extends object, R extends ResourceRecord>(
  { tx, caller }: Change,
  kind: Kind<A, R>,
  { before, settled, action }: Decided<R>,
): R {
  if (settled.keep !== undefined) return settled.keep(tx, action);
  const { record, keepMore, metadata } = settled;
  const extras = { action, ...(metadata === undefined ? {} : { metadata }) };
  return keep(tx, caller, kind, before, record, extras, keepMore);
}

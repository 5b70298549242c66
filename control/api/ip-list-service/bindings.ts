/** Where lists decide: bindings of the deployment, of policies and of sites. */

import { randomUUID } from 'node:crypto';
import {
  IpListBindingRecordSchema,
  IpListReferenceSchema,
  type IpListBindingRecord,
  type IpListBindingRecordJson,
  type IpListService,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { contentOf } from '../../access/list-contents.ts';
import { bindingReference, referencesOf } from '../../access/references.ts';
import type { Caller } from '../../auth/permissions.ts';
import { checkTarget, type CountryTarget } from '../../domain/access/country-access.ts';
import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import {
  checkAccessChoice,
  checkPathPrefix,
  checkSortOrder,
} from '../../domain/access/ip-list-checks.ts';
import type { IpListBinding, IpListRecord } from '../../domain/access/ip-list.ts';
import { keepBindingsVersion } from '../../publish/policy-versions.ts';
import { ipListBindings, ipLists } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import type { Asking } from '../resource/resource.ts';
import { drop, keep, stored, type Owned } from '../resource/owned.ts';
import { storedPolicy } from '../policy-service/stored-policy.ts';
import { refuseOtherPolicy, storedSite } from '../site-service/stored-site.ts';
import { applyNow } from '../deployment.ts';
import { requireEtag, storedList } from './stored-list.ts';

/** Bindings of a policy, of a site, or of what both name. */
export function listIpListBindings(
  parts: Uses<'store'>,
): Method<typeof IpListService, 'listIpListBindings'> {
  return ({ policyId, siteId }, context) => {
    const caller = callerOf(context);
    const { store } = parts;
    if (policyId === '' && siteId === '') {
      throw invalidField('policyId', 'is required where siteId is empty');
    }
    if (policyId !== '') storedPolicy(store, caller, policyId, 'policyId');
    if (siteId !== '') storedSite(store, caller, siteId, 'siteId');
    const found =
      siteId === ''
        ? store.find(ipListBindings, 'policy', policyId)
        : store
            .find(ipListBindings, 'site', siteId)
            .filter((one) => policyId === '' || one.policyId === '' || one.policyId === policyId);
    return { items: sortBindings(found).map((one) => showBinding(store, one)) };
  };
}

/** Bindings of the whole deployment. */
export function listGlobalIpListBindings(
  parts: Uses<'store'>,
): Method<typeof IpListService, 'listGlobalIpListBindings'> {
  return (_request, context) => {
    const { tenantId } = callerOf(context);
    const found = parts.store
      .find(ipListBindings, 'scope', 'global')
      .filter((one) => one.tenantId === tenantId);
    return { items: sortBindings(found).map((one) => showBinding(parts.store, one)) };
  };
}

/** Binds a list to a policy or a site. */
export function upsertIpListBinding(
  parts: Uses<'store' | 'clock'>,
): Method<typeof IpListService, 'upsertIpListBinding'> {
  return async (request, context) => ({
    binding: showBinding(parts.store, await upsert(parts, callerOf(context), request, false)),
  });
}

/** Binds a list to the whole deployment. */
export function upsertGlobalIpListBinding(
  parts: Uses<'store' | 'clock'>,
): Method<typeof IpListService, 'upsertGlobalIpListBinding'> {
  return async (request, context) => ({
    binding: showBinding(parts.store, await upsert(parts, callerOf(context), request, true)),
  });
}

/** Removes a binding of a policy or a site. */
export function deleteIpListBinding(
  parts: Uses<'store' | 'clock'>,
): Method<typeof IpListService, 'deleteIpListBinding'> {
  return async ({ id }, context) => {
    await remove(parts, callerOf(context), id, false);
    return { result: { id, changed: true } };
  };
}

/** Removes a binding of the whole deployment. */
export function deleteGlobalIpListBinding(
  parts: Uses<'store' | 'clock'>,
): Method<typeof IpListService, 'deleteGlobalIpListBinding'> {
  return async ({ id }, context) => {
    await remove(parts, callerOf(context), id, true);
    return { result: { id, changed: true } };
  };
}

/** Binds one list at several places in one transaction, then publishes. */
export function applyIpList(
  parts: Uses<'store' | 'clock' | 'logger' | 'publisher' | 'nodes'>,
): Method<typeof IpListService, 'applyIpList'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.targets.length === 0) throw invalidField('targets', 'needs at least one target');
    if (request.targets.length > accessLimits.targetsMax) {
      throw invalidField('targets', `has at most ${accessLimits.targetsMax} entries`);
    }
    const choice = checkAccessChoice(request, '');
    const targets = request.targets.map((target, at) => checkTarget(target, `targets[${at}]`));
    const now = isoNow(parts.clock);
    const references = await parts.store.write((tx) => {
      const list = storedList(tx, caller, request.ipListId, 'ipListId');
      requireEtag(request.etag, contentOf(tx, list.id).etag);
      const bound = targets.map((target, at) => {
        requirePlace(tx, caller, target, `targets[${at}]`);
        return keepBinding(tx, caller, { ...choice, ...target, ipListId: list.id }, now);
      });
      keepVersionsOf(tx, caller, bound, now);
      return bound.map((one) => bindingReference(tx, one));
    });
    const { state, error } = await applyNow(parts);
    const shown = references.map((one) => toMessage(IpListReferenceSchema, one));
    return { references: shown, saved: true, applied: state === 'applied', applyError: error };
  };
}

/** What a change of a list would touch. */
export function getIpListEditImpact(
  parts: Uses<'store'>,
): Method<typeof IpListService, 'getIpListEditImpact'> {
  return ({ id }, context) => {
    const list = storedList(parts.store, callerOf(context), id, 'id');
    const found = referencesOf(parts.store, list.id);
    const references = found.map((one) => toMessage(IpListReferenceSchema, one));
    return { references, affectedConsumers: references.length };
  };
}

/** What uses a list. */
export function listIpListReferences(
  parts: Uses<'store'>,
): Method<typeof IpListService, 'listIpListReferences'> {
  return ({ ipListId }, context) => {
    const list = storedList(parts.store, callerOf(context), ipListId, 'ipListId');
    const found = referencesOf(parts.store, list.id);
    return { items: found.map((one) => toMessage(IpListReferenceSchema, one)) };
  };
}

/** Binds a list globally with a kind and takes all its other bindings away. */
export function bindOnlyGlobally(
  tx: WriteStore,
  caller: Caller,
  list: IpListRecord,
  kind: string,
  now: string,
): void {
  const gone = tx.find(ipListBindings, 'list', list.id);
  for (const binding of gone) drop(tx, caller, bindingKind, binding);
  keepVersionsOf(tx, caller, gone, now);
  const choice = checkAccessChoice(
    { kind, addressSource: 'client_ip', matchMode: 'in_list' },
    'exclusiveGlobalKind.',
  );
  const place = { scope: 'global', policyId: '', siteId: '' } as const;
  keepBinding(tx, caller, { ...choice, ...place, ipListId: list.id }, now);
}

/** Errors: not_found for a policy or site that the caller does not have. */
export function requireTarget(
  store: ReadStore,
  caller: Caller,
  { policyId, siteId }: CountryTarget,
  field: string,
): void {
  if (policyId !== '') storedPolicy(store, caller, policyId, `${field}.policyId`);
  if (siteId !== '') storedSite(store, caller, siteId, `${field}.siteId`);
}

/**
 * The same for a place where something is to take effect. Errors: also failed_precondition for a
 * policy with a site that uses another one: both together never match.
 */
export function requirePlace(
  store: ReadStore,
  caller: Caller,
  target: CountryTarget,
  field: string,
): void {
  requireTarget(store, caller, target, field);
  const { policyId, siteId } = target;
  if (policyId === '' || siteId === '') return;
  const site = storedSite(store, caller, siteId, `${field}.siteId`);
  refuseOtherPolicy(store, site, policyId, `${field}.siteId`);
}

/**
 * The same for a call or a document. A manifest may come from elsewhere, or a site may have moved:
 * a policy with a site that uses another one is only a warning there.
 */
export function requirePlaceOf(
  { tx, caller, document }: Pick<Asking, 'tx' | 'caller' | 'document'>,
  target: CountryTarget,
  field: string,
): void {
  try {
    requirePlace(tx, caller, target, field);
  } catch (error) {
    const misplaced = error instanceof AppError && error.code === 'failed_precondition';
    if (document === undefined || !misplaced) throw error;
    document.warn(`${document.where}: ${error.message}`);
  }
}

/** In their stated order; where that is the same, whole policies and sites before their paths. */
export function sortBindings(bindings: readonly IpListBinding[]): IpListBinding[] {
  const rest = (one: IpListBinding): string => `${one.pathPrefix ?? ''}\0${one.id}`;
  return [...bindings].sort((left, right) => {
    return (left.sortOrder ?? 0) - (right.sortOrder ?? 0) || (rest(left) < rest(right) ? -1 : 1);
  });
}

/** A binding before it has an id of its own. */
export type NewBinding = IpListBindingRecordJson &
  Pick<IpListBinding, 'ipListId' | 'policyId' | 'siteId' | 'scope' | 'kind'>;

/** A binding, and what its caller read of it. */
interface Asked {
  readonly binding?: IpListBindingRecord | undefined;
  readonly expected?: IpListBindingRecord | undefined;
}

async function upsert(
  parts: Uses<'store' | 'clock'>,
  caller: Caller,
  { binding, expected }: Asked,
  global: boolean,
): Promise<IpListBinding> {
  if (binding === undefined) throw invalidField('binding', 'is required');
  const asked = toRecord<IpListBindingRecordJson>(IpListBindingRecordSchema, binding);
  const choice = checkAccessChoice(asked, 'binding.');
  const pathPrefix = checkPathPrefix(asked.pathPrefix ?? '', 'binding.pathPrefix');
  const sortOrder = checkSortOrder(asked.sortOrder, 'binding.sortOrder');
  const target = checkTarget(asked, 'binding');
  if (global && target.scope !== 'global') {
    throw invalidField('binding.scope', 'is global here; UpsertIpListBinding takes the others');
  }
  if (!global && target.scope === 'global') {
    throw invalidField('binding.policyId', 'is required where siteId is empty');
  }
  const now = isoNow(parts.clock);
  return parts.store.write((tx) => {
    const list = storedList(tx, caller, asked.ipListId ?? '', 'binding.ipListId');
    requirePlace(tx, caller, target, 'binding');
    const id = asked.id ?? '';
    const moved = id === '' ? undefined : storedBinding(tx, caller, id, 'binding.id', global);
    const fresh = { ...choice, ...target, pathPrefix, sortOrder, ipListId: list.id, id };
    requireAsRead(expected, moved ?? sameBinding(tx, caller, fresh));
    const kept = keepBinding(tx, caller, fresh, now);
    keepVersionsOf(tx, caller, moved === undefined ? [kept] : [moved, kept], now);
    return kept;
  });
}

/** Policies whose own bindings changed get a new version that records the change. */
function keepVersionsOf(
  tx: WriteStore,
  caller: Caller,
  changed: readonly IpListBinding[],
  now: string,
): void {
  const own = changed.filter(({ scope }) => scope === 'policy');
  for (const policyId of new Set(own.map((one) => one.policyId))) {
    keepBindingsVersion(tx, policyId, caller.username, now);
  }
}

/** Keeps a binding; one of the same list, place, path and address is replaced. */
export function keepBinding(
  tx: WriteStore,
  caller: Caller,
  fresh: NewBinding,
  now: string,
): IpListBinding {
  const { id = '' } = fresh;
  const same = sameBinding(tx, caller, fresh);
  if (id !== '' && same !== undefined && same.id !== id) {
    throw refusal('already_exists', 'binding: another binding has this list, place and path');
  }
  const before = id === '' ? same : tx.get(ipListBindings, id);
  if (before === undefined && tx.list(ipListBindings).length >= accessLimits.bindingsMax) {
    throw refusal('resource_exhausted', `there are at most ${accessLimits.bindingsMax} bindings`);
  }
  const record: IpListBinding = {
    ...fresh,
    id: before?.id ?? `binding-${randomUUID()}`,
    tenantId: caller.tenantId,
    pathPrefix: fresh.pathPrefix ?? '',
    sortOrder: fresh.sortOrder ?? before?.sortOrder ?? 0,
    createdAt: before?.createdAt ?? now,
  };
  return keep(tx, caller, bindingKind, before, record, { action: 'upsert' });
}

/** The binding of the same list, place, path and address. */
function sameBinding(
  store: ReadStore,
  caller: Caller,
  fresh: NewBinding,
): IpListBinding | undefined {
  const placeOf = (one: NewBinding): string =>
    JSON.stringify([one.policyId, one.siteId, one.pathPrefix ?? '', one.addressSource]);
  return store
    .find(ipListBindings, 'list', fresh.ipListId)
    .find((one) => one.tenantId === caller.tenantId && placeOf(one) === placeOf(fresh));
}

/** Errors: aborted where the binding is not what the caller read. */
function requireAsRead(
  expected: IpListBindingRecord | undefined,
  stored: IpListBinding | undefined,
): void {
  if (expected === undefined) return;
  const read = toRecord<IpListBindingRecordJson>(IpListBindingRecordSchema, expected);
  if (contentOfBinding(read) === contentOfBinding(stored ?? {})) return;
  throw refusal('aborted', 'expected: the binding changed since; read it again');
}

/** What a person may set in a binding, and which one it is. */
function contentOfBinding(one: IpListBindingRecordJson): string {
  const { id = '', ipListId = '', policyId = '', siteId = '', pathPrefix = '', kind = '' } = one;
  const { sortOrder = 0, bypassMode = '', addressSource = '', matchMode = '' } = one;
  const place = [id, ipListId, policyId, siteId, pathPrefix];
  return JSON.stringify([...place, kind, sortOrder, bypassMode, addressSource, matchMode]);
}

async function remove(
  parts: Uses<'store' | 'clock'>,
  caller: Caller,
  id: string,
  global: boolean,
): Promise<void> {
  const now = isoNow(parts.clock);
  await parts.store.write((tx) => {
    const before = storedBinding(tx, caller, id, 'id', global);
    drop(tx, caller, bindingKind, before);
    keepVersionsOf(tx, caller, [before], now);
  });
}

/** Bindings of lists. */
export const bindingKind: Owned<IpListBinding> = {
  collection: ipListBindings,
  noun: 'binding of this kind',
  audit: 'ip_list_binding',
  nameOf: ({ ipListId }) => ipListId,
};

function storedBinding(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
  global: boolean,
): IpListBinding {
  const binding = stored(store, caller, bindingKind, id, field);
  if ((binding.scope === 'global') !== global) throw notFound(bindingKind.noun, id);
  return binding;
}

function showBinding(store: ReadStore, binding: IpListBinding): IpListBindingRecord {
  const ipListName = store.get(ipLists, binding.ipListId)?.name ?? '';
  return toMessage(IpListBindingRecordSchema, { ...binding, ipListName });
}

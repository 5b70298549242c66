/** Bindings of IP lists: where and how a list decides; one for each list, place and address. */

import {
  IpListBindingRecordSchema,
  type IpListBindingRecordJson,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { AppError } from '../../../base/errors.ts';
import type { Caller } from '../../auth/permissions.ts';
import { checkTarget, type CountryTarget } from '../../domain/access/country-access.ts';
import {
  checkAccessChoice,
  checkPathPrefix,
  checkSortOrder,
} from '../../domain/access/ip-list-checks.ts';
import type { IpListBinding } from '../../domain/access/ip-list.ts';
import { refusal } from '../../domain/errors.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { ipListBindings, ipLists } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { toMessage } from '../convert.ts';
import { storedPolicy } from '../policy-service/stored-policy.ts';
import type { Asking, ServedKind } from '../resource/resource.ts';
import { refuseOtherPolicy, storedSite } from '../site-service/stored-site.ts';
import { storedList } from './stored-list.ts';

/** A binding, and what its caller read of it, where that is to be compared. */
export interface AskedBinding extends IpListBindingRecordJson {
  readonly expected?: IpListBindingRecordJson;
}

/** Bindings of lists. */
export const bindingKind: ServedKind<
  typeof IpListBindingRecordSchema,
  AskedBinding,
  IpListBinding
> = {
  schema: IpListBindingRecordSchema,
  collection: ipListBindings,
  noun: 'binding of this kind',
  audit: 'ip_list_binding',
  field: 'binding',
  prefix: 'binding',
  nameOf: ({ ipListId }) => ipListId,
  show: (store) => (binding) => {
    const ipListName = store.get(ipLists, binding.ipListId)?.name ?? '';
    return toMessage(IpListBindingRecordSchema, { ...binding, ipListName });
  },
  placed: ({ tx }, asked) => sameBindings(tx, checkedBinding(asked))[0],
  settle: ({ tx, caller, document }, asked, before, { id, tenantId, createdAt }) => {
    const checked = checkedBinding(asked);
    storedList(tx, caller, checked.ipListId, 'binding.ipListId');
    // Documents look at the place of each entry themselves.
    if (document === undefined) requirePlace(tx, caller, checked, 'binding');
    requireAsRead(asked.expected, before);
    return { record: { ...checked, id, tenantId, createdAt } };
  },
  refuseMore: (store) => {
    const most = accessLimits.bindingsMax;
    if (store.count(ipListBindings) < most) return;
    throw refusal('resource_exhausted', `there are at most ${most} bindings`);
  },
  taken: 'binding: another binding has this list, place and path',
  namesakes: sameBindings,
};

type Checked = Omit<IpListBinding, 'id' | 'tenantId' | 'createdAt'>;

/** What a binding says, checked by itself. Errors: invalid_argument under `binding`. */
export function checkedBinding(asked: IpListBindingRecordJson): Checked {
  return {
    ...checkAccessChoice(asked, 'binding.'),
    ...checkTarget(asked, 'binding'),
    ipListId: asked.ipListId ?? '',
    pathPrefix: checkPathPrefix(asked.pathPrefix ?? '', 'binding.pathPrefix'),
    sortOrder: checkSortOrder(asked.sortOrder, 'binding.sortOrder'),
  };
}

/** Bindings of the same list, place, path and address. */
export function sameBindings(store: ReadStore, wanted: IpListBindingRecordJson): IpListBinding[] {
  const placeOf = ({ policyId, siteId, pathPrefix, addressSource }: IpListBindingRecordJson) =>
    JSON.stringify([policyId, siteId, pathPrefix ?? '', addressSource]);
  return store
    .find(ipListBindings, 'list', wanted.ipListId ?? '')
    .filter((one) => placeOf(one) === placeOf(wanted));
}

/** Errors: aborted where the binding is not what the caller read. */
function requireAsRead(
  expected: IpListBindingRecordJson | undefined,
  stored: IpListBinding | null,
): void {
  if (expected === undefined) return;
  if (contentOfBinding(expected) === contentOfBinding(stored ?? {})) return;
  throw refusal('aborted', 'expected: the binding changed since; read it again');
}

/** What a person may set in a binding, and which one it is. */
function contentOfBinding(one: IpListBindingRecordJson): string {
  const { id = '', ipListId = '', policyId = '', siteId = '', pathPrefix = '', kind = '' } = one;
  const { sortOrder = 0, bypassMode = '', addressSource = '', matchMode = '' } = one;
  const place = [id, ipListId, policyId, siteId, pathPrefix];
  return JSON.stringify([...place, kind, sortOrder, bypassMode, addressSource, matchMode]);
}

type Place = Pick<CountryTarget, 'policyId' | 'siteId'>;

/** Errors: not_found for a policy or site that the caller does not have. */
export function requireTarget(
  store: ReadStore,
  caller: Caller,
  { policyId, siteId }: Place,
  field: string,
): void {
  if (policyId !== '') storedPolicy(store, caller, policyId, `${field}.policyId`);
  if (siteId !== '') storedSite(store, caller, siteId, `${field}.siteId`);
}

/**
 * The same for a place where something is to take effect. Errors: also failed_precondition for a
 * policy with a site that uses another one: both together never match.
 */
export function requirePlace(store: ReadStore, caller: Caller, target: Place, field: string): void {
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
  target: Place,
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

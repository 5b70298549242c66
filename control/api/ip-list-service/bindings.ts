/** Where lists decide: bindings of the deployment, of policies and of sites. */

import type { HandlerContext } from '@connectrpc/connect';
import {
  IpListReferenceSchema,
  type IpListBindingRecord,
  type IpListService,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { contentOf } from '../../access/list-contents.ts';
import { bindingReference, referencesOf } from '../../access/references.ts';
import type { Caller } from '../../auth/permissions.ts';
import { checkTarget } from '../../domain/access/country-access.ts';
import { invalidField, notFound } from '../../domain/errors.ts';
import { checkAccessChoice } from '../../domain/access/ip-list-checks.ts';
import type { IpListBinding } from '../../domain/access/ip-list.ts';
import { keepBindingsVersion } from '../../publish/policy-versions.ts';
import { ipListBindings } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import { applyNow } from '../deployment.ts';
import type { Built, Method } from '../method.ts';
import { drop, ownedBy } from '../resource/owned.ts';
import type { Change } from '../resource/resource.ts';
import { serve, upsertIn } from '../resource/serve.ts';
import {
  bindingKind,
  requirePlace,
  requireTarget,
  sameBindings,
  sortBindings,
  type AskedBinding,
} from './binding.ts';
import { requireEtag, storedList } from './stored-list.ts';

type Methods = Pick<
  Built<typeof IpListService>,
  | 'listIpListBindings'
  | 'listGlobalIpListBindings'
  | 'upsertIpListBinding'
  | 'upsertGlobalIpListBinding'
  | 'deleteIpListBinding'
  | 'deleteGlobalIpListBinding'
  | 'getIpListEditImpact'
  | 'listIpListReferences'
>;

/** Methods on bindings, and on what uses a list. */
export function bindingMethods(parts: Uses<'store' | 'clock'>): Methods {
  const { store } = parts;
  const placed = serveBindings(parts, false);
  const global = serveBindings(parts, true);
  const references = (caller: Caller, id: string, field: string) => {
    const list = storedList(store, caller, id, field);
    return referencesOf(store, list.id).map((one) => toMessage(IpListReferenceSchema, one));
  };
  return {
    listIpListBindings: ({ policyId, siteId }, context) => {
      if (policyId === '' && siteId === '') {
        throw invalidField('policyId', 'is required where siteId is empty');
      }
      requireTarget(store, callerOf(context), { policyId, siteId }, '');
      const ofPolicy = ({ policyId: own }: IpListBinding) => own === '' || own === policyId;
      const found =
        siteId === ''
          ? store.find(ipListBindings, 'policy', policyId)
          : store.find(ipListBindings, 'site', siteId).filter((one) => !policyId || ofPolicy(one));
      return { items: sortBindings(found).map(placed.show) };
    },
    listGlobalIpListBindings: (_request, context) => {
      const found = ownedBy(store, callerOf(context), bindingKind);
      const everywhere = found.filter(({ scope }) => scope === 'global');
      return { items: sortBindings(everywhere).map(global.show) };
    },
    upsertIpListBinding: placed.upsert,
    upsertGlobalIpListBinding: global.upsert,
    deleteIpListBinding: placed.remove,
    deleteGlobalIpListBinding: global.remove,
    getIpListEditImpact: ({ id }, context) => {
      const found = references(callerOf(context), id, 'id');
      return { references: found, affectedConsumers: found.length };
    },
    listIpListReferences: ({ ipListId }, context) => ({
      items: references(callerOf(context), ipListId, 'ipListId'),
    }),
  };
}

/** A binding, and what its caller read of it. */
interface UpsertRequest {
  readonly binding?: IpListBindingRecord | undefined;
  readonly expected?: IpListBindingRecord | undefined;
}

/** Changes of bindings of policies and sites, or of those of the whole deployment. */
function serveBindings(parts: Uses<'store' | 'clock'>, isGlobal: boolean) {
  const { show, asked, upsert, remove } = serve(parts, {
    ...bindingKind,
    guard: (_change, { id, scope }) => {
      if ((scope === 'global') !== isGlobal) throw notFound(bindingKind.noun, id);
    },
  });
  const keepVersions = (
    tx: WriteStore,
    context: HandlerContext,
    changed: readonly IpListBinding[],
  ): void => keepVersionsOf({ tx, caller: callerOf(context), nowMs: parts.clock.nowMs() }, changed);
  return {
    show,
    upsert: async ({ binding, expected }: UpsertRequest, context: HandlerContext) => {
      const read = expected === undefined ? {} : { expected: asked(expected) };
      const wanted = { ...asked(binding), ...read };
      refuseOtherScope(wanted, isGlobal);
      const kept = await upsert(wanted, {}, context, {
        also: (tx, after, before) => keepVersions(tx, context, [before ?? after, after]),
      });
      return { binding: show(kept) };
    },
    remove: (request: { readonly id: string }, context: HandlerContext) =>
      remove(request, context, {
        also: (tx, gone) => keepVersions(tx, context, [gone]),
      }),
  };
}

/** Errors: invalid_argument for a place that the other methods are for. */
function refuseOtherScope(asked: AskedBinding, isGlobal: boolean): void {
  const { scope } = checkTarget(asked, 'binding');
  if (isGlobal && scope !== 'global') {
    throw invalidField('binding.scope', 'is global here; UpsertIpListBinding takes the others');
  }
  if (!isGlobal && scope === 'global') {
    throw invalidField('binding.policyId', 'is required where siteId is empty');
  }
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
    const nowMs = parts.clock.nowMs();
    const references = await parts.store.write((tx) => {
      const change = { tx, caller, nowMs };
      const list = storedList(tx, caller, request.ipListId, 'ipListId');
      requireEtag(request.etag, contentOf(tx, list.id).etag);
      const bound = targets.map((target, at) => {
        requirePlace(tx, caller, target, `targets[${at}]`);
        const asked = { ...choice, ...target, ipListId: list.id };
        const sortOrder = sameBindings(tx, asked)[0]?.sortOrder ?? 0;
        return upsertIn(change, bindingKind, { ...asked, sortOrder });
      });
      keepVersionsOf(change, bound);
      return bound.map((one) => bindingReference(tx, one));
    });
    const { state, error } = await applyNow(parts);
    const shown = references.map((one) => toMessage(IpListReferenceSchema, one));
    return { references: shown, saved: true, applied: state === 'applied', applyError: error };
  };
}

/** Binds a list globally with a kind and takes all its other bindings away. */
export function bindOnlyGlobally(change: Change, ipListId: string, kind: string): void {
  const { tx, caller } = change;
  const gone = tx.find(ipListBindings, 'list', ipListId);
  for (const binding of gone) drop(tx, caller, bindingKind, binding);
  keepVersionsOf(change, gone);
  const asked = { ipListId, kind, addressSource: 'client_ip', matchMode: 'in_list' };
  upsertIn(change, bindingKind, asked);
}

/** Policies whose own bindings changed get a new version that records the change. */
function keepVersionsOf({ tx, caller, nowMs }: Change, changed: readonly IpListBinding[]): void {
  const now = new Date(nowMs).toISOString();
  const own = changed.filter(({ scope }) => scope === 'policy');
  for (const policyId of new Set(own.map((one) => one.policyId))) {
    keepBindingsVersion(tx, policyId, caller.username, now);
  }
}

/** IpListService/LookupIpScopes. */

import {
  IpListScopeHitSchema,
  type IpListScopeHitJson,
  type IpListService,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { decideAccess, readAddress, type AccessHit } from '../../access/decide.ts';
import { policyName, siteName } from '../../access/references.ts';
import { invalidField } from '../../domain/errors.ts';
import { showEntry } from '../../domain/access/ip-list.ts';
import { ipLists } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';

/** Every binding that an address meets, and what they decide together. */
export function lookupIpScopes(
  parts: Uses<'store' | 'clock'>,
): Method<typeof IpListService, 'lookupIpScopes'> {
  return ({ ip, siteId, peerIp, requestPath }, context) => {
    const caller = callerOf(context);
    const { store } = parts;
    const clientKey = readAddress(ip);
    if (clientKey === null) throw invalidField('ip', 'must be one address, for example 192.0.2.7');
    const peerKey = peerIp === '' ? null : readAddress(peerIp);
    if (peerIp !== '' && peerKey === null) throw invalidField('peerIp', 'must be one address');
    if (siteId !== '') storedSite(store, caller, siteId, 'siteId');
    const path = (requestPath || '/').split(/[?#]/)[0] ?? '/';
    if (!path.startsWith('/')) throw invalidField('requestPath', 'must begin with a slash');
    const { tenantId } = caller;
    const now = isoNow(parts.clock);
    const found = decideAccess(store, { tenantId, clientKey, peerKey, siteId, path, now });
    return {
      hits: found.hits.map((hit) => toMessage(IpListScopeHitSchema, showHit(store, hit))),
      decision: found.decision,
      decisionStatus: found.status,
      decisionBindingId: found.bindingId,
    };
  };
}

function showHit(store: ReadStore, { binding, entries }: AccessHit): IpListScopeHitJson {
  return {
    scope: binding.scope,
    ipListId: binding.ipListId,
    ipListName: store.get(ipLists, binding.ipListId)?.name ?? '',
    policyId: binding.policyId,
    policyName: policyName(store, binding.policyId),
    siteId: binding.siteId,
    siteName: siteName(store, binding.siteId),
    kind: binding.kind,
    bypassMode: binding.bypassMode ?? '',
    entries: entries.map(showEntry),
    bindingId: binding.id,
    addressSource: binding.addressSource ?? '',
    matchMode: binding.matchMode ?? '',
    pathPrefix: binding.pathPrefix ?? '',
  };
}

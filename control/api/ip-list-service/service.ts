/** IpListService. */

import type { IpListService } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { applyIpList, bindingMethods } from './bindings.ts';
import {
  addEntries,
  exportCsv,
  listIpListEntries,
  lookupIp,
  removeEntries,
  replaceIpListEntries,
} from './entries.ts';
import { cloneIpList, createIpList, listMethods, updateIpList } from './lists.ts';
import { lookupIpScopes } from './lookup-scopes.ts';
import {
  acceptHeldIpListUpdate,
  createIpListSubscription,
  discardHeldIpListUpdate,
  listIpListSyncRuns,
  pauseIpListSync,
  resumeIpListSync,
  syncIpListNow,
  testIpListSource,
  updateIpListSubscription,
} from './subscriptions.ts';

/** IpListService. */
export function ipListService(
  parts: Uses<'store' | 'clock' | 'logger' | 'publisher' | 'nodes' | 'subscriptions' | 'counters'>,
): Built<typeof IpListService> {
  return {
    ...listMethods(parts),
    createIpList: createIpList(parts),
    updateIpList: updateIpList(parts),
    cloneIpList: cloneIpList(parts),
    listIpListEntries: listIpListEntries(parts),
    replaceIpListEntries: replaceIpListEntries(parts),
    addEntries: addEntries(parts),
    removeEntries: removeEntries(parts),
    exportCsv: exportCsv(parts),
    lookupIp: lookupIp(parts),
    lookupIpScopes: lookupIpScopes(parts),
    ...bindingMethods(parts),
    applyIpList: applyIpList(parts),
    acceptHeldIpListUpdate: acceptHeldIpListUpdate(parts),
    createIpListSubscription: createIpListSubscription(parts),
    discardHeldIpListUpdate: discardHeldIpListUpdate(parts),
    listIpListSyncRuns: listIpListSyncRuns(parts),
    pauseIpListSync: pauseIpListSync(parts),
    resumeIpListSync: resumeIpListSync(parts),
    syncIpListNow: syncIpListNow(parts),
    testIpListSource: testIpListSource(parts),
    updateIpListSubscription: updateIpListSubscription(parts),
  };
}

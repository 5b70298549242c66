/** IpListService's lists: finding, creating, changing, cloning and removing them. */

import { randomUUID } from 'node:crypto';
import {
  IpListSchema,
  type IpListJson,
  type IpListService,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import {
  adoptContent,
  chunkReader,
  contentOf,
  dropGarbage,
  removeContent,
  stageContent,
  type StagedContent,
} from '../../access/list-contents.ts';
import { allReferences, referencesOf, type ListReference } from '../../access/references.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkListTexts } from '../../domain/access/ip-list-checks.ts';
import { allEntries, countOf, type IpEntry } from '../../domain/access/ip-list-content.ts';
import { checkEntries, heldContentId, type IpListRecord } from '../../domain/access/ip-list.ts';
import { applyMask, type MaskFields } from '../../domain/update-mask.ts';
import { ipListRuns, ipLists, ipListSecrets } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { fitsQuery, isoNow, pageOf, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { drop, keep } from '../resource/owned.ts';
import {
  listKind,
  refuseSameListName,
  requireEtag,
  requireManual,
  showList,
  storedList,
} from './stored-list.ts';

const maskFields: MaskFields = { name: true, description: true, entries: true };

/** Lists without their entries, by name. */
export function listIpLists(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
): Method<typeof IpListService, 'listIpLists'> {
  return ({ page: asked, query, managementMode }, context) => {
    const { tenantId } = callerOf(context);
    if (!['', 'manual', 'subscription'].includes(managementMode)) {
      throw invalidField('managementMode', 'must be empty, manual or subscription');
    }
    const found = parts.store
      .list(ipLists)
      .filter(
        (list) =>
          list.tenantId === tenantId &&
          (managementMode === '' || list.managementMode === managementMode) &&
          fitsQuery(query, list.id, list.name, list.description),
      )
      .sort((left, right) => left.name.localeCompare(right.name) || (left.id < right.id ? -1 : 1));
    const { items, page } = pageOf(found, asked);
    const references = items.length === 0 ? null : allReferences(parts.store);
    const show = (list: IpListRecord) =>
      showList(parts, list, { entries: false, references: references?.get(list.id) ?? [] });
    return { items: items.map(show), page };
  };
}

/** One list; with its entries when there are at most `shownEntriesMax`. */
export function getIpList(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
): Method<typeof IpListService, 'getIpList'> {
  return ({ id }, context) => {
    const list = storedList(parts.store, callerOf(context), id, 'id');
    return { ipList: showList(parts, list, { entries: true }) };
  };
}

/** Creates a manual list. */
export function createIpList(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof IpListService, 'createIpList'> {
  return async (request, context) => {
    if (request.ipList === undefined) throw invalidField('ipList', 'is required');
    const asked = toRecord<IpListJson>(IpListSchema, request.ipList);
    const texts = checkListTexts(asked, 'ipList.');
    if (!['', 'manual'].includes(asked.managementMode ?? '') || asked.source !== undefined) {
      throw invalidField('ipList.managementMode', 'is manual here; see CreateIpListSubscription');
    }
    const now = parts.clock.nowMs();
    const entries = checkEntries(asked.entries ?? [], 'ipList.entries', now);
    const list = await createManual(
      parts,
      callerOf(context),
      texts,
      sorted(entries),
      'ipList.name',
    );
    return { ipList: showList(parts, list, { entries: true }) };
  };
}

/** Changes the masked fields. */
export function updateIpList(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof IpListService, 'updateIpList'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.ipList === undefined) throw invalidField('ipList', 'is required');
    const change = toRecord<IpListJson>(IpListSchema, request.ipList);
    const { store } = parts;
    const known = storedList(store, caller, change.id ?? '', 'ipList.id');
    const plain = { name: known.name, description: known.description, entries: unchanged };
    const masked = applyMask<{ name?: string; description?: string; entries?: unknown }>(
      plain,
      change,
      request.updateMask,
      maskFields,
    );
    const texts = checkListTexts(masked, 'ipList.');
    const withEntries = masked.entries !== unchanged;
    if (withEntries) requireManual(known, 'ipList.entries');
    const etag = change.etag ?? '';
    if (
      withEntries &&
      etag === '' &&
      countOf(contentOf(store, known.id)) > accessLimits.shownEntriesMax
    ) {
      throw invalidField('ipList.etag', 'is required to replace the entries of so long a list');
    }
    const entries = checkEntries(change.entries ?? [], 'ipList.entries', parts.clock.nowMs());
    const staged = withEntries ? await stageContent(store, known.id, sorted(entries)) : null;
    const list = await adopting(parts, staged, (tx) => {
      const before = storedList(tx, caller, known.id, 'ipList.id');
      if (withEntries) requireEtag(etag, contentOf(tx, known.id).etag);
      const after = { ...before, ...texts, updatedAt: isoNow(parts.clock) };
      refuseSameListName(tx, after, 'ipList.name');
      return keep(tx, caller, listKind, before, after, {}, () => {
        if (staged !== null) adoptContent(tx, staged, after.updatedAt);
      });
    });
    return { ipList: showList(parts, list, { entries: true }) };
  };
}

/** Copies a list into a manual one. */
export function cloneIpList(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof IpListService, 'cloneIpList'> {
  return async ({ id, name }, context) => {
    const caller = callerOf(context);
    const from = storedList(parts.store, caller, id, 'id');
    const texts = checkListTexts({ name, description: from.description }, '');
    const content = contentOf(parts.store, from.id);
    const entries = allEntries(content, chunkReader(parts.store), () => {
      throw refusal('aborted', 'id: the list changed while it was copied; try again');
    });
    const list = await createManual(parts, caller, texts, entries, 'name');
    return { ipList: showList(parts, list, { entries: true }) };
  };
}

/** Removes a list that nothing uses. */
export function deleteIpList(parts: Uses<'store'>): Method<typeof IpListService, 'deleteIpList'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    const { store } = parts;
    const garbage = await store.write((tx) => {
      const before = storedList(tx, caller, id, 'id');
      refuseUsed(referencesOf(tx, before.id));
      drop(tx, caller, listKind, before);
      tx.remove(ipListSecrets, before.id);
      for (const run of tx.find(ipListRuns, 'list', before.id)) tx.remove(ipListRuns, run.id);
      return [removeContent(tx, before.id), removeContent(tx, heldContentId(before.id))];
    });
    for (const one of garbage) await dropGarbage(store, one);
    return { result: { id, changed: true } };
  };
}

/** Runs a change that adopts a staged content, and clears up after it either way. */
export async function adopting<T>(
  parts: Uses<'store'>,
  staged: StagedContent | null,
  change: (tx: WriteStore) => T,
): Promise<T> {
  try {
    return await parts.store.write(change);
  } finally {
    if (staged !== null) await dropGarbage(parts.store, staged.garbageId);
  }
}

/** Entries in the order of their keys. */
export function sorted(entries: ReadonlyMap<string, IpEntry>): IpEntry[] {
  return [...entries.values()].sort((left, right) => (left.key < right.key ? -1 : 1));
}

/** Errors: resource_exhausted past the number of lists. */
export function refuseTooManyLists(store: ReadStore): void {
  if (store.count(ipLists) < accessLimits.listsMax) return;
  throw refusal('resource_exhausted', `there are at most ${accessLimits.listsMax} IP lists`);
}

async function createManual(
  parts: Uses<'store' | 'clock'>,
  caller: Caller,
  texts: { readonly name: string; readonly description: string },
  entries: Iterable<IpEntry>,
  nameField: string,
): Promise<IpListRecord> {
  const now = isoNow(parts.clock);
  const list: IpListRecord = {
    id: `iplist-${randomUUID()}`,
    tenantId: caller.tenantId,
    ...texts,
    managementMode: 'manual',
    createdAt: now,
    updatedAt: now,
  };
  refuseSameListName(parts.store, list, nameField);
  const staged = await stageContent(parts.store, list.id, entries);
  return adopting(parts, staged, (tx) => {
    refuseTooManyLists(tx);
    refuseSameListName(tx, list, nameField);
    return keep(tx, caller, listKind, null, list, {}, () => adoptContent(tx, staged, now));
  });
}

const namedUsersMax = 5;

/** Errors: failed_precondition that says by what the list is used. */
function refuseUsed(references: readonly ListReference[]): void {
  if (references.length === 0) return;
  const named = references.slice(0, namedUsersMax).map((one) => {
    if (one.role === 'trusted_proxy_peer') return `trust node ${one.trustNodeId}`;
    if (one.role === 'rule_operand') return `custom rule ${one.customRuleId}`;
    if (one.role === 'bot_trusted_client') return `bot protection of site ${one.siteId}`;
    const place = one.scope === 'global' ? 'the deployment' : one.siteId || one.policyId;
    return `binding ${one.bindingId} of ${place}`;
  });
  const more =
    references.length > namedUsersMax ? ` and ${references.length - namedUsersMax} more` : '';
  throw refusal('failed_precondition', `id: the list is used by ${named.join(', ')}${more}`);
}

const unchanged: unknown = Symbol('unchanged');

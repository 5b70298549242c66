/** IpListService's lists: finding, creating, changing, cloning and removing them. */

import {
  IpListSchema,
  type IpList,
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
import { allReferences } from '../../access/references.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkListTexts } from '../../domain/access/ip-list-checks.ts';
import { allEntries, countOf, type IpEntry } from '../../domain/access/ip-list-content.ts';
import { checkEntries, heldContentId, type IpListRecord } from '../../domain/access/ip-list.ts';
import { applyMask, type MaskFields } from '../../domain/update-mask.ts';
import { ipListRuns, ipListSecrets } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toRecord } from '../convert.ts';
import type { Built, Method } from '../method.ts';
import { keep } from '../resource/owned.ts';
import { baseOf } from '../resource/resource.ts';
import { serveRecords } from '../resource/serve.ts';
import {
  createListIn,
  listKind,
  newListKind,
  refuseSameListName,
  requireEtag,
  requireManual,
  showList,
  storedList,
} from './stored-list.ts';

const maskFields: MaskFields = { name: true, description: true, entries: true };

/** Lists, one with its entries when there are at most `shownEntriesMax`, and removals. */
export function listMethods(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Pick<Built<typeof IpListService>, 'listIpLists' | 'getIpList' | 'deleteIpList'> {
  const { store } = parts;
  const kind = { ...listKind, schema: IpListSchema };
  const rows = serveRecords(parts, { ...kind, show: () => rowsOf(parts) });
  const whole = serveRecords(parts, {
    ...kind,
    show: () => (list) => showList(parts, list, { entries: true }),
  });
  return {
    listIpLists: (request, context) => {
      const { managementMode: mode } = request;
      if (!['', 'manual', 'subscription'].includes(mode)) {
        throw invalidField('managementMode', 'must be empty, manual or subscription');
      }
      const fits = (list: IpListRecord) => mode === '' || list.managementMode === mode;
      return rows.list(request, context, { fits });
    },
    getIpList: (request, context) => ({ ipList: whole.get(request, context) }),
    deleteIpList: async (request, context) => {
      const garbage: string[] = [];
      const answer = await whole.remove(request, context, {
        also: (tx, { id }) => {
          tx.remove(ipListSecrets, id);
          for (const run of tx.find(ipListRuns, 'list', id)) tx.remove(ipListRuns, run.id);
          garbage.push(removeContent(tx, id), removeContent(tx, heldContentId(id)));
        },
      });
      for (const one of garbage) await dropGarbage(store, one);
      return answer;
    },
  };
}

/** How the lists of a page are shown; who uses them is looked up for all at once. */
function rowsOf(parts: Uses<'store' | 'publisher' | 'nodes'>): (list: IpListRecord) => IpList {
  let all: ReturnType<typeof allReferences> | undefined;
  return (list) => {
    all ??= allReferences(parts.store);
    return showList(parts, list, { entries: false, references: all.get(list.id) ?? [] });
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

async function createManual(
  parts: Uses<'store' | 'clock'>,
  caller: Caller,
  texts: { readonly name: string; readonly description: string },
  entries: Iterable<IpEntry>,
  nameField: string,
): Promise<IpListRecord> {
  const { store, clock } = parts;
  const nowMs = clock.nowMs();
  const base = baseOf({ caller, nowMs }, newListKind, null);
  const list: IpListRecord = { ...base, ...texts, managementMode: 'manual' };
  refuseSameListName(store, list, nameField);
  const staged = await stageContent(store, list.id, entries);
  return adopting(parts, staged, (tx) => {
    const keepMore = () => adoptContent(tx, staged, list.updatedAt);
    return createListIn({ tx, caller, nowMs }, { ...list, keepMore }, nameField);
  });
}

const unchanged: unknown = Symbol('unchanged');

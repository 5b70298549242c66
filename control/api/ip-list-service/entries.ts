/** The entries of lists: pages, edits, replacement, CSV, look-ups in one list. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  IpListEntrySchema,
  type IpListEntry,
  type IpListEntryJson,
  type IpListService,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { guardLimits } from '../../../base/guard-limits.ts';
import { storeLimits } from '../../limits/store-limits.ts';
import { parseAddress, parseNetwork, textOfKey } from '../../../base/ip-address.ts';
import { runInSlices } from '../../../base/steps.ts';
import { toCsvLine } from '../../access/csv.ts';
import {
  adoptContent,
  chunkReader,
  contentOf,
  editEntries,
  stageContent,
} from '../../access/list-contents.ts';
import { referencesOf } from '../../access/references.ts';
import { meets, type PermissionRule } from '../../auth/permissions.ts';
import { warningsOf } from '../../domain/enforcement.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkListTexts, oneOf } from '../../domain/access/ip-list-checks.ts';
import {
  countOf,
  entriesHolding,
  entriesOf,
  hasLapsed,
  type IpEntry,
  type IpListContent,
  type ReadChunk,
} from '../../domain/access/ip-list-content.ts';
import {
  checkEntriesInSteps,
  showEntry,
  type IpListBinding,
  type IpListRecord,
} from '../../domain/access/ip-list.ts';
import { countryRules, ipListBindings } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { fitsQuery, isoNow, pageOf, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep, noteAction } from '../resource/owned.ts';
import { bindOnlyGlobally } from './bindings.ts';
import { adopting, sorted } from './lists.ts';
import { rolloutOf } from './rollout.ts';
import {
  auditedList,
  listKind,
  refuseSameListName,
  requireEtag,
  requireManual,
  showList,
  storedList,
} from './stored-list.ts';

const show = (entry: IpEntry) => toMessage(IpListEntrySchema, showEntry(entry));

/** One page of entries in the order of addresses, IPv4 first. */
export function listIpListEntries(
  parts: Uses<'store' | 'counters'>,
): Method<typeof IpListService, 'listIpListEntries'> {
  return async (request, context) => {
    const { store } = parts;
    const caller = callerOf(context);
    const list = storedList(store, caller, request.ipListId, 'ipListId');
    const family = oneOf(request.addressFamily || 'all', ['all', 'ipv4', 'ipv6'], 'addressFamily');
    const content = contentOf(store, list.id);
    requireEtag(request.etag, content.etag);
    const { etag, ipv4Count, ipv6Count } = content;
    const query = request.query.trim();
    const found =
      query === ''
        ? pageOfFamily(content, chunkReader(store), family, request.page)
        : pageOf(await search(content, chunkReader(store), family, query), request.page);
    return {
      ...{ items: found.items.map(show), page: found.page, ipv4Count, ipv6Count, etag },
      ...(meets(readsLog, caller.permissions) ? hitsOf(parts, list, found.items) : {}),
      hitsNotCounted: hitsNotCounted(store, list),
    };
  };
}

const readsLog: PermissionRule = { public: false, anyPermission: ['log:read'], allPermission: [] };

/**
 * No node counts an allow that skips nothing: it changes nothing. One for lists alone skips rules
 * of countries, where there are any.
 */
function hitsNotCounted(store: ReadStore, { id }: IpListRecord): boolean {
  const bindings = store.find(ipListBindings, 'list', id);
  const skipsCountries = store.list(countryRules).length > 0;
  const decides = ({ kind, bypassMode }: IpListBinding): boolean =>
    kind !== 'allow' || bypassMode === 'all_waf' || skipsCountries;
  return bindings.length > 0 && !bindings.some(decides);
}

/** How often entries of a list decided, and what is counted for none of them. */
function hitsOf(
  { counters }: Uses<'counters'>,
  { id: listId, tenantId }: IpListRecord,
  entries: readonly IpEntry[],
) {
  const counted = (entryKey: string) => {
    const value = entryKey === '' ? '' : textOfKey(entryKey);
    const found = counters.listEntryHits(tenantId, { listId, entryKey });
    if (found === null) return { value };
    return { value, hits: BigInt(found.hits), lastHitAt: timestampFromMs(found.lastMs) };
  };
  return { hits: entries.map(({ key }) => counted(key)), otherHits: counted('') };
}

/** Checked entries of a request, which may have a million: read in slices. */
function readEntries(
  parts: Uses<'clock'>,
  entries: readonly IpListEntry[],
): Promise<Map<string, IpEntry>> {
  const records = function* (): Generator<IpListEntryJson> {
    for (const one of entries) yield toRecord<IpListEntryJson>(IpListEntrySchema, one);
  };
  const steps = checkEntriesInSteps(records(), 'entries', parts.clock.nowMs());
  return runInSlices(steps, storeLimits.sliceMs);
}

/** Adds entries; one that is there gets the given note and expiry. */
export function addEntries(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof IpListService, 'addEntries'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.entries.length === 0) throw invalidField('entries', 'needs at least one entry');
    const entries = await readEntries(parts, request.entries);
    const list = await parts.store.write((tx) => {
      const before = storedList(tx, caller, request.ipListId, 'ipListId');
      requireManual(before, 'ipListId');
      const audited = auditedList(tx, before);
      const content = editEntries(tx, before.id, entries, new Set(), isoNow(parts.clock));
      if (countOf(content) > guardLimits.listEntriesMax) {
        const most = guardLimits.listEntriesMax;
        throw invalidField('entries', `a list has at most ${most} entries`);
      }
      const after = { ...auditedList(tx, before), set: entries.size };
      noteAction(tx, caller, listKind, before, 'add_entries', { before: audited, after });
      return before;
    });
    return { ipList: showList(parts, list, { entries: true }) };
  };
}

/** Removes entries; those that are not there are passed over. */
export function removeEntries(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof IpListService, 'removeEntries'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.values.length === 0) throw invalidField('values', 'needs at least one value');
    const keys = request.values.map((value, at) => {
      const key = parseNetwork(value.trim());
      if (key === null) throw invalidField(`values[${at}]`, 'must be an address or a network');
      return key;
    });
    const list = await parts.store.write((tx) => {
      const before = storedList(tx, caller, request.ipListId, 'ipListId');
      requireManual(before, 'ipListId');
      const audited = auditedList(tx, before);
      editEntries(tx, before.id, new Map(), new Set(keys), isoNow(parts.clock));
      const after = { ...auditedList(tx, before), removed: keys.length };
      noteAction(tx, caller, listKind, before, 'remove_entries', { before: audited, after });
      return before;
    });
    return { ipList: showList(parts, list, { entries: true }) };
  };
}

/** Replaces all entries, and the texts when a name is given. */
export function replaceIpListEntries(
  parts: Uses<'store' | 'clock' | 'logger' | 'publisher' | 'nodes'>,
): Method<typeof IpListService, 'replaceIpListEntries'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const { store } = parts;
    const known = storedList(store, caller, request.id, 'id');
    requireManual(known, 'id');
    const texts = request.name === '' ? known : checkListTexts(request, '');
    const { name, description } = texts;
    const entries = await readEntries(parts, request.entries);
    const kind = request.exclusiveGlobalKind;
    if (kind !== '') oneOf(kind, ['allow', 'deny', 'monitor'], 'exclusiveGlobalKind');
    requireEtag(request.etag, contentOf(store, known.id).etag);
    const staged = await stageContent(store, known.id, sorted(entries));
    const list = await adopting(parts, staged, (tx) => {
      const before = storedList(tx, caller, known.id, 'id');
      requireEtag(request.etag, contentOf(tx, known.id).etag);
      const after = { ...before, name, description, updatedAt: isoNow(parts.clock) };
      refuseSameListName(tx, after, 'name');
      return keep(tx, caller, listKind, before, after, { action: 'replace_entries' }, () => {
        adoptContent(tx, staged, after.updatedAt);
        if (kind === '') return;
        bindOnlyGlobally({ tx, caller, nowMs: parts.clock.nowMs() }, after.id, kind);
      });
    });
    const affectedConsumers = referencesOf(store, list.id).length;
    return {
      ipList: showList(parts, list, { entries: true }),
      affectedConsumers,
      rollout: await rolloutOf(parts, affectedConsumers),
      warnings: kind === '' ? [] : warningsOf(ipListBindings.name),
    };
  };
}

/** All entries as CSV with the columns value, note and expires_at. */
export function exportCsv(parts: Uses<'store'>): Method<typeof IpListService, 'exportCsv'> {
  return async ({ ipListId }, context) => {
    const list = storedList(parts.store, callerOf(context), ipListId, 'ipListId');
    const content = contentOf(parts.store, list.id);
    const readChunk = chunkReader(parts.store);
    const pieces: Buffer[] = [Buffer.from('value,note,expires_at\r\n')];
    for (const { id } of content.chunks) {
      const chunk = readChunk(id);
      if (chunk === undefined) throw changedMeanwhile();
      const lines = [...entriesOf(chunk)].map((entry) => {
        const { value = '', note = '', expiresAt = '' } = showEntry(entry);
        return toCsvLine([value, note, expiresAt]);
      });
      pieces.push(Buffer.from(lines.join('')));
      await nextTurn();
    }
    const filename = `${list.name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 64) || 'ip-list'}.csv`;
    return { csv: new Uint8Array(Buffer.concat(pieces)), filename };
  };
}

/** Entries of one list that hold an address, and what the list decides for the deployment. */
export function lookupIp(parts: Uses<'store' | 'clock'>): Method<typeof IpListService, 'lookupIp'> {
  return ({ ipListId, ip }, context) => {
    const { store } = parts;
    const list = storedList(store, callerOf(context), ipListId, 'ipListId');
    const key = parseAddress(ip.trim());
    if (key === null) throw invalidField('ip', 'must be one address, for example 192.0.2.7');
    const now = isoNow(parts.clock);
    const entries = entriesHolding(contentOf(store, list.id), chunkReader(store), key).filter(
      (entry) => !hasLapsed(entry, now),
    );
    const matched = entries.length > 0;
    const deciding = referencesOf(store, list.id).find(
      (one) =>
        one.role === 'access_control' &&
        one.scope === 'global' &&
        one.addressSource === 'client_ip' &&
        (one.matchMode === 'in_list') === matched,
    );
    return { matched, entries: entries.map(show), decision: deciding?.kind ?? 'none' };
  };
}

function pageOfFamily(
  content: IpListContent,
  readChunk: ReadChunk,
  family: string,
  asked: Parameters<typeof pageOf>[1],
) {
  const { ipv4Count } = content;
  const from = family === 'ipv6' ? ipv4Count : 0;
  const total = { all: countOf(content), ipv4: ipv4Count, ipv6: content.ipv6Count }[family] ?? 0;
  // An array that is only as long as the list says how pages lie in it.
  const { page } = pageOf(
    { length: total, slice: () => [] } as unknown as readonly IpEntry[],
    asked,
  );
  const start = from + (page.page - 1) * page.pageSize;
  const end = Math.min(start + page.pageSize, from + total);
  const items: IpEntry[] = [];
  let at = 0;
  for (const ref of content.chunks) {
    if (at >= end) break;
    if (at + ref.count > start) {
      const chunk = readChunk(ref.id);
      const entries = chunk === undefined ? [] : [...entriesOf(chunk)];
      items.push(...entries.slice(Math.max(0, start - at), end - at));
    }
    at += ref.count;
  }
  return { items, page };
}

async function search(
  content: IpListContent,
  readChunk: ReadChunk,
  family: string,
  query: string,
): Promise<IpEntry[]> {
  const first = { all: '', ipv4: '4', ipv6: '6' }[family] ?? '';
  const found: IpEntry[] = [];
  for (const ref of content.chunks) {
    if (!ref.first.startsWith(first)) continue;
    const chunk = readChunk(ref.id);
    if (chunk === undefined) throw changedMeanwhile();
    for (const entry of entriesOf(chunk)) {
      if (fitsQuery(query, showEntry(entry).value, entry.note)) found.push(entry);
    }
    await nextTurn();
  }
  return found;
}

function changedMeanwhile() {
  return refusal('aborted', 'ipListId: the entries changed while they were read; try again');
}

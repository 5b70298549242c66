/** Lists that a URL fills: their sources, fetches, and updates that wait for a person. */

import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  IpListSourceInputSchema,
  IpListSyncRunSchema,
  type IpListService,
  type IpListSourceInput,
  type IpListSourceInputJson,
  type IpListSyncStatusJson,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { compareEntries } from '../../access/compare-contents.ts';
import {
  chunkReader,
  contentOf,
  dropGarbage,
  removeContent,
  renameContent,
} from '../../access/list-contents.ts';
import { FetchError } from '../../access/outgoing.ts';
import { checkJsonPath } from '../../access/source-formats.ts';
import { removeHeld, sourceOf } from '../../access/subscriptions.ts';
import { beginRun, endRun, restingState } from '../../access/sync-runs.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkListTexts } from '../../domain/access/ip-list-checks.ts';
import { allEntries } from '../../domain/access/ip-list-content.ts';
import { checkSource, type SourceWithSecrets } from '../../domain/access/ip-list-source.ts';
import {
  heldContentId,
  type IpListRecord,
  type IpListRunRecord,
} from '../../domain/access/ip-list.ts';
import { ipListRuns, ipLists, ipListSecrets } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep, keepNoted, noteAction } from '../resource/owned.ts';
import {
  createListIn,
  listKind,
  refuseSameListName,
  requireSubscription,
  showList,
  storedList,
} from './stored-list.ts';

/** How long a call waits for a fetch; then it answers with the run as it stands. */
const waitForRunMs = 20_000;

/** Creates a list that is filled from a URL. */
export function createIpListSubscription(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes' | 'subscriptions'>,
): Method<typeof IpListService, 'createIpListSubscription'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const texts = checkListTexts(request, '');
    const known = readSource(request.source, null, randomUUID());
    if (known === null) throw invalidField('source', 'is required');
    const nowMs = parts.clock.nowMs();
    const asked = {
      ...texts,
      managementMode: 'subscription',
      source: known.source,
      sync: restingState({ status: 'never_synced' }, known.source, nowMs),
      keepMore: (tx: WriteStore, made: IpListRecord) => keepHeaders(tx, made, known),
    } as const;
    const list = await parts.store.write((tx) =>
      createListIn({ tx, caller, nowMs }, asked, 'name'),
    );
    const run = request.syncNow ? await syncAndWait(parts, list.id, 'create') : null;
    return answerWith(parts, list.id, run);
  };
}

/** Changes texts and source; what is left out stays. */
export function updateIpListSubscription(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes' | 'subscriptions'>,
): Method<typeof IpListService, 'updateIpListSubscription'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const { store, clock } = parts;
    const { id, garbage } = await store.write((tx) => {
      const before = storedList(tx, caller, request.id, 'id');
      requireSubscription(before);
      const texts = request.name === '' ? before : checkListTexts(request, '');
      const { name, description } = texts;
      const stored = sourceOf(tx, before);
      const known = readSource(request.source, stored, stored?.source.id ?? randomUUID()) ?? stored;
      if (known === null) throw invalidField('source', 'is required');
      const sync = restingState(before.sync ?? {}, known.source, clock.nowMs());
      // What another source sent is not to be accepted any more.
      const { held: waiting, ...rest } = before;
      const held = request.source === undefined ? waiting : undefined;
      const dropped = held === undefined && waiting !== undefined;
      const status = awakeStatus(sync, known.source.paused, held !== undefined);
      const after: IpListRecord = {
        ...rest,
        ...(held === undefined ? {} : { held }),
        name,
        description,
        source: known.source,
        sync: { ...sync, status },
        updatedAt: isoNow(clock),
      };
      refuseSameListName(tx, after, 'name');
      keep(tx, caller, listKind, before, after, {}, () => keepHeaders(tx, after, known));
      return { id: after.id, garbage: dropped ? removeHeld(tx, before) : '' };
    });
    if (garbage !== '') await dropGarbage(store, garbage);
    return answerWith(parts, id, request.syncNow ? await syncAndWait(parts, id, 'manual') : null);
  };
}

/** Fetches a source, given or saved, and stores nothing. */
export function testIpListSource(
  parts: Uses<'store' | 'subscriptions'>,
): Method<typeof IpListService, 'testIpListSource'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const list =
      request.ipListId === ''
        ? null
        : storedList(parts.store, caller, request.ipListId, 'ipListId');
    const saved = list === null ? null : sourceOf(parts.store, list);
    const known = readSource(request.source, saved, 'test') ?? saved;
    if (known === null) throw invalidField('source', 'is required where ipListId names none');
    // A test is to see the content, whatever was fetched before.
    const source = { ...known.source, etag: '', lastModified: '' };
    try {
      const answer = await parts.subscriptions.read({ ...known, source });
      const { result, httpStatus } = answer;
      if (result === null) throw refusal('unavailable', 'source: the answer has no content');
      const digest = createHash('sha256');
      for (const { key } of result.entries()) digest.update(key);
      const { count: entryCount, ipv4Count } = result;
      const same = list !== null && (await isSame(parts, list, result.entries()));
      return {
        httpStatus,
        entryCount,
        ipv4Count,
        ipv6Count: entryCount - ipv4Count,
        digest: digest.digest('hex'),
        notModified: same,
      };
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      throw refusal('failed_precondition', `source: ${error.message} (${error.resultCode})`);
    }
  };
}

/** Fetches a subscription at once. */
export function syncIpListNow(
  parts: Uses<'store' | 'subscriptions'>,
): Method<typeof IpListService, 'syncIpListNow'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    const list = storedList(parts.store, caller, id, 'id');
    requireSubscription(list);
    await parts.store.write((tx) => noteAction(tx, caller, listKind, list, 'sync'));
    const run = await syncAndWait(parts, list.id, 'manual');
    return run === null ? {} : { syncRun: showRun(run) };
  };
}

/** Stops fetching. */
export function pauseIpListSync(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof IpListService, 'pauseIpListSync'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    const list = await keepPaused(parts, caller, id, true);
    return { ipList: showList(parts, list, { entries: true }) };
  };
}

/** Fetches again. */
export function resumeIpListSync(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes' | 'subscriptions'>,
): Method<typeof IpListService, 'resumeIpListSync'> {
  return async ({ id, syncNow }, context) => {
    const caller = callerOf(context);
    await keepPaused(parts, caller, id, false);
    return answerWith(parts, id, syncNow ? await syncAndWait(parts, id, 'resume') : null);
  };
}

/** Takes over an update that was held back. */
export function acceptHeldIpListUpdate(
  parts: Uses<'store' | 'clock'>,
): Method<typeof IpListService, 'acceptHeldIpListUpdate'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    const { store, clock } = parts;
    const { run, garbage } = await store.write((tx) => {
      const list = heldList(tx, caller, id);
      const { held, ...rest } = list;
      const now = isoNow(clock);
      const { sync = {} } = list;
      const state = {
        ...sync,
        status: 'healthy',
        resultCode: 'ok',
        lastError: '',
        lastSuccessAt: now,
      };
      const after = { ...rest, sync: restingState(state, list.source, clock.nowMs()) };
      let dropped = '';
      keep(tx, caller, listKind, list, after, { action: 'accept_held_update' }, () => {
        dropped = renameContent(tx, heldContentId(list.id), list.id, now);
      });
      const {
        entryCount = 0,
        ipv4Count = 0,
        ipv6Count = 0,
        addedCount = 0,
        removedCount = 0,
      } = held;
      const counts = { entryCount, ipv4Count, ipv6Count, addedCount, removedCount };
      const end = {
        status: 'succeeded',
        resultCode: 'ok',
        error: '',
        httpStatus: 0,
        counts,
      } as const;
      const begun = beginRun(tx, list.id, 'manual', clock.nowMs());
      return { run: endRun(tx, begun, end, clock.nowMs()), garbage: dropped };
    });
    await dropGarbage(store, garbage);
    return { syncRun: showRun(run) };
  };
}

/** Throws away an update that was held back. */
export function discardHeldIpListUpdate(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof IpListService, 'discardHeldIpListUpdate'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    const { store, clock } = parts;
    const { list, garbage } = await store.write((tx) => {
      const before = heldList(tx, caller, id);
      const { held, ...rest } = before;
      const state = { ...before.sync, status: 'healthy', lastError: '' };
      const after = { ...rest, sync: restingState(state, before.source, clock.nowMs()) };
      const said = { before: { held }, after: {} };
      const list = keepNoted(tx, caller, listKind, after, 'discard_held_update', said);
      return { list, garbage: removeContent(tx, heldContentId(before.id)) };
    });
    await dropGarbage(store, garbage);
    return { ipList: showList(parts, list, { entries: true }) };
  };
}

/** Fetches of a subscription, newest first. */
export function listIpListSyncRuns(
  parts: Uses<'store'>,
): Method<typeof IpListService, 'listIpListSyncRuns'> {
  return ({ id, limit }, context) => {
    const list = storedList(parts.store, callerOf(context), id, 'id');
    if (limit < 0 || limit > accessLimits.syncRunsMax) {
      const most = accessLimits.syncRunsMax;
      throw invalidField('limit', `must be between 0 and ${most}; 0 acts as 20`);
    }
    const runs = parts.store.find(ipListRuns, 'list', list.id).toReversed();
    return { items: runs.slice(0, limit || 20).map(showRun) };
  };
}

/** The state of a subscription after a change: paused, held or neither. */
function awakeStatus(state: IpListSyncStatusJson, paused: boolean, held: boolean): string {
  const { status = '', lastSuccessAt } = state;
  if (paused || (status !== 'paused' && status !== 'held')) return status;
  if (held) return 'held';
  return lastSuccessAt === undefined ? 'never_synced' : 'healthy';
}

function readSource(
  input: IpListSourceInput | undefined,
  stored: SourceWithSecrets | null,
  id: string,
): SourceWithSecrets | null {
  if (input === undefined) return null;
  const asked = toRecord<IpListSourceInputJson>(IpListSourceInputSchema, input);
  return checkSource(asked, stored, id, checkJsonPath);
}

/** Keeps the values of the headers of a list's source. */
export function keepHeaders(
  tx: WriteStore,
  { id }: IpListRecord,
  { headers }: Pick<SourceWithSecrets, 'headers'>,
): void {
  if (Object.keys(headers).length === 0) tx.remove(ipListSecrets, id);
  else tx.put(ipListSecrets, { id, headers });
}

function keepPaused(
  { store, clock }: Uses<'store' | 'clock'>,
  caller: Caller,
  id: string,
  paused: boolean,
): Promise<IpListRecord> {
  return store.write((tx) => {
    const before = storedList(tx, caller, id, 'id');
    requireSubscription(before);
    if (before.source === undefined) return before;
    const source = { ...before.source, paused };
    const state = before.sync ?? {};
    const next = { ...state, status: awakeStatus(state, paused, before.held !== undefined) };
    const sync = restingState(next, source, clock.nowMs());
    const after: IpListRecord = { ...before, source, sync, updatedAt: isoNow(clock) };
    const said = { before: { paused: before.source.paused }, after: { paused } };
    return keepNoted(tx, caller, listKind, after, paused ? 'pause' : 'resume', said);
  });
}

type HeldList = IpListRecord & Required<Pick<IpListRecord, 'held' | 'source'>>;

function heldList(store: ReadStore, caller: Caller, id: string): HeldList {
  const list = storedList(store, caller, id, 'id');
  requireSubscription(list);
  const { held, source } = list;
  if (held === undefined || source === undefined) {
    throw refusal('failed_precondition', 'id: no update of this list is held');
  }
  return { ...list, held, source };
}

/** Starts a fetch and waits for its end, but not for ever. */
async function syncAndWait(
  parts: Uses<'store' | 'subscriptions'>,
  listId: string,
  trigger: string,
): Promise<IpListRunRecord | null> {
  const late = new AbortController();
  const run = parts.subscriptions.sync(listId, trigger);
  const patience = pause(waitForRunMs, null, { signal: late.signal }).catch(() => null);
  try {
    const ended = await Promise.race([run, patience]);
    if (ended !== null) return ended;
    run.catch(() => undefined);
    return parts.store.find(ipListRuns, 'list', listId).at(-1) ?? null;
  } finally {
    late.abort();
  }
}

async function isSame(
  parts: Uses<'store'>,
  list: IpListRecord,
  entries: ReturnType<typeof allEntries>,
): Promise<boolean> {
  const before = allEntries(contentOf(parts.store, list.id), chunkReader(parts.store));
  const { added, removed, changed } = await compareEntries(before, entries);
  return added + removed + changed === 0;
}

function answerWith(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
  listId: string,
  run: IpListRunRecord | null,
) {
  const list = parts.store.get(ipLists, listId);
  return {
    ...(list === undefined ? {} : { ipList: showList(parts, list, { entries: true }) }),
    ...(run === null ? {} : { syncRun: showRun(run) }),
  };
}

function showRun(run: IpListRunRecord) {
  return toMessage(IpListSyncRunSchema, run);
}

/**
 * Keeps subscribed lists up to date: when a source is due it is fetched, compared and taken, held
 * for a person or refused, with a row that says why. One fetch a list at a time.
 */

import type { Clock } from '../../base/clock.ts';
import { toAppError } from '../../base/errors.ts';
import { accessLimits } from '../limits/access-limits.ts';
import type { Logger } from '../../base/log.ts';
import { notFound, refusal } from '../domain/errors.ts';
import { allEntries, countOf, type IpListContent } from '../domain/access/ip-list-content.ts';
import { decideUpdate, type SourceWithSecrets } from '../domain/access/ip-list-source.ts';
import {
  heldContentId,
  type IpListRecord,
  type IpListRunRecord,
} from '../domain/access/ip-list.ts';
import { allowedNetworksOf } from '../domain/settings/outgoing-settings.ts';
import {
  ipListRuns,
  ipLists,
  ipListSecrets,
  settingsId,
  systemSettings,
} from '../store/collections.ts';
import { ownDuties, type Duties } from '../store/duties.ts';
import type { ReadStore, Store, WriteStore } from '../store/store.ts';
import { compareEntries, type ContentDifference } from './compare-contents.ts';
import {
  adoptContent,
  chunkReader,
  contentOf,
  dropAllGarbage,
  dropGarbage,
  removeContent,
  stageContent,
  type StagedContent,
} from './list-contents.ts';
import { FetchError, fetchOutgoing, type OutgoingAnswer, type OutgoingLimits } from './outgoing.ts';
import { removeLapsed } from './remove-lapsed.ts';
import { readEntries, type ReadEntries } from './source-formats.ts';
import {
  beginRun,
  endRun,
  restingState,
  stateAfter,
  syncingState,
  type RunEnd,
} from './sync-runs.ts';

/** What subscriptions work with. */
export interface SubscriptionParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly duties?: Duties;
  /** Bounds of one fetch where they differ. */
  readonly fetchLimits?: Partial<OutgoingLimits>;
}

type RunningParts = SubscriptionParts & { readonly signal: AbortSignal };

/** Keeps subscriptions up to date until it is closed. */
export interface Subscriptions {
  /** Fetches a source; stores nothing. Errors: FetchError. */
  read(source: SourceWithSecrets): Promise<OutgoingAnswer<ReadEntries>>;
  /** Fetches a list now, or waits for the fetch that runs. Errors: not_found. */
  sync(listId: string, trigger: string): Promise<IpListRunRecord>;
  /** Ends what runs; resolves when nothing of it touches the store any more. */
  close(): Promise<void>;
}

/** Removes leftovers of an earlier process, then starts to look for due subscriptions. */
export async function startSubscriptions(options: SubscriptionParts): Promise<Subscriptions> {
  const { clock, logger } = options;
  const begin = beginTidied(options);
  await begin();
  const running = new Map<string, Promise<IpListRunRecord>>();
  const waiting: (() => void)[] = [];
  let active = 0;
  let closed = false;
  const ending = new AbortController();
  const parts = { ...options, signal: ending.signal };
  const turn = async (): Promise<void> => {
    if (active >= accessLimits.syncsAtOnceMax) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    active++;
  };
  const done = (): void => {
    active--;
    waiting.shift()?.();
  };
  const sync = (
    listId: string,
    trigger: string,
    store = options.store,
  ): Promise<IpListRunRecord> => {
    const known = running.get(listId);
    if (known !== undefined) return known;
    const run = turn()
      .then(() => runSync({ ...parts, store }, listId, trigger).finally(done))
      .finally(() => running.delete(listId));
    running.set(listId, run);
    return run;
  };
  const tick = async (): Promise<void> => {
    const store = await begin();
    if (store === null) return;
    await removeLapsed(store, clock);
    for (const list of dueLists(store, clock)) {
      if (closed || running.has(list.id)) continue;
      sync(list.id, 'schedule', store).catch((error: unknown) => {
        logger.error('a subscription could not be fetched', { reason: toAppError(error).message });
      });
    }
  };
  let ticking = false;
  let ticked: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    if (ticking || closed) return;
    ticking = true;
    ticked = tick()
      .catch((error: unknown) => {
        logger.error('looking after IP lists failed', { reason: toAppError(error).message });
      })
      .finally(() => (ticking = false));
  }, accessLimits.accessTickMs);
  timer.unref();
  return {
    read: (source) => fetchSource(parts, source),
    sync,
    close: async () => {
      closed = true;
      clearInterval(timer);
      ending.abort();
      await Promise.allSettled([...running.values(), ticked]);
    },
  };
}

/** Begins duties. What another process began and did not end is over once they are ours. */
function beginTidied({ store: own, clock, duties = ownDuties(own) }: SubscriptionParts) {
  let tidied: Store | null = null;
  return async (): Promise<Store | null> => {
    const store = await duties.begin();
    if (store !== null && store !== tidied) await tidy(store, clock);
    return (tidied = store);
  };
}

async function tidy(store: Store, clock: Clock): Promise<void> {
  await dropAllGarbage(store);
  await endLostRuns(store, clock);
}

/** The source of a list with the values of its headers; null for a manual one. */
export function sourceOf(store: ReadStore, list: IpListRecord): SourceWithSecrets | null {
  if (list.source === undefined) return null;
  return { source: list.source, headers: store.get(ipListSecrets, list.id)?.headers ?? {} };
}

/** Takes a held update away; its chunks become garbage, whose id is returned. */
export function removeHeld(tx: WriteStore, list: IpListRecord): string {
  return removeContent(tx, heldContentId(list.id));
}

function fetchSource(
  { store, clock, signal, fetchLimits = {} }: RunningParts,
  { source, headers }: SourceWithSecrets,
): Promise<OutgoingAnswer<ReadEntries>> {
  const { url, etag, lastModified } = source;
  const allowedNetworks = allowedNetworksOf(store.get(systemSettings, settingsId)?.values ?? {});
  const bounds = { allowedNetworks, limits: fetchLimits, signal };
  const request = { url, headers, etag, lastModified, ...bounds };
  return fetchOutgoing(request, (body) => readEntries(body, source, clock.nowMs()));
}

async function runSync(
  parts: RunningParts,
  listId: string,
  trigger: string,
): Promise<IpListRunRecord> {
  const { store, clock } = parts;
  const { run, known } = await store.write((tx) => {
    const list = tx.get(ipLists, listId);
    const source = list === undefined ? null : sourceOf(tx, list);
    if (list === undefined || source === null) throw notFound('subscription', listId);
    tx.put(ipLists, { ...list, sync: syncingState(list, clock.nowMs()) });
    return { run: beginRun(tx, listId, trigger, clock.nowMs()), known: source };
  });
  try {
    const answer = await fetchSource(parts, known);
    return await settle(parts, run, known, answer);
  } catch (error) {
    const failure = failureOf(error);
    if (!(error instanceof FetchError)) {
      parts.logger.error('a fetched list could not be used', { reason: toAppError(error).message });
    }
    return finish(parts, run, failure, () => undefined);
  }
}

function failureOf(error: unknown): RunEnd {
  const known = error instanceof FetchError;
  return {
    status: 'failed',
    resultCode: known ? error.resultCode : 'http_error',
    error: known ? error.message : 'the update could not be stored; the log says more',
    httpStatus: known ? error.httpStatus : 0,
  };
}

/** Compares what was fetched with what is there, and takes, holds or refuses it. */
async function settle(
  parts: RunningParts,
  run: IpListRunRecord,
  known: SourceWithSecrets,
  answer: OutgoingAnswer<ReadEntries>,
): Promise<IpListRunRecord> {
  const { store } = parts;
  const { httpStatus, result } = answer;
  const before = contentOf(store, run.ipListId);
  const ended = { resultCode: 'not_modified', error: '', httpStatus };
  if (result === null) {
    const counts = countsOf(before);
    return finish(parts, run, { ...ended, status: 'not_modified', counts }, () => undefined);
  }
  const difference = await compareEntries(allEntries(before, chunkReader(store)), result.entries());
  const counts = countsOfUpdate(result, difference);
  const after = result.count;
  const decision = decideUpdate(known.source, {
    before: countOf(before),
    after,
    removed: difference.removed,
  });
  const { resultCode, reason } = decision;
  if (decision.action === 'refuse') {
    const end = { status: 'failed', resultCode, error: reason, httpStatus, counts } as const;
    return finish(parts, run, end, () => undefined);
  }
  const same = difference.added + difference.removed + difference.changed === 0;
  if (same && countOf(before) > 0) {
    const end = { ...ended, status: 'not_modified', counts } as const;
    return finish(parts, run, end, (_tx, list) => keepValidators(list, answer));
  }
  if (decision.action === 'hold') {
    const staged = await stageContent(store, heldContentId(run.ipListId), result.entries());
    const end = { status: 'held', resultCode, error: reason, httpStatus, counts } as const;
    return adopt(parts, run, end, staged, before, (tx, list) =>
      holdUpdate(tx, list, staged, difference, reason, parts.clock.nowMs()),
    );
  }
  const staged = await stageContent(store, run.ipListId, result.entries());
  const end = { status: 'succeeded', resultCode, error: '', httpStatus, counts } as const;
  return adopt(parts, run, end, staged, before, (tx, list) => {
    adoptContent(tx, staged, new Date(parts.clock.nowMs()).toISOString());
    return keepValidators(list, answer);
  });
}

type ListChange = (tx: WriteStore, list: IpListRecord) => IpListRecord | undefined;

async function adopt(
  parts: RunningParts,
  run: IpListRunRecord,
  end: RunEnd,
  staged: StagedContent,
  before: IpListContent,
  change: ListChange,
): Promise<IpListRunRecord> {
  try {
    return await finish(parts, run, end, (tx, list) => {
      // What was compared must still be what is there.
      if (contentOf(tx, run.ipListId).etag !== before.etag) {
        throw refusal('aborted', 'the list changed while its source was fetched');
      }
      return change(tx, list);
    });
  } finally {
    await dropGarbage(parts.store, staged.garbageId);
  }
}

/** Ends a run in one transaction with what it changes; a list that is gone changes nothing. */
async function finish(
  { store, clock }: RunningParts,
  run: IpListRunRecord,
  end: RunEnd,
  change: ListChange,
): Promise<IpListRunRecord> {
  let heldGarbage = '';
  const ended = await store.write((tx) => {
    const list = tx.get(ipLists, run.ipListId);
    if (list?.source === undefined) throw notFound('subscription', run.ipListId);
    const changed = change(tx, list) ?? list;
    const source = changed.source ?? list.source;
    const sync = stateAfter(list, source, end, clock.nowMs());
    const after: IpListRecord = { ...changed, sync };
    // What is there is what the source has: an update that waits is out of date.
    const settled = end.status === 'succeeded' || end.status === 'not_modified';
    if (settled && list.held !== undefined) {
      heldGarbage = removeHeld(tx, list);
      const { held: _held, ...rest } = after;
      tx.put(ipLists, rest);
    } else tx.put(ipLists, after);
    if (end.status === 'succeeded' || end.status === 'held') {
      const { entryCount = 0, addedCount = 0, removedCount = 0 } = end.counts ?? {};
      tx.audit({
        actorId: 'system',
        actorName: 'system',
        tenantId: list.tenantId,
        action: end.status === 'held' ? 'hold_update' : 'sync',
        resourceType: 'ip_list',
        resourceId: list.id,
        resourceName: list.name,
        after: { runId: run.id, entryCount, addedCount, removedCount },
      });
    }
    return endRun(tx, run, end, clock.nowMs());
  });
  if (heldGarbage !== '') await dropGarbage(store, heldGarbage);
  return ended;
}

function keepValidators(list: IpListRecord, answer: OutgoingAnswer<unknown>): IpListRecord {
  if (list.source === undefined) return list;
  const { etag, lastModified } = answer;
  return { ...list, source: { ...list.source, etag, lastModified } };
}

function holdUpdate(
  tx: WriteStore,
  list: IpListRecord,
  staged: StagedContent,
  difference: ContentDifference,
  reason: string,
  nowMs: number,
): IpListRecord {
  const { content } = staged;
  adoptContent(tx, staged, new Date(nowMs).toISOString());
  return {
    ...list,
    held: {
      reason,
      entryCount: countOf(content),
      ipv4Count: content.ipv4Count,
      ipv6Count: content.ipv6Count,
      addedCount: difference.added,
      removedCount: difference.removed,
      addedSamples: [...difference.addedSamples],
      removedSamples: [...difference.removedSamples],
      createdAt: new Date(nowMs).toISOString(),
      expiresAt: new Date(nowMs + accessLimits.heldUpdateMs).toISOString(),
    },
  };
}

function countsOf({ ipv4Count, ipv6Count }: IpListContent) {
  const entryCount = ipv4Count + ipv6Count;
  return { entryCount, ipv4Count, ipv6Count, addedCount: 0, removedCount: 0 };
}

function countsOfUpdate(read: ReadEntries, { added, removed }: ContentDifference) {
  const { count: entryCount, ipv4Count } = read;
  const ipv6Count = entryCount - ipv4Count;
  return { entryCount, ipv4Count, ipv6Count, addedCount: added, removedCount: removed };
}

function dueLists(store: ReadStore, clock: Clock): IpListRecord[] {
  const now = new Date(clock.nowMs()).toISOString();
  return store
    .list(ipLists)
    .filter(({ source, sync }) => source?.paused === false && (sync?.nextSyncAt ?? '~') <= now);
}

/** Runs that an earlier process began and did not end. */
async function endLostRuns(store: Store, clock: Clock): Promise<void> {
  const lost = store.list(ipLists).filter(({ sync }) => sync?.status === 'syncing');
  if (lost.length === 0) return;
  await store.write((tx) => {
    for (const list of lost) {
      const error = 'the service was stopped during the fetch';
      const end = { status: 'failed', resultCode: 'http_error', error, httpStatus: 0 } as const;
      for (const run of tx.find(ipListRuns, 'list', list.id)) {
        if (run.status === 'running') endRun(tx, run, end, clock.nowMs());
      }
      if (list.source === undefined) continue;
      const state = { ...list.sync, status: 'failed', lastError: error };
      tx.put(ipLists, { ...list, sync: restingState(state, list.source, clock.nowMs(), 1) });
    }
  });
}

/** The record of fetches: one row each, and the state of a subscription that follows. */

import { randomUUID } from 'node:crypto';
import type { IpListSyncRunJson, IpListSyncStatusJson } from '../../proto/gen/waf/v1/ip_list_pb.ts';
import { accessLimits } from '../limits/access-limits.ts';
import type { StoredSource } from '../domain/access/ip-list-source.ts';
import type { IpListRecord, IpListRunRecord } from '../domain/access/ip-list.ts';
import { ipListRuns } from '../store/collections.ts';
import type { WriteStore } from '../store/store.ts';

/** How a fetch ended. */
export interface RunEnd {
  readonly status: 'succeeded' | 'not_modified' | 'held' | 'failed';
  readonly resultCode: string;
  /** Empty on success. */
  readonly error: string;
  readonly httpStatus: number;
  readonly counts?: Pick<
    IpListSyncRunJson,
    'entryCount' | 'ipv4Count' | 'ipv6Count' | 'addedCount' | 'removedCount'
  >;
}

const firstRetryMs = 60_000;

/** Starts a run and drops the oldest runs of the list past the limit. */
export function beginRun(
  tx: WriteStore,
  ipListId: string,
  trigger: string,
  nowMs: number,
): IpListRunRecord {
  const startedAt = new Date(nowMs).toISOString();
  const id = `run-${startedAt.replace(/[-:.]/g, '')}-${randomUUID()}`;
  const run: IpListRunRecord = { id, ipListId, trigger, status: 'running', startedAt };
  tx.put(ipListRuns, run);
  const all = tx.find(ipListRuns, 'list', ipListId);
  for (const old of all.slice(0, Math.max(0, all.length - accessLimits.syncRunsMax))) {
    tx.remove(ipListRuns, old.id);
  }
  return run;
}

/** Ends a run. */
export function endRun(
  tx: WriteStore,
  run: IpListRunRecord,
  end: RunEnd,
  nowMs: number,
): IpListRunRecord {
  const { status, resultCode, error, httpStatus, counts } = end;
  const finishedAt = new Date(nowMs).toISOString();
  const ended = { ...run, ...counts, status, resultCode, error, httpStatus, finishedAt };
  tx.put(ipListRuns, ended);
  return ended;
}

/** State of a subscription during a run. */
export function syncingState(list: IpListRecord, nowMs: number): IpListSyncStatusJson {
  return { ...list.sync, status: 'syncing', lastAttemptAt: new Date(nowMs).toISOString() };
}

/** State of a subscription after a run. */
export function stateAfter(
  list: IpListRecord,
  source: StoredSource,
  end: RunEnd,
  nowMs: number,
): IpListSyncStatusJson {
  const failed = end.status === 'failed';
  const failures = failed ? (list.sync?.consecutiveFailures ?? 0) + 1 : 0;
  const { lastSuccessAt = '' } = list.sync ?? {};
  const success = failed ? lastSuccessAt : new Date(nowMs).toISOString();
  return restingState(
    {
      status: failed ? 'failed' : end.status === 'held' ? 'held' : 'healthy',
      resultCode: end.resultCode,
      lastError: end.error,
      lastAttemptAt: new Date(nowMs).toISOString(),
      ...(success === '' ? {} : { lastSuccessAt: success }),
      consecutiveFailures: failures,
    },
    source,
    nowMs,
    failures,
  );
}

/** A state with the time of the next fetch, or paused. */
export function restingState(
  state: IpListSyncStatusJson,
  source: StoredSource,
  nowMs: number,
  failures = 0,
): IpListSyncStatusJson {
  const { nextSyncAt: _next, ...rest } = state;
  if (source.paused) return { ...rest, status: 'paused' };
  const intervalMs = source.intervalSeconds * 1000;
  // A failed fetch is tried again sooner, ever later, and no later than the next would be.
  const waitMs =
    failures === 0 ? intervalMs : Math.min(intervalMs, firstRetryMs * 2 ** Math.min(failures, 20));
  return { ...rest, nextSyncAt: new Date(nowMs + waitMs).toISOString() };
}

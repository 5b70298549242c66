/**
 * ReplayService/RunReplay: retained requests through a policy and its draft, in the engine and
 * a batch at a time. Changes nothing but for the audit row that it leaves.
 */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { EvaluateBatchResponse } from '../../../proto/gen/waf/runtime/v1/engine_pb.ts';
import {
  ReplayDifferenceSchema,
  RunReplayResponseSchema,
  type ReplayDifference,
  type ReplayService,
  type RunReplayRequest,
  type RunReplayResponse,
} from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import type { RequestEvidenceMetadataJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import { replayLimits } from '../../limits/replay-limits.ts';
import { EvenSample } from '../../observe/evidence/even-sample.ts';
import { toReplayable } from '../../observe/evidence/replayable.ts';
import { paced } from '../../observe/paced.ts';
import { sites } from '../../store/collections.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import type { PolicyForEngine, RequestForEngine } from '../engine-client.ts';
import { policyOfSite } from '../log-service/explain-event.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { readDraft, type Compared } from './draft.ts';
import { ReplayCounts, verdictOf } from './replay-outcome.ts';
import { tryEvent } from './try-event.ts';
import { Turns } from './turns.ts';

/** Runs retained requests for a caller of the API. */
export function runReplay(
  parts: Uses<'store' | 'clock' | 'events' | 'evidence' | 'engine'>,
): Method<typeof ReplayService, 'runReplay'> {
  return (request, context) => replayFor(parts, callerOf(context), request, context.signal);
}

/** Turns by store: all entrances and callers share them. */
const turnsOf = new WeakMap<object, Turns>();

/** Runs one after the other; those that come meanwhile wait, some of them. */
export async function* replayFor(
  parts: Uses<'store' | 'clock' | 'events' | 'evidence' | 'engine'>,
  caller: Caller,
  request: RunReplayRequest,
  signal: AbortSignal,
): AsyncGenerator<RunReplayResponse> {
  const compared = readDraft(parts, caller, request);
  const wanted = wantedSites(parts, caller, request);
  const turns =
    turnsOf.get(parts.store) ?? new Turns(replayLimits.runsMax, replayLimits.waitingMax);
  turnsOf.set(parts.store, turns);
  const end = await turns.take(signal);
  try {
    await noteRun(parts, caller, request);
    const range = rangeOf(parts, request);
    const chosen = await choose(parts, caller, wanted, range, request, signal);
    yield message({ case: 'plan', value: chosen.plan });
    if (request.securityEventId !== '') {
      const value = await tryEvent(parts, caller, request.securityEventId, compared, signal);
      if (value !== null) yield message({ case: 'rebuilt', value });
    }
    yield* compareAll(parts, compared, chosen.items, signal);
  } finally {
    end();
  }
}

type Part = NonNullable<Parameters<typeof create<typeof RunReplayResponseSchema>>[1]>['message'];

function message(part: NonNullable<Part>) {
  return create(RunReplayResponseSchema, { message: part });
}

/** Whether requests to a site are part of the run: the site asked for, or those of the policy. */
function wantedSites(
  { store }: Uses<'store'>,
  caller: Caller,
  { siteId, policyId }: RunReplayRequest,
): (siteId: string) => boolean {
  if (siteId !== '') {
    storedSite(store, caller, siteId, 'siteId');
    return (id) => id === siteId;
  }
  const users = store
    .list(sites)
    .filter(({ id }) => policyOfSite(store, caller.tenantId, id)?.id === policyId);
  const ids = new Set(users.map(({ id }) => id));
  return (id) => ids.has(id);
}

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

function rangeOf({ clock }: Uses<'clock'>, { timeRange }: RunReplayRequest): Range {
  const { start, end } = timeRange ?? {};
  const toMs = end === undefined ? clock.nowMs() + 1 : timestampMs(end);
  const fromMs = start === undefined ? toMs - replayLimits.standardRangeMs : timestampMs(start);
  return { fromMs, toMs };
}

/** Evidence is not redacted: reading it leaves an audit row before the first answer. */
async function noteRun({ store }: Uses<'store'>, caller: Caller, request: RunReplayRequest) {
  const { policyId, siteId, draftPolicyId } = request;
  const row = { ...actorNote(caller), action: 'replay', resourceType: 'policy' };
  const metadata = { siteId, draftPolicyId };
  await store.write((tx) =>
    tx.audit({ ...row, resourceId: policyId, resourceName: policyId, metadata }),
  );
}

async function choose(
  parts: Uses<'evidence'>,
  caller: Caller,
  wanted: (siteId: string) => boolean,
  { fromMs, toMs }: Range,
  { sampleMax }: RunReplayRequest,
  signal: AbortSignal,
) {
  const max = sampleMax === 0 ? replayLimits.requestsMax : sampleMax;
  const sample = new EvenSample<RequestEvidenceMetadataJson>(max);
  let looked = 0;
  let moreRetained = false;
  for await (const one of paced(parts.evidence.between(fromMs, toMs), { signal })) {
    if (++looked > replayLimits.scannedMax) {
      moreRetained = true;
      break;
    }
    if (one.tenantId !== caller.tenantId || !wanted(one.siteId ?? '')) continue;
    sample.add(one.evidenceId ?? '', one);
  }
  const items = sample.items();
  const how = items.length < sample.count ? 'sample' : 'all';
  const [found, chosen] = [BigInt(sample.count), BigInt(items.length)];
  return { items, plan: { found, chosen, sample: how, moreRetained } };
}

/** One site after the other: each has its own variant of both policies. */
async function* compareAll(
  parts: Uses<'evidence' | 'engine'>,
  compared: Compared,
  items: readonly RequestEvidenceMetadataJson[],
  signal: AbortSignal,
) {
  const counts = new ReplayCounts();
  const total = BigInt(items.length);
  let done = 0;
  let sent = 0;
  let leftOut = 0;
  for (const [siteId, ofSite] of bySite(items)) {
    const [before, after] = [compared.before(siteId), compared.after(siteId)];
    for (const batch of batchesOf(parts, ofSite, counts)) {
      signal.throwIfAborted();
      const differences = await compareBatch(parts, before, after, batch, counts, signal);
      for (const value of differences) {
        if (++sent <= replayLimits.differencesMax) yield message({ case: 'difference', value });
        else leftOut++;
      }
      done += batch.length;
      yield message({ case: 'progress', value: { done: BigInt(done), total } });
    }
  }
  const value = { ...counts.summary(), differencesLeftOut: BigInt(leftOut) };
  yield message({ case: 'summary', value });
}

function bySite(items: readonly RequestEvidenceMetadataJson[]) {
  const sorted = new Map<string, RequestEvidenceMetadataJson[]>();
  for (const one of items) {
    const known = sorted.get(one.siteId ?? '');
    if (known === undefined) sorted.set(one.siteId ?? '', [one]);
    else known.push(one);
  }
  return sorted;
}

interface Tried {
  readonly metadata: RequestEvidenceMetadataJson;
  readonly request: RequestForEngine;
}

/** Requests as they can be tried, together up to a number and a size; counts those that cannot. */
function* batchesOf(
  { evidence }: Uses<'evidence'>,
  items: readonly RequestEvidenceMetadataJson[],
  counts: ReplayCounts,
): Generator<Tried[]> {
  let batch: Tried[] = [];
  let bytes = 0;
  for (const metadata of items) {
    const { evidenceId = '', siteId = '' } = metadata;
    const headers = evidence.headers(evidenceId);
    const found = toReplayable(metadata, headers, replayLimits.bodyBytesMax);
    if (typeof found === 'string') {
      counts.skip(found);
      continue;
    }
    const { head, clientIp, bodyBytes } = found;
    const body = wholeBody(evidence, evidenceId, bodyBytes);
    if (body === null) {
      counts.skip('unavailable');
      continue;
    }
    batch.push({ metadata, request: { siteId, head, body, clientIp, peerIp: clientIp } });
    bytes += head.length + bodyBytes;
    if (batch.length < replayLimits.batchRequests && bytes < replayLimits.batchBytesMax) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

/** A body; null where its time came to an end meanwhile, or where it cannot be decrypted. */
function wholeBody(
  evidence: Uses<'evidence'>['evidence'],
  evidenceId: string,
  bodyBytes: number,
): Uint8Array | null {
  const body = new Uint8Array(bodyBytes);
  for (let at = 0; at < bodyBytes;) {
    const piece = evidence.readBody(evidenceId, at);
    if (piece.length === 0) return null;
    body.set(piece.subarray(0, bodyBytes - at), at);
    at += piece.length;
  }
  return body;
}

async function compareBatch(
  { engine }: Uses<'engine'>,
  before: PolicyForEngine,
  after: PolicyForEngine,
  batch: readonly Tried[],
  counts: ReplayCounts,
  signal: AbortSignal,
): Promise<ReplayDifference[]> {
  const requests = batch.map(({ request }) => request);
  const left = await engine.evaluateBatch(before, requests, signal);
  refuseUncompiled(left, 'policyId');
  const right = await engine.evaluateBatch(after, requests, signal);
  refuseUncompiled(right, 'candidate');
  const differences: ReplayDifference[] = [];
  for (const [at, { metadata }] of batch.entries()) {
    const [one, other] = [left.answers[at], right.answers[at]];
    const failed = (one?.failure ?? '') !== '' || (other?.failure ?? '') !== '';
    if (one === undefined || other === undefined || failed) {
      counts.skip('inspection_failed');
      continue;
    }
    const [was, is] = [verdictOf(one), verdictOf(other)];
    const ruleIds = counts.add(was, is);
    if (ruleIds === null) continue;
    differences.push(
      create(ReplayDifferenceSchema, {
        evidenceId: metadata.evidenceId ?? '',
        requestId: metadata.requestId ?? '',
        siteId: metadata.siteId ?? '',
        startedAt: timestampFromMs(Date.parse(metadata.startedAt ?? '')),
        method: metadata.method ?? '',
        host: metadata.host ?? '',
        path: (metadata.requestTarget ?? '').split('?', 1)[0] ?? '',
        before: { ...was, ruleIds: [...was.ruleIds] },
        after: { ...is, ruleIds: [...is.ruleIds] },
        ruleIds: [...ruleIds],
      }),
    );
  }
  return differences;
}

/** Errors: failed_precondition with the first error. */
function refuseUncompiled({ diagnostics }: EvaluateBatchResponse, field: string): void {
  const first = diagnostics.find(({ error }) => error);
  if (first === undefined) return;
  const text = first.message.replaceAll(/[^ -~]+/g, ' ').slice(0, 200);
  const place = `${first.file}:${first.line}:${first.column}`;
  throw refusal('failed_precondition', `${field}: the rules do not compile: ${place}: ${text}`);
}

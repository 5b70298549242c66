/** Opens what was observed: events, evidence, counts, load; removes what is too old. */

import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { entryFinder } from './access/entry-finder.ts';
import type { ApiParts } from './api/context.ts';
import { InventoryCounts } from './api/telemetry/inventory-counts.ts';
import type { OtlpSettings } from './export/otlp/otlp-settings.ts';
import { startSiemExports } from './export/siem-exports.ts';
import type { FindEvidence } from './export/evidence-wait.ts';
import { openClickhouseEvents } from './observe/clickhouse/clickhouse-events.ts';
import type { ClickhouseAddress } from './observe/clickhouse/clickhouse-option.ts';
import { openCounterStore, type CounterStore } from './observe/counter-store.ts';
import type { ClientsPlace } from './observe/detection-clients.ts';
import { startRetention } from './observe/event-retention.ts';
import type { EventStore, KeptSince } from './observe/event-store.ts';
import { openEventStore } from './observe/events/embedded-events.ts';
import { openEvidenceKeys, type EvidenceKeys } from './observe/evidence/evidence-keyring.ts';
import { openEvidenceStore, type EvidenceStore } from './observe/evidence/evidence-store.ts';
import { evidenceOfEvent } from './observe/evidence/evidence-summary.ts';
import { sealEarlier } from './observe/evidence/seal-earlier.ts';
import { sealedKv } from './observe/evidence/sealed-kv.ts';
import { defaultTenantId } from './domain/records.ts';
import { logEmergencyId } from './domain/settings/log-policy.ts';
import { openNodeLoadStore } from './observe/node-load.ts';
import { ObservationPipeline } from './observe/pipeline.ts';
import { diskOf, startStorageMonitor } from './observe/storage-monitor.ts';
import { siemLimits } from './limits/siem-limits.ts';
import { ViolationSamples } from './observe/violation-samples.ts';
import { evidenceStoreLimits, observationLimits } from './limits/observation-limits.ts';
import { globalLogPolicy, resolvedLogPolicy, retentionDays } from './publish/parts/log-parts.ts';
import { startOtlp, type OtlpExports } from './start-otlp.ts';
import {
  apiLearning,
  detectionLearning,
  logEmergencies,
  logPolicies,
  shadowRuns,
  sites,
} from './store/collections.ts';
import { evidenceKeysFile, evidenceStore } from './store/data-files.ts';
import { openLogs } from './store/open-logs.ts';
import type { Kv } from './store/kv.ts';
import type { Store } from './store/store.ts';

const dayMs = 24 * 3600 * 1000;

/** What was observed. */
export interface Observed {
  readonly parts: Pick<
    ApiParts,
    | 'events'
    | 'evidence'
    | 'evidenceKeys'
    | 'storage'
    | 'counters'
    | 'inventory'
    | 'samples'
    | 'load'
    | 'pipeline'
    | 'siem'
    | 'otlpQueues'
  >;
  /** Begins to send metrics to the OTLP collector, where one is set. */
  readonly sendMetrics: OtlpExports['sendMetrics'];
  /** Removes what is too old until it is closed. */
  readonly retention: { close(): Promise<void> };
  close(): Promise<void>;
}

/** Systems of others; absent or null where there is none. */
export interface OutsideSystems {
  readonly otlp?: OtlpSettings | null;
  /** Keeps the events instead of this one. */
  readonly clickhouse?: ClickhouseAddress | null;
  /** File of the keys of evidence; default: beside the folder of the evidence. */
  readonly evidenceKeys?: string;
}

/** `version` is that of the product. Errors: AppError of stores that cannot be opened. */
export function openObserved(
  dataFolder: string,
  store: Store,
  logger: Logger,
  version: string,
  { otlp: settings = null, clickhouse = null, evidenceKeys }: OutsideSystems,
): Observed {
  const folder = join(dataFolder, 'events');
  const kv = openLogs(folder, logger);
  const events = openEvents(kv, folder, clickhouse, logger);
  const { evidence, ...kept } = openEvidence(dataFolder, evidenceKeys, logger);
  const clock = systemClock;
  const findEvidence = evidenceFinder(store, evidence);
  const siem = startSiemExports({ store, clock, logger, version, findEvidence });
  events.onFacts((kind, facts) => {
    if (siem.wants(kind)) for (const fact of facts) siem.take(kind, fact.bytes, fact);
  });
  const otlp = startOtlp({ settings, events, clock, logger, version });
  const counters = openCounters(kv, store);
  const samples = openSamples(kv, store, logger);
  events.onFacts((kind, facts) => {
    if (kind === 'security') samples.take(facts);
  });
  const forget = async (since: KeptSince): Promise<void> => {
    await samples.forget(systemClock.nowMs() - observationLimits.detectionKeptMs);
    await counters.forgetLearned();
    await forgetEvidence(store, evidence);
    kept.rotate();
    // Last: what keeps events may be away.
    await events.forget(since);
  };
  const emergency = store.get(logEmergencies, logEmergencyId);
  const storage = startStorageMonitor({
    kv,
    clock: systemClock,
    problem: () => events.problem(),
    elsewhere: clickhouse !== null,
    eventBytes: () => Object.values(events.use()).reduce((sum, { bytes }) => sum + bytes, 0),
    evidence: () => evidence.use(),
    disk: () => diskOf(folder),
    onPressure: (active) => keepEmergency(store, logger, active),
    underPressure: emergency?.active === true,
  });
  return {
    parts: {
      events,
      evidence,
      evidenceKeys: kept.keys,
      storage,
      counters,
      inventory: new InventoryCounts(store, counters),
      samples,
      load: openNodeLoadStore(kv),
      pipeline: new ObservationPipeline(),
      siem,
      otlpQueues: () => otlp.stats(),
    },
    sendMetrics: (families, installedAt) => otlp.sendMetrics(families, installedAt),
    retention: startRetention({ forget }, () => retentionDays(store), systemClock, logger),
    close: async () => {
      await otlp.close();
      await siem.close();
      await storage.close();
      await samples.settled();
      await events.close();
      await kept.close();
    },
  };
}

function openEvents(
  kv: Kv,
  folder: string,
  address: ClickhouseAddress | null,
  logger: Logger,
): EventStore {
  return address === null
    ? openEventStore(kv, folder)
    : openClickhouseEvents({ address, kv, logger });
}

/** Evidence on disk, encrypted. */
interface KeptEvidence {
  readonly evidence: EvidenceStore;
  readonly keys: EvidenceKeys;
  /** Takes a new key when it is time. */
  rotate(): void;
  close(): Promise<void>;
}

/** Nodes give up what is acknowledged, so that it must be on disk then. */
function openEvidence(
  dataFolder: string,
  evidenceKeys: string | undefined,
  logger: Logger,
): KeptEvidence {
  const kv = openLogs(join(dataFolder, evidenceStore), logger, true);
  const keyFile = evidenceKeys ?? join(dataFolder, evidenceKeysFile);
  const keys = openEvidenceKeys(keyFile, systemClock, logger);
  const sealed = sealedKv(kv, keys);
  const stopping = new AbortController();
  const sealing = sealEarlier(kv, sealed, stopping.signal).then(
    (count) => {
      if (count > 0) logger.info('evidence of an earlier release is encrypted now', { count });
    },
    (error: unknown) => {
      logger.warn('evidence of an earlier release is not encrypted yet; see the next start', {
        reason: toAppError(error).message,
      });
    },
  );
  const evidence = openEvidenceStore(sealed, systemClock);
  return {
    evidence,
    keys,
    rotate: () => {
      try {
        keys.rotate();
      } catch (error) {
        const { message: reason } = toAppError(error);
        logger.warn('no new key of evidence; the present one stays in use', { reason });
      }
    },
    close: async () => {
      stopping.abort();
      await sealing;
      await evidence.close();
    },
  };
}

/** Removes evidence past its days, and bodies whose rest never came. */
async function forgetEvidence(store: Store, evidence: EvidenceStore): Promise<void> {
  const { requestEvidenceRetentionDays } = globalLogPolicy(store).policy;
  const nowMs = systemClock.nowMs();
  await evidence.forget(nowMs - requestEvidenceRetentionDays * dayMs);
  await evidence.forgetPartial(nowMs - evidenceStoreLimits.partialKeptMs);
}

/** Finds what is kept of a request, for targets that want it. */
function evidenceFinder(store: Store, evidence: EvidenceStore): FindEvidence {
  return ({ requestId, siteId, tenantId, receivedAtMs }) => {
    const event = { requestId, siteId, tenantId };
    const occurredAt = new Date(receivedAtMs).toISOString();
    const found = evidenceOfEvent({ ...event, occurredAt }, 'security', {
      evidence,
      nowMs: systemClock.nowMs(),
      retentionDays: globalLogPolicy(store).policy.requestEvidenceRetentionDays,
      modeOf: (id) => resolvedLogPolicy(store, id).effective.requestEvidenceMode,
    });
    const { evidenceId = '', available = false, unavailableReason, bodyOriginalBytes } = found;
    if (unavailableReason === 'not_received') return 'later';
    if (evidenceId === '' || !available) return 'none';
    const body = readBodyStart(evidence, evidenceId);
    const answer = evidence.answer(evidenceId);
    return {
      headers: evidence.headers(evidenceId),
      body,
      bodyBytes: Number(bodyOriginalBytes),
      answerHeaders: answer?.headers ?? [],
      answerBody: evidence.answerBody(evidenceId),
      answerBodyLack: answer?.bodyLack ?? 'not_asked',
    };
  };
}

/** As much of a body as a message takes. */
function readBodyStart(evidence: EvidenceStore, evidenceId: string): Uint8Array {
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (size < siemLimits.evidenceBodyBytesMax) {
    const piece = evidence.readBody(evidenceId, size);
    if (piece.length === 0) break;
    pieces.push(piece);
    size += piece.length;
  }
  return Buffer.concat(pieces).subarray(0, siemLimits.evidenceBodyBytesMax);
}

/** Samples of violations, where the log policy in force keeps them. */
function openSamples(kv: Kv, store: Store, logger: Logger): ViolationSamples {
  const keeps = (siteId: string): boolean =>
    resolvedLogPolicy(store, siteId).effective.schemaViolationDetails === true;
  const choice = {
    any: () => keeps('') || store.list(logPolicies).some(({ id }) => keeps(id)),
    keeps,
  };
  return new ViolationSamples(kv, choice, (error) => {
    const reason = error instanceof Error ? error.message : 'unknown';
    logger.error('samples of violations could not be kept', { reason });
  });
}

/** Keeps that storage pressure began or ended: nodes get what the log policy says of it. */
async function keepEmergency(store: Store, logger: Logger, active: boolean): Promise<void> {
  await store.write((tx) => {
    const before = tx.get(logEmergencies, logEmergencyId);
    const epoch = String(BigInt(before?.epoch ?? '0') + 1n);
    const after = { id: logEmergencyId, active, epoch };
    tx.put(logEmergencies, after);
    tx.audit({
      ...{ actorId: 'system', actorName: 'system', tenantId: defaultTenantId },
      ...{ action: active ? 'begin' : 'end', resourceType: 'log_emergency' },
      ...{ resourceId: logEmergencyId, ...(before && { before }), after },
    });
  });
  if (active) {
    logger.warn('the disk is almost full: by the log policy, details of requests are not kept');
  } else logger.info('the disk has room again: details of requests are kept');
}

/** Counts, with whose learning is taken. */
function openCounters(kv: Kv, store: Store): CounterStore {
  return openCounterStore(
    kv,
    (assetId) => store.get(apiLearning, assetId) ?? null,
    systemClock,
    (siteId) => clientsPlaceOf(store, siteId),
    (runId) => store.find(shadowRuns, 'run', runId)[0]?.tenantId ?? null,
    (tenantId, atMs) => entryFinder(store, tenantId, atMs),
  );
}

/** Whose counts of clients a site's are; null for one that is none. */
function clientsPlaceOf(store: Store, siteId: string): ClientsPlace | null {
  const tenantId = store.get(sites, siteId)?.tenantId;
  if (tenantId === undefined) return null;
  return { tenantId, generation: store.get(detectionLearning, siteId)?.generation ?? 0 };
}

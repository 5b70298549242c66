/** Opens what was observed: events, evidence, counts, load; removes what is too old. */

import { join } from 'node:path';
import { systemClock } from '../engine/base/clock.ts';
import type { Logger } from '../engine/base/log.ts';
import type { ApiParts } from './api/context.ts';
import { openCounterStore } from './observe/counter-store.ts';
import { startRetention } from './observe/event-retention.ts';
import { openEventStore, type KeptSince } from './observe/event-store.ts';
import { openEvidenceStore } from './observe/evidence/evidence-store.ts';
import { defaultTenantId } from './domain/records.ts';
import { logEmergencyId } from './domain/log-policy.ts';
import { openNodeLoadStore } from './observe/node-load.ts';
import { ObservationPipeline } from './observe/pipeline.ts';
import { diskOf, startStorageMonitor } from './observe/storage-monitor.ts';
import { globalLogPolicy, retentionDays } from './publish/log-parts.ts';
import { logEmergencies } from './store/collections.ts';
import { openLogs } from './store/open-logs.ts';
import type { Store } from './store/store.ts';

const dayMs = 24 * 3600 * 1000;

/** What was observed. */
export interface Observed {
  readonly parts: Pick<
    ApiParts,
    'events' | 'evidence' | 'storage' | 'counters' | 'load' | 'pipeline'
  >;
  /** Removes what is too old until it is closed. */
  readonly retention: { close(): Promise<void> };
  close(): Promise<void>;
}

/** Errors: AppError of stores that cannot be opened. */
export function openObserved(dataFolder: string, store: Store, logger: Logger): Observed {
  const folder = join(dataFolder, 'events');
  const kv = openLogs(folder, logger);
  const events = openEventStore(kv, folder);
  const evidence = openEvidenceStore(openLogs(join(dataFolder, 'evidence'), logger));
  const forget = async (since: KeptSince): Promise<void> => {
    await events.forget(since);
    const { requestEvidenceRetentionDays } = globalLogPolicy(store).policy;
    await evidence.forget(systemClock.nowMs() - requestEvidenceRetentionDays * dayMs);
  };
  const emergency = store.get(logEmergencies, logEmergencyId);
  const storage = startStorageMonitor({
    kv,
    clock: systemClock,
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
      storage,
      counters: openCounterStore(kv),
      load: openNodeLoadStore(kv),
      pipeline: new ObservationPipeline(),
    },
    retention: startRetention({ forget }, () => retentionDays(store), systemClock, logger),
    close: async () => {
      await storage.close();
      await events.close();
      await evidence.close();
    },
  };
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

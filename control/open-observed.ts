/** Opens what was observed: events, evidence, counts, load; removes what is too old. */

import { join } from 'node:path';
import { systemClock } from '../engine/base/clock.ts';
import type { Logger } from '../engine/base/log.ts';
import type { ApiParts } from './api/context.ts';
import { openCounterStore } from './observe/counter-store.ts';
import { startRetention } from './observe/event-retention.ts';
import { openEventStore, type KeptSince } from './observe/event-store.ts';
import { openEvidenceStore } from './observe/evidence/evidence-store.ts';
import { openNodeLoadStore } from './observe/node-load.ts';
import { ObservationPipeline } from './observe/pipeline.ts';
import { globalLogPolicy, retentionDays } from './publish/log-parts.ts';
import { openLogs } from './store/open-logs.ts';
import type { Store } from './store/store.ts';

const dayMs = 24 * 3600 * 1000;

/** What was observed. */
export interface Observed {
  readonly parts: Pick<ApiParts, 'events' | 'evidence' | 'counters' | 'load' | 'pipeline'>;
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
  return {
    parts: {
      events,
      evidence,
      counters: openCounterStore(kv),
      load: openNodeLoadStore(kv),
      pipeline: new ObservationPipeline(),
    },
    retention: startRetention({ forget }, () => retentionDays(store), systemClock, logger),
    close: async () => {
      await events.close();
      await evidence.close();
    },
  };
}

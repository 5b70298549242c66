/** Measures the log store at regular times and reports when storage pressure begins or ends. */

import { statfs } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import type { LogStorageHealthJson } from '../../proto/gen/waf/v1/log_pb.ts';
import { storageHealthLimits } from '../limits/observation-limits.ts';
import type { Kv } from '../store/kv.ts';
import type { EvidenceUse } from './evidence/evidence-store.ts';
import {
  addSample,
  isUnderPressure,
  storageHealth,
  type DiskSpace,
  type StorageSample,
} from './storage-health.ts';

/** What is measured. */
export interface StorageSources {
  /** Keeps the samples over restarts. */
  readonly kv: Kv;
  readonly clock: Clock;
  /** Why events cannot be kept now; '' while they can. */
  readonly problem?: () => string;
  /** Events lie on another system, whose disk is not known here. */
  readonly elsewhere?: boolean;
  /** Bytes of all events. */
  readonly eventBytes: () => number;
  readonly evidence: () => EvidenceUse;
  /** Null when the system does not tell. */
  readonly disk: () => Promise<DiskSpace | null>;
  /** Storage pressure began or ended. */
  readonly onPressure: (active: boolean) => Promise<void>;
  /** Whether there was pressure when control ended. */
  readonly underPressure: boolean;
}

/** The monitor while it runs. */
export interface StorageMonitor {
  /** The health now; `pendingBytes`: observations that nodes still hold. */
  health(pendingBytes: number): LogStorageHealthJson;
  /** Measures now. Never rejects. */
  measure(): Promise<void>;
  close(): Promise<void>;
}

const samplesKey = 'm\u0000storage-samples';

/** Starts measuring. */
export function startStorageMonitor(sources: StorageSources): StorageMonitor {
  const { kv, clock, evidence } = sources;
  let samples: readonly StorageSample[] = readSamples(kv);
  let disk: DiskSpace | null = null;
  let pressure = sources.underPressure;
  const bytesNow = (): number => sources.eventBytes() + evidence().storedBytes;
  const measure = async (): Promise<void> => {
    disk = await sources.disk();
    samples = addSample(samples, { atMs: clock.nowMs(), bytes: bytesNow() });
    const text = new TextEncoder().encode(JSON.stringify(samples));
    // A full disk takes no samples; the health it has is in memory.
    await kv.write((writer) => writer.put(samplesKey, text)).catch(() => undefined);
    const found = isUnderPressure(disk, pressure);
    if (found === pressure) return;
    const changed = sources.onPressure(found).then(() => true);
    // What could not be kept is tried again with the next measurement.
    if (await changed.catch(() => false)) pressure = found;
  };
  let running = measure();
  const timer = setInterval(() => {
    running = running.then(measure);
  }, storageHealthLimits.measureEveryMs).unref();
  return {
    health: (pendingBytes) => {
      const nowMs = clock.nowMs();
      const withNow = addSample(samples, { atMs: nowMs, bytes: bytesNow() });
      const failing = (sources.problem?.() ?? '') !== '';
      const { elsewhere = false } = sources;
      const own = { disk, evidence: evidence(), elsewhere, failing };
      return storageHealth({ samples: withNow, pendingBytes, nowMs, ...own });
    },
    measure: () => (running = running.then(measure)),
    close: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

/** The file system of a folder. */
export async function diskOf(folder: string): Promise<DiskSpace | null> {
  try {
    const { bsize, blocks, bavail } = await statfs(folder);
    return { totalBytes: bsize * blocks, availableBytes: bsize * bavail };
  } catch {
    return null;
  }
}

function readSamples(kv: Kv): readonly StorageSample[] {
  const bytes = kv.get(samplesKey);
  if (bytes === undefined) return [];
  return JSON.parse(new TextDecoder().decode(bytes)) as StorageSample[];
}

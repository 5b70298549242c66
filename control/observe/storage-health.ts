/** How full the log store is, how fast it fills, and how long the disk lasts. Pure. */

import type { LogStorageHealthJson } from '../../proto/gen/waf/v1/log_pb.ts';
import { storageHealthLimits } from '../limits/observation-limits.ts';
import type { EvidenceUse } from './evidence/evidence-store.ts';

/** Bytes that the log store held at a time. */
export interface StorageSample {
  readonly atMs: number;
  readonly bytes: number;
}

/** Bytes of the file system that holds the log store. */
export interface DiskSpace {
  readonly totalBytes: number;
  readonly availableBytes: number;
}

/** What was measured last. */
export interface StorageReading {
  /** Oldest first; the last one is of now. */
  readonly samples: readonly StorageSample[];
  /** Null when the system does not tell. */
  readonly disk: DiskSpace | null;
  readonly evidence: EvidenceUse;
  /** Observations that nodes still hold. */
  readonly pendingBytes: number;
  readonly nowMs: number;
  /** Events lie on another system, whose disk is not known here. */
  readonly elsewhere?: boolean;
  /** Events cannot be kept now. */
  readonly failing?: boolean;
}

const { preliminaryAfterMs, readyAfterMs, criticalShare, criticalBytes } = storageHealthLimits;
const { warningShare, warningBytes, warningRemainingMs, recoveryFactor } = storageHealthLimits;
const dayMs = 24 * 3600 * 1000;

/** The health of the store. Growth is floored at zero after it is measured over the window. */
export function storageHealth(reading: StorageReading): LogStorageHealthJson {
  const { samples, disk, evidence, pendingBytes, nowMs } = reading;
  const [first, last] = [samples[0], samples.at(-1)];
  const windowMs = first === undefined || last === undefined ? 0 : last.atMs - first.atMs;
  const change = windowMs === 0 ? 0 : last!.bytes - first!.bytes;
  const growthBytesPerDay = windowMs === 0 ? 0 : Math.max(0, (change / windowMs) * dayMs);
  const estimateState = estimateStateOf(
    reading.elsewhere === true ? null : disk,
    windowMs,
    growthBytesPerDay,
  );
  const estimated =
    estimateState === 'LOG_STORAGE_ESTIMATE_STATE_PRELIMINARY' ||
    estimateState === 'LOG_STORAGE_ESTIMATE_STATE_READY';
  const remainingMs = estimated ? (disk!.availableBytes / growthBytesPerDay) * dayMs : Infinity;
  return {
    status:
      reading.failing === true
        ? 'LOG_STORAGE_HEALTH_STATUS_CRITICAL'
        : statusOf(disk, estimateState, remainingMs),
    managedBytes: String(last?.bytes ?? 0),
    filesystemTotalBytes: String(disk?.totalBytes ?? 0),
    filesystemAvailableBytes: String(disk?.availableBytes ?? 0),
    growthBytesPerDay,
    estimateState,
    estimatedRemainingSeconds: estimated ? wholeSeconds(remainingMs) : '0',
    evidenceStoredBytes: String(evidence.storedBytes),
    evidenceStagedBytes: String(evidence.stagedBytes),
    pendingBytes: String(pendingBytes),
    evidenceQuotaBytes: String(evidence.quotaBytes),
    quotaRejected: String(evidence.quotaRejected),
    writeFailed: String(evidence.writeFailed),
    observedAt: new Date(last?.atMs ?? nowMs).toISOString(),
    calculatedAt: new Date(nowMs).toISOString(),
    observationWindowSeconds: wholeSeconds(windowMs),
  };
}

/** Whether details are to be given up: a little room brings them back only when it is enough. */
export function isUnderPressure(disk: DiskSpace | null, before: boolean): boolean {
  if (disk === null) return before;
  const bound = criticalBound(disk) * (before ? recoveryFactor : 1);
  return disk.availableBytes < bound;
}

/** Samples with a new one; the oldest of them go. */
export function addSample(
  samples: readonly StorageSample[],
  sample: StorageSample,
): readonly StorageSample[] {
  const since = sample.atMs - storageHealthLimits.windowMs;
  const kept = samples.filter(({ atMs }) => atMs >= since && atMs < sample.atMs);
  const { everyMs } = storageHealthLimits;
  // Between two steps only the newest counts.
  const last = kept.at(-2);
  if (last !== undefined && kept.at(-1)!.atMs - last.atMs < everyMs) kept.pop();
  return [...kept, sample];
}

function estimateStateOf(
  disk: DiskSpace | null,
  windowMs: number,
  growth: number,
): NonNullable<LogStorageHealthJson['estimateState']> {
  if (disk === null) return 'LOG_STORAGE_ESTIMATE_STATE_UNAVAILABLE';
  if (windowMs < preliminaryAfterMs) return 'LOG_STORAGE_ESTIMATE_STATE_COLLECTING';
  if (growth === 0) return 'LOG_STORAGE_ESTIMATE_STATE_NOT_GROWING';
  if (windowMs < readyAfterMs) return 'LOG_STORAGE_ESTIMATE_STATE_PRELIMINARY';
  return 'LOG_STORAGE_ESTIMATE_STATE_READY';
}

function statusOf(
  disk: DiskSpace | null,
  estimateState: string,
  remainingMs: number,
): NonNullable<LogStorageHealthJson['status']> {
  if (disk === null) return 'LOG_STORAGE_HEALTH_STATUS_UNKNOWN';
  if (isUnderPressure(disk, false)) return 'LOG_STORAGE_HEALTH_STATUS_CRITICAL';
  const bound = Math.min(disk.totalBytes * warningShare, warningBytes);
  const ready = estimateState === 'LOG_STORAGE_ESTIMATE_STATE_READY';
  const short = disk.availableBytes < bound || (ready && remainingMs < warningRemainingMs);
  return short ? 'LOG_STORAGE_HEALTH_STATUS_WARNING' : 'LOG_STORAGE_HEALTH_STATUS_HEALTHY';
}

function criticalBound({ totalBytes }: DiskSpace): number {
  return Math.min(totalBytes * criticalShare, criticalBytes);
}

function wholeSeconds(ms: number): string {
  return String(Math.floor(Math.min(ms / 1000, Number.MAX_SAFE_INTEGER)));
}

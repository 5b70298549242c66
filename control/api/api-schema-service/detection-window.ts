/** The span that a question about detection means: whole intervals of 10 seconds. Pure. */

import type { GetSchemaDetectionRequest } from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { timestampMs } from '@bufbuild/protobuf/wkt';

/** A half-open span of whole intervals. */
export interface DetectionWindow {
  readonly startMs: number;
  readonly endMs: number;
  /** What was asked for begins before what is kept. */
  readonly clipped: boolean;
}

/** Length of an interval. */
export const detectionIntervalMs = 10_000;
const dayMs = 24 * 3_600_000;

/** Errors: invalid_argument for fields that exclude each other. */
export function detectionWindow(
  request: GetSchemaDetectionRequest,
  nowMs: number,
): DetectionWindow {
  const { lookbackSeconds, windowStart, windowEnd, offset, includeViolationDetails } = request;
  const latestMs = Math.floor(nowMs / detectionIntervalMs) * detectionIntervalMs;
  const keptMs = Math.ceil((latestMs - observationLimits.detectionKeptMs) / dayMs) * dayMs;
  if (lookbackSeconds !== 0) {
    if (windowStart !== undefined || windowEnd !== undefined) {
      throw invalidField('lookbackSeconds', 'excludes windowStart and windowEnd: send one of them');
    }
    if (offset !== 0) throw invalidField('offset', 'must be 0 with lookbackSeconds');
    if (includeViolationDetails) {
      throw invalidField('includeViolationDetails', 'needs the window that was returned before');
    }
    return clipped(latestMs - lookbackSeconds * 1_000, latestMs, keptMs);
  }
  if (windowStart === undefined || windowEnd === undefined) {
    throw invalidField('windowStart', 'send windowStart and windowEnd, or lookbackSeconds');
  }
  const startMs = timestampMs(windowStart);
  const endMs = timestampMs(windowEnd);
  if (endMs <= startMs) throw invalidField('windowEnd', 'must be after windowStart');
  if (endMs - startMs > observationLimits.detectionKeptMs) {
    throw invalidField('windowStart', 'must be at most 8 days before windowEnd');
  }
  const from = Math.floor(startMs / detectionIntervalMs) * detectionIntervalMs;
  const to = Math.ceil(endMs / detectionIntervalMs) * detectionIntervalMs;
  return clipped(from, Math.min(to, latestMs), keptMs);
}

function clipped(startMs: number, endMs: number, keptMs: number): DetectionWindow {
  const from = Math.min(Math.max(startMs, keptMs), endMs);
  return { startMs: from, endMs, clipped: from > startMs };
}

/** What connections of an entrance may cost, in one place that tests can change. Plain data. */

import { callLimits } from '../../limits/call-limits.ts';

/** Bounds of one entrance. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  readonly strangersPerAddressMax: number;
  readonly silentGraceMs: number;
  readonly handshakeTimeoutMs: number;
  readonly headTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly bodyBytesPerSecondMin: number;
  readonly bodyLongestMs: number;
  readonly answerTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly sweepEveryMs: number;
  readonly controlFramesPerSweepMax: number;
}

/** The usual bounds. */
export const connectionLimits: ConnectionLimits = callLimits;

/** The JSON form of events: what proto3 leaves out, and why the detail of one was kept. Pure. */

import type { DetailSelectionJson } from '../../proto/gen/waf/v1/log_pb.ts';

/**
 * The object without what proto3's JSON form leaves out: zeros, false, empty texts and lists. The
 * text '0' stays: whole numbers of 64 bits, whose form is a text, come from `int64Json`.
 */
export function withoutDefaults<T extends object>(fields: {
  readonly [Name in keyof T]: T[Name] | undefined;
}): T {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields) as [string, unknown][]) {
    const empty =
      value === undefined ||
      value === '' ||
      value === 0 ||
      value === false ||
      (Array.isArray(value) && value.length === 0);
    if (!empty) kept[name] = value;
  }
  return kept as T;
}

/** The JSON form of a whole number of 64 bits; undefined for 0, which proto3 leaves out. */
export function int64Json(value: bigint | number): string | undefined {
  const text = String(value);
  return text === '0' ? undefined : text;
}

/** What a fact says of why it was kept. */
interface Selection {
  readonly captureReasons: readonly string[];
  readonly sampleWindowMs: bigint;
  readonly reservoirScore: bigint;
  readonly policyRevision: bigint;
}

/**
 * Why the detail was kept; undefined where no log policy chose it. Its reasons are the features.
 * What reads an event names the evidence bundle, see `withEvidence`.
 */
export function selectionOf(fact: Selection): DetailSelectionJson | undefined {
  const { captureReasons, sampleWindowMs, reservoirScore, policyRevision } = fact;
  if (captureReasons.length === 0) return undefined;
  const sampled = sampleWindowMs > 0n && !captureReasons.includes('all');
  return withoutDefaults<DetailSelectionJson>({
    retentionTier: sampled ? 'DETAIL_RETENTION_TIER_EVIDENCE' : 'DETAIL_RETENTION_TIER_FULL',
    captureReasons: [...captureReasons],
    sampleWindow: int64Json(sampleWindowMs / 1000n),
    reservoirScoreHex: sampled ? reservoirScore.toString(16).padStart(16, '0') : '',
    policyRevision: int64Json(policyRevision),
    selectionFlags: flagsOf(captureReasons),
    featureCount: captureReasons.length,
  });
}

/** Bits of the reasons, in the order of `captureReasons` of nodes: all, status, api, security. */
const reasonBits: Readonly<Record<string, number>> = { all: 1, status: 2, api: 4, security: 8 };

function flagsOf(reasons: readonly string[]): number {
  return reasons.reduce((flags, reason) => flags | (reasonBits[reason] ?? 0), 0);
}

/** The trace of a request in 32 hexadecimal digits; nothing where its spans are not sent. */
export function traceIdOf(traceId: Uint8Array = noBytes): { readonly traceId?: string } {
  return traceId.length === 0 ? {} : { traceId: Buffer.from(traceId).toString('hex') };
}

const noBytes = new Uint8Array();

/**
 * Owns the facts that wait for control: bounded, in order, kept until acknowledged. When it is full
 * the oldest batch gives way and a gap is noted; traffic never waits for it.
 */

import { randomBytes } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  SecurityFactBatchSchema,
  type SecurityFact,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import {
  GapNoticeSchema,
  ObservationBatchSchema,
  ObservationGapReason,
  ObservationRetentionTier,
  ObservationStreamKind,
  type GapNotice,
  type ObservationBatch,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { crc32c } from '../base/crc32c.ts';
import { linkLimits } from '../base/limits.ts';

/** Version of the payload's meaning. */
export const securityFactSchemaVersion = 1;

interface Batch {
  readonly seq: bigint;
  readonly firstItem: bigint;
  readonly facts: SecurityFact[];
  sent: boolean;
}

/** Facts in batches. Not thread-safe: one spool a process. */
export class FactSpool {
  readonly bootId: Uint8Array = new Uint8Array(randomBytes(16));
  #open: SecurityFact[] = [];
  #batches: Batch[] = [];
  #held = 0;
  #nextSeq = 1n;
  #nextItem = 1n;
  #evictedFacts = 0;
  #gaps: GapNotice[] = [];

  /** Facts that are held. */
  get held(): number {
    return this.#held;
  }

  /** Facts that were given up since the start. */
  get evicted(): number {
    return this.#evictedFacts;
  }

  /** Takes a fact; returns true when a batch is full and should leave. */
  add(fact: SecurityFact): boolean {
    this.#open.push(fact);
    this.#held++;
    if (this.#held > linkLimits.factsHeldMax) this.#evict();
    if (this.#open.length < linkLimits.batchFactsMax) return false;
    this.#seal();
    return true;
  }

  /** The next batches to send, oldest first; they count as sent. */
  takeUnsent(): ObservationBatch[] {
    this.#seal();
    let inFlight = this.#batches.filter((batch) => batch.sent).length;
    const out: ObservationBatch[] = [];
    for (const batch of this.#batches) {
      if (batch.sent) continue;
      if (inFlight >= linkLimits.batchesInFlightMax) break;
      batch.sent = true;
      inFlight++;
      out.push(this.#encode(batch));
    }
    return out;
  }

  /** Gaps to report; they count as reported. */
  takeGaps(): GapNotice[] {
    const gaps = this.#gaps;
    this.#gaps = [];
    return gaps;
  }

  /** Control has every batch up to `seq`. */
  acknowledge(seq: bigint): void {
    while (this.#batches[0] !== undefined && this.#batches[0].seq <= seq) {
      this.#held -= this.#batches[0].facts.length;
      this.#batches.shift();
    }
  }

  /** After a lost connection every batch is sent again, under its old number. */
  resend(): void {
    for (const batch of this.#batches) batch.sent = false;
  }

  #seal(): void {
    if (this.#open.length === 0) return;
    const facts = this.#open;
    this.#batches.push({ seq: this.#nextSeq, firstItem: this.#nextItem, facts, sent: false });
    this.#nextSeq++;
    this.#nextItem += BigInt(facts.length);
    this.#open = [];
  }

  #evict(): void {
    if (this.#batches.length === 0) this.#seal();
    const oldest = this.#batches.shift();
    if (oldest === undefined) return;
    this.#held -= oldest.facts.length;
    this.#evictedFacts += oldest.facts.length;
    this.#gaps.push(
      create(GapNoticeSchema, {
        bootId: this.bootId,
        streamKind: ObservationStreamKind.SECURITY_FACT,
        firstBatchSeq: oldest.seq,
        lastBatchSeq: oldest.seq,
        firstItemSeq: oldest.firstItem,
        lastItemSeq: oldest.firstItem + BigInt(oldest.facts.length) - 1n,
        reason: ObservationGapReason.SPOOL_EVICTED,
      }),
    );
    this.#gaps = mergeGaps(this.#gaps);
  }

  #encode(batch: Batch): ObservationBatch {
    const payload = toBinary(
      SecurityFactBatchSchema,
      create(SecurityFactBatchSchema, { facts: batch.facts }),
    );
    const first = batch.facts[0];
    const atMs = first === undefined ? 0 : Number(first.receivedAtMs);
    return create(ObservationBatchSchema, {
      header: {
        bootId: this.bootId,
        streamKind: ObservationStreamKind.SECURITY_FACT,
        batchSeq: batch.seq,
        firstItemSeq: batch.firstItem,
        lastItemSeq: batch.firstItem + BigInt(batch.facts.length) - 1n,
        itemCount: batch.facts.length,
        retentionTier: ObservationRetentionTier.FULL,
        partitionUtcDay: new Date(atMs).toISOString().slice(0, 10),
        createdAt: { seconds: BigInt(Math.floor(atMs / 1000)), nanos: (atMs % 1000) * 1_000_000 },
        payloadSchemaVersion: securityFactSchemaVersion,
        crc32c: crc32c(payload),
      },
      payload,
    });
  }
}

/** Joins neighbouring gaps, so that a long outage is one notice. */
function mergeGaps(gaps: GapNotice[]): GapNotice[] {
  const merged: GapNotice[] = [];
  for (const gap of gaps) {
    const last = merged.at(-1);
    if (last === undefined || last.lastBatchSeq + 1n !== gap.firstBatchSeq) {
      merged.push(gap);
      continue;
    }
    last.lastBatchSeq = gap.lastBatchSeq;
    last.lastItemSeq = gap.lastItemSeq;
  }
  return merged;
}

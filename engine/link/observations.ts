/**
 * Reports traffic to control: security, access and error facts and exact counts, in streams that
 * wait on disk until control has them. Knows when to send, not how a stream is held up.
 */

import { toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import {
  CounterBatchSchema,
  type CounterBatch,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { ShadowDelta } from '../contract/shadow.ts';
import type { AgentObservationHealthSchema } from '../../proto/gen/waf/v1/agent_pb.ts';
import {
  ObservationBatchAckStatus,
  ObservationRetentionTier,
  ObservationStreamKind,
  type BatchAck,
  type ConnectRequestSchema,
  type GapNoticeAck,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { linkLimits } from '../base/observation-limits.ts';
import {
  accessFactVersion,
  errorFactVersion,
  metricPayloadVersion,
  securityFactVersion,
} from '../../base/protocol-versions.ts';
import type { ApiCountDelta, EndpointDelta } from '../contract/api-counts.ts';
import type { LearningDelta } from '../contract/api-learning.ts';
import type { ClientsDelta } from '../contract/detection-content.ts';
import type { CounterDelta, RankingDelta } from '../contract/counters.ts';
import type { RequestEvent } from '../contract/events.ts';
import type { RequestError } from '../contract/request-error.ts';
import type { RunTally } from '../contract/run-tally.ts';
import type { SpoolStore } from '../contract/spool.ts';
import {
  encodeAccess,
  encodeError,
  encodeExport,
  encodeFault,
  isFullAccess,
} from './access-fact.ts';
import { CounterSums } from './counter-batch.ts';
import { lossFault, RunAccount, settleEarlierRun, type EarlierLoss } from './earlier-run.ts';
import type { RunLedger } from './run-ledger.ts';
import { encodeFact, encodeFactBatch, type EncodedFact } from './security-fact.ts';
import { memorySpoolStore, Spool } from './spool.ts';

/** Where the streams wait; in memory unless given. */
export interface SpoolStores {
  readonly facts: SpoolStore;
  readonly access: SpoolStore;
  readonly accessSample: SpoolStore;
  readonly accessExport: SpoolStore;
  readonly errors: SpoolStore;
  readonly counters: SpoolStore;
}

type Send = (message: MessageInitShape<typeof ConnectRequestSchema>['message']) => void;

/** Facts and counts on their way to control. */
export class Observations {
  readonly #facts: Spool<EncodedFact>;
  readonly #access: Spool<EncodedFact>;
  readonly #accessSample: Spool<EncodedFact>;
  readonly #accessExport: Spool<EncodedFact>;
  readonly #errors: Spool<EncodedFact>;
  readonly #counters: Spool<CounterBatch>;
  readonly #account: RunAccount | null;
  readonly #sums = new CounterSums(Date.now());
  #send: Send | null = null;
  #flushTimer: NodeJS.Timeout | null = null;
  #countTimer: NodeJS.Timeout | null = null;
  #lastAckMs = Date.now();

  /** What the run before had counted and not stored; null for nothing. */
  readonly earlierLoss: EarlierLoss | null;

  /** `tally`: what front threads count beside it; without one, losses of a kill are not known. */
  constructor(stores: SpoolStores | undefined, tally: RunTally | null = null) {
    this.#account = tally && new RunAccount(tally);
    const spool = (
      kind: ObservationStreamKind,
      schemaVersion: number,
      bytesMax: number,
      store: SpoolStore | undefined,
      tier: ObservationRetentionTier = ObservationRetentionTier.FULL,
      ledger: RunLedger<unknown> | null = null,
    ): Spool<EncodedFact> =>
      new Spool<EncodedFact>({
        ...{ kind, schemaVersion, bytesMax, tier },
        encode: encodeFactBatch,
        timeOf: (fact) => fact.receivedAtMs,
        store: store ?? memorySpoolStore(),
        batchItemsMax: linkLimits.batchFactsMax,
        weightOf: ({ bytes }) => bytes.length,
        ...(ledger && { ledger }),
      });
    const kinds = ObservationStreamKind;
    const { factBytesMax, accessBytesMax, accessSampleBytesMax, errorBytesMax } = linkLimits;
    this.#facts = spool(
      kinds.SECURITY_FACT,
      securityFactVersion,
      factBytesMax,
      stores?.facts,
      ObservationRetentionTier.FULL,
      this.#account?.facts,
    );
    const full = kinds.ACCESS_DETAIL_FULL;
    this.#access = spool(full, accessFactVersion, accessBytesMax, stores?.access);
    this.#accessSample = spool(
      kinds.ACCESS_DETAIL_EVIDENCE,
      accessFactVersion,
      accessSampleBytesMax,
      stores?.accessSample,
      ObservationRetentionTier.EVIDENCE,
    );
    const exported = kinds.ACCESS_SIEM;
    const { accessExportBytesMax: exportMax } = linkLimits;
    this.#accessExport = spool(exported, accessFactVersion, exportMax, stores?.accessExport);
    this.#errors = spool(kinds.ERROR_DETAIL, errorFactVersion, errorBytesMax, stores?.errors);
    this.#counters = new Spool<CounterBatch>({
      kind: ObservationStreamKind.METRIC,
      schemaVersion: metricPayloadVersion,
      encode: ([batch]) => toBinary(CounterBatchSchema, batch!),
      timeOf: (batch) => Number(batch.fromMs),
      store: stores?.counters ?? memorySpoolStore(),
      bytesMax: linkLimits.counterBytesMax,
      batchItemsMax: 1,
      weightOf: () => 0,
      ...(this.#account && { ledger: this.#account.counters }),
    });
    this.earlierLoss = tally && settleEarlierRun(this.#counters, this.#facts, tally);
    if (this.earlierLoss !== null) this.fault(lossFault(this.earlierLoss));
  }

  /** Takes a finished request; never throws, never blocks. */
  observe(event: RequestEvent): void {
    this.#add(this.#facts, encodeFact(event));
    const access = isFullAccess(event) ? this.#access : this.#accessSample;
    this.#add(access, encodeAccess(event));
    this.#add(this.#accessExport, encodeExport(event));
    this.#add(this.#errors, encodeError(event));
  }

  /** Takes a fault that concerns no request. */
  fault(error: RequestError): void {
    this.#add(this.#errors, encodeFault(error, Date.now()));
  }

  #add(spool: Spool<EncodedFact>, fact: EncodedFact | null): void {
    if (fact === null) return;
    if (spool.add(fact)) this.#flush();
    else this.#flushTimer ??= setTimeout(() => this.#flush(), linkLimits.batchDelayMs);
  }

  /** Takes what front threads counted. */
  count(deltas: readonly CounterDelta[]): void {
    this.#sums.add(deltas);
    this.#countTimer ??= setTimeout(() => this.#sealCounts(), linkLimits.counterDelayMs);
  }

  /** Takes the most frequent values that front threads saw. */
  rank(deltas: readonly RankingDelta[]): void {
    this.#sums.rank(deltas);
    this.#countTimer ??= setTimeout(() => this.#sealCounts(), linkLimits.counterDelayMs);
  }

  /** Takes endpoints that front threads learned. */
  learnEndpoints(deltas: readonly EndpointDelta[]): void {
    this.#sums.learnEndpoints(deltas);
    this.#countTimer ??= setTimeout(() => this.#sealCounts(), linkLimits.counterDelayMs);
  }

  /** Takes what front threads learned of the structure of bodies. */
  learnBodies(deltas: readonly LearningDelta[]): void {
    this.#sums.learnBodies(deltas);
    this.#countTimer ??= setTimeout(() => this.#sealCounts(), linkLimits.counterDelayMs);
  }

  /** Takes clients that showed signs of attacks in values. */
  learnClients(deltas: readonly ClientsDelta[]): void {
    this.#sums.learnClients(deltas);
    this.#countTimer ??= setTimeout(() => this.#sealCounts(), linkLimits.counterDelayMs);
  }

  /** Takes how decisions of a second ruleset compare. */
  compare(deltas: readonly ShadowDelta[]): void {
    this.#sums.compare(deltas);
    this.#countTimer ??= setTimeout(() => this.#sealCounts(), linkLimits.counterDelayMs);
  }

  /** Takes what front threads counted of requests to documented APIs. */
  countApis(deltas: readonly ApiCountDelta[]): void {
    this.#sums.countApis(deltas);
    this.#countTimer ??= setTimeout(() => this.#sealCounts(), linkLimits.counterDelayMs);
  }

  /** The stream is up: what waits is sent, and from now on what comes. */
  connected(send: Send): void {
    this.#send = send;
    this.#flush();
  }

  /** The stream is down: what was not acknowledged is sent again on the next one. */
  disconnected(): void {
    this.#send = null;
    for (const spool of this.#spools()) spool.resend();
  }

  batchAcknowledged(ack: BatchAck): void {
    const spool = this.#spoolOf(ack.streamKind);
    this.#lastAckMs = Date.now();
    if (ack.status === ObservationBatchAckStatus.RETRYABLE) {
      spool?.resend();
      this.#flushTimer ??= setTimeout(() => this.#flush(), linkLimits.reconnectMinMs);
      return;
    }
    spool?.acknowledge(ack.bootId, ack.ackThroughBatchSeq);
    // Batches that are open have a timer: an answer must not cut them short, each at its own cost.
    if (spool !== null) this.#sendSealed(spool);
  }

  gapAcknowledged(ack: GapNoticeAck): void {
    this.#spoolOf(ack.streamKind)?.acknowledgeGap(ack.bootId, ack.firstBatchSeq);
  }

  /** Facts held and given up. */
  stats(): { readonly held: number; readonly evicted: number } {
    return { held: this.#facts.held, evicted: this.#facts.evicted };
  }

  /** How well control is kept informed. */
  health(): MessageInitShape<typeof AgentObservationHealthSchema> {
    const spools = this.#spools();
    const sum = (of: (spool: (typeof spools)[number]) => number): number =>
      spools.reduce((total, spool) => total + of(spool), 0);
    const evicted = sum((spool) => spool.evictedBatches);
    const pending = sum((spool) => spool.batches);
    const backlog = pending > linkLimits.batchesInFlightMax;
    const incomplete = evicted > 0 || this.earlierLoss !== null;
    const waits = pending > 0 ? Math.max(0, Date.now() - this.#lastAckMs) : 0;
    return {
      state: incomplete ? 'coverage_gap' : backlog ? 'backlog' : 'healthy',
      pendingBatches: BigInt(pending),
      pendingBytes: BigInt(sum((spool) => spool.bytes)),
      evictedBatches: BigInt(evicted),
      gapNotices: BigInt(sum((spool) => spool.gaps)),
      lastAckAgeMillis: BigInt(waits),
      coverageIncomplete: incomplete,
    };
  }

  /** Writes everything to disk, and waits a moment for control while it is there. */
  async close(): Promise<void> {
    this.#sealCounts();
    for (let waited = 0; waited < linkLimits.closeWaitMs && this.#waits(); waited += 20) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (this.#flushTimer !== null) clearTimeout(this.#flushTimer);
    if (this.#countTimer !== null) clearTimeout(this.#countTimer);
    for (const spool of this.#spools()) spool.seal();
    // Else the next run says what is missing.
    if (this.#account?.complete === true) {
      this.#counters.closeAccount();
      this.#facts.closeAccount();
    }
  }

  /** Facts first: they are what must not be lost. */
  #spools(): readonly (Spool<EncodedFact> | Spool<CounterBatch>)[] {
    const details = [this.#access, this.#accessSample, this.#accessExport];
    return [this.#facts, this.#counters, this.#errors, ...details];
  }

  #waits(): boolean {
    return this.#send !== null && this.#spools().some(({ held }) => held > 0);
  }

  #spoolOf(kind: ObservationStreamKind): Spool<EncodedFact> | Spool<CounterBatch> | null {
    return this.#spools().find((spool) => spool.kind === kind) ?? null;
  }

  #sealCounts(): void {
    if (this.#countTimer !== null) clearTimeout(this.#countTimer);
    this.#countTimer = null;
    const batch = this.#sums.drain(Date.now());
    if (batch !== null) this.#counters.add(batch);
    this.#flush();
  }

  #flush(): void {
    if (this.#flushTimer !== null) clearTimeout(this.#flushTimer);
    this.#flushTimer = null;
    const send = this.#send;
    if (send === null) {
      for (const spool of this.#spools()) spool.seal();
      return;
    }
    for (const spool of this.#spools()) {
      for (const value of spool.drainGaps()) send({ case: 'gapNotice', value });
      for (const value of spool.drainUnsent()) send({ case: 'observationBatch', value });
    }
  }

  #sendSealed(spool: Spool<EncodedFact> | Spool<CounterBatch>): void {
    for (const value of spool.drainSealed()) this.#send?.({ case: 'observationBatch', value });
  }
}

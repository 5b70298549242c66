/**
 * The observations of one stream that wait for control: on disk, bounded, in order, kept until
 * acknowledged, over restarts too. When it is full, the oldest batch is dropped and a gap is noted;
 * traffic never waits for it.
 */

import { randomBytes } from 'node:crypto';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  GapNoticeSchema,
  ObservationBatchSchema,
  ObservationGapReason,
  ObservationRetentionTier,
  type GapNotice,
  type ObservationBatch,
  type ObservationStreamKind,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { crc32c } from '../../base/crc32c.ts';
import { linkLimits } from '../base/observation-limits.ts';
import type { SpoolStore } from '../contract/spool.ts';
import { GapNotes, gapsPosition } from './gap-notes.ts';
import { readLedger, runEnded, type LedgerNote, type RunLedger } from './run-ledger.ts';

/** What a spool holds and where. */
export interface SpoolOptions<T> {
  readonly kind: ObservationStreamKind;
  /** For how long control keeps what is in it. */
  readonly tier?: ObservationRetentionTier;
  /** Version of the payload's meaning. */
  readonly schemaVersion: number;
  encode(items: readonly T[]): Uint8Array;
  /** When an item was observed, milliseconds since the Unix epoch. */
  timeOf(item: T): number;
  readonly store: SpoolStore;
  /** Encoded batches that wait at most, in bytes. */
  readonly bytesMax: number;
  /** Items of one batch. */
  readonly batchItemsMax: number;
  /** About what an item weighs in bytes; a batch ends at `linkLimits.batchBytesMax` of them. */
  weightOf(item: T): number;
  /** Says how much of what the run counted is stored; none when absent. */
  readonly ledger?: RunLedger<T>;
}

interface Entry {
  readonly position: number;
  readonly boot: string;
  readonly seq: bigint;
  readonly firstItem: bigint;
  readonly items: number;
  readonly size: number;
  /** Set while the disk has not taken it. */
  bytes: Uint8Array | null;
  sent: boolean;
}

/** One stream's spool. Not thread-safe: one a process and store. */
export class Spool<T> {
  /** Names this run; batches of earlier runs keep the name of theirs. */
  readonly bootId: Uint8Array = new Uint8Array(randomBytes(16));
  readonly #options: SpoolOptions<T>;
  readonly #boot = hex(this.bootId);
  /** The account of the run before; null where there is none, or nothing was missing. */
  readonly earlierRun: LedgerNote | null;
  readonly #gaps: GapNotes;
  #open: T[] = [];
  #openBytes = 0;
  #entries: Entry[] = [];
  #bytes = 0;
  #unstoredBytes = 0;
  #nextPosition = 1;
  #nextSeq = 1n;
  #nextItem = 1n;
  #evicted = 0;
  #evictedBatches = 0;
  #failedWrites = 0;
  #pausedWrites = 0;

  /** Takes up what an earlier run left. Cost: reads all that waits. */
  constructor(options: SpoolOptions<T>) {
    this.#options = options;
    const broken: number[] = [];
    let notes: Uint8Array | null = null;
    for (const [position, bytes] of options.store.load()) {
      if (position === gapsPosition) notes = bytes;
      else {
        this.#nextPosition = position + 1;
        const entry = readEntry(position, bytes, options.kind);
        if (entry === null) broken.push(position);
        else this.#keep(entry);
      }
    }
    this.#gaps = new GapNotes(notes);
    this.earlierRun = options.ledger === undefined ? null : readLedger(options.store.readNote());
    if (broken.length > 0) options.store.change([], broken);
  }

  /** Which stream it is. */
  get kind(): ObservationStreamKind {
    return this.#options.kind;
  }

  /** Items that are held. */
  get held(): number {
    return this.#entries.reduce((sum, { items }) => sum + items, this.#open.length);
  }

  /** Items that were given up since the start. */
  get evicted(): number {
    return this.#evicted;
  }

  /** Batches that wait. */
  get batches(): number {
    return this.#entries.length;
  }

  /** Batches that were given up since the start. */
  get evictedBatches(): number {
    return this.#evictedBatches;
  }

  /** Gaps that control has not noted yet. */
  get gaps(): number {
    return this.#gaps.size;
  }

  /** Encoded bytes that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes an item; returns true when a batch is full and should leave. */
  add(item: T): boolean {
    this.#open.push(item);
    this.#openBytes += this.#options.weightOf(item);
    const few = this.#open.length < this.#options.batchItemsMax;
    if (few && this.#openBytes < linkLimits.batchBytesMax) return false;
    this.seal();
    return true;
  }

  /** Closes the open batch and writes it to disk. */
  seal(): void {
    if (this.#open.length === 0) return;
    const items = this.#open;
    this.#open = [];
    this.#openBytes = 0;
    this.#options.ledger?.add(items, this.#nextSeq);
    const bytes = toBinary(ObservationBatchSchema, this.#encode(items));
    this.#keep({
      position: this.#nextPosition++,
      boot: this.#boot,
      seq: this.#nextSeq++,
      firstItem: this.#nextItem,
      items: items.length,
      size: bytes.length,
      bytes,
      sent: false,
    });
    this.#nextItem += BigInt(items.length);
    this.#unstoredBytes += bytes.length;
    this.#write(this.#evict());
  }

  /** Begins this run's account; `missing` items of the run before are a gap from then on. */
  settleEarlierRun(missing: number): void {
    const { earlierRun } = this;
    if (earlierRun !== null && missing > 0) {
      const { boot, seq, sums } = earlierRun;
      const gap = create(GapNoticeSchema, {
        bootId: Buffer.from(boot, 'hex'),
        streamKind: this.#options.kind,
        firstBatchSeq: BigInt(seq + 1),
        lastBatchSeq: BigInt(seq + 1),
        firstItemSeq: BigInt(sums[0]! + 1),
        lastItemSeq: BigInt(sums[0]! + missing),
        reason: runEnded,
      });
      this.#gaps.add(gap);
    }
    this.#write([]);
  }

  /** Ends this run's account: all that it counted is in the stream. */
  closeAccount(): void {
    this.#options.ledger?.close();
    this.#write([]);
  }

  /** The next batches to send, oldest first, with what is open; they count as sent. */
  drainUnsent(): ObservationBatch[] {
    this.seal();
    return this.drainSealed();
  }

  /** As `drainUnsent`, but for what is open: it may still grow. */
  drainSealed(): ObservationBatch[] {
    let inFlight = this.#entries.reduce((count, { sent }) => count + Number(sent), 0);
    const out: ObservationBatch[] = [];
    const lost: Entry[] = [];
    for (const entry of this.#entries) {
      if (entry.sent) continue;
      if (inFlight >= linkLimits.batchesInFlightMax) break;
      const batch = readBatch(entry.bytes ?? this.#options.store.read(entry.position));
      if (batch === null) {
        lost.push(entry);
        continue;
      }
      entry.sent = true;
      inFlight++;
      out.push(batch);
    }
    if (lost.length > 0) {
      this.#entries = this.#entries.filter((entry) => !lost.includes(entry));
      this.#giveUp(lost, ObservationGapReason.SPOOL_CORRUPT);
      this.#write(lost.map(({ position }) => position));
    }
    return out;
  }

  /** Gaps to report; they count as reported until `resend`. */
  drainGaps(): GapNotice[] {
    return this.#gaps.drain();
  }

  /** Control has noted the gap. */
  acknowledgeGap(bootId: Uint8Array, firstSeq: bigint): void {
    if (this.#gaps.remove(hex(bootId), firstSeq)) this.#write([]);
  }

  /** Control has every batch of a run up to `seq`. */
  acknowledge(bootId: Uint8Array, seq: bigint): void {
    const boot = hex(bootId);
    const done = this.#entries.filter((entry) => entry.boot === boot && entry.seq <= seq);
    if (done.length === 0) return;
    this.#entries = this.#entries.filter((entry) => entry.boot !== boot || entry.seq > seq);
    for (const entry of done) this.#forget(entry);
    this.#write(storedPositions(done));
  }

  /** After a lost connection every batch is sent again, under its old number. */
  resend(): void {
    for (const entry of this.#entries) entry.sent = false;
    this.#gaps.resend();
  }

  #keep(entry: Entry): void {
    this.#entries.push(entry);
    this.#bytes += entry.size;
  }

  #forget(entry: Entry): void {
    this.#bytes -= entry.size;
    if (entry.bytes !== null) this.#unstoredBytes -= entry.size;
  }

  /** Gives up the oldest batches while there is too much; their positions. */
  #evict(): number[] {
    const { spoolBatchesMax, spoolMemoryBytesMax } = linkLimits;
    const given: Entry[] = [];
    const tooMuch = (): boolean =>
      this.#bytes > this.#options.bytesMax ||
      this.#entries.length > spoolBatchesMax ||
      this.#unstoredBytes > spoolMemoryBytesMax;
    while (tooMuch() && this.#entries.length > 1) {
      const oldest = this.#entries.shift()!;
      given.push(oldest);
      this.#forget(oldest);
    }
    this.#giveUp(given, ObservationGapReason.SPOOL_EVICTED);
    return storedPositions(given);
  }

  #giveUp(entries: readonly Entry[], reason: ObservationGapReason): void {
    for (const { boot, seq, firstItem, items } of entries) {
      this.#evicted += items;
      this.#evictedBatches++;
      const gap = create(GapNoticeSchema, {
        bootId: Buffer.from(boot, 'hex'),
        streamKind: this.#options.kind,
        firstBatchSeq: seq,
        lastBatchSeq: seq,
        firstItemSeq: firstItem,
        lastItemSeq: firstItem + BigInt(items) - 1n,
        reason,
      });
      this.#gaps.add(gap);
    }
  }

  /**
   * Brings the disk up to date; what it refuses stays in memory and is tried again with later ones,
   * less and less often.
   */
  #write(removes: readonly number[]): void {
    if (removes.length === 0 && this.#pausedWrites > 0) {
      this.#pausedWrites--;
      return;
    }
    // What the disk has not taken yet is at the end.
    let from = this.#entries.length;
    while (from > 0 && this.#entries[from - 1]!.bytes !== null) from--;
    const waiting = this.#entries.slice(from);
    const puts = waiting.map(({ position, bytes }) => [position, bytes!] as const);
    const notes = this.#gaps.drainChanged();
    if (notes !== null) puts.push([gapsPosition, notes]);
    const account = this.#options.ledger?.encode(this.#boot);
    if (!this.#options.store.change(puts, removes, account)) {
      this.#failedWrites++;
      this.#pausedWrites = Math.min(2 ** this.#failedWrites, linkLimits.spoolPausedWritesMax);
      return this.#gaps.keepChanged();
    }
    this.#failedWrites = 0;
    this.#pausedWrites = 0;
    for (const entry of waiting) entry.bytes = null;
    this.#unstoredBytes = 0;
  }

  #encode(items: readonly T[]): ObservationBatch {
    const payload = this.#options.encode(items);
    const [first] = items;
    const atMs = first === undefined ? 0 : this.#options.timeOf(first);
    return create(ObservationBatchSchema, {
      header: {
        bootId: this.bootId,
        streamKind: this.#options.kind,
        batchSeq: this.#nextSeq,
        firstItemSeq: this.#nextItem,
        lastItemSeq: this.#nextItem + BigInt(items.length) - 1n,
        itemCount: items.length,
        retentionTier: this.#options.tier ?? ObservationRetentionTier.FULL,
        partitionUtcDay: new Date(atMs).toISOString().slice(0, 10),
        createdAt: { seconds: BigInt(Math.floor(atMs / 1000)), nanos: (atMs % 1000) * 1_000_000 },
        payloadSchemaVersion: this.#options.schemaVersion,
        crc32c: crc32c(payload),
      },
      payload,
    });
  }
}

/** A spool that forgets with its process, for engines without a folder. */
export function memorySpoolStore(): SpoolStore {
  const entries = new Map<number, Uint8Array>();
  let kept: Uint8Array | null = null;
  return {
    load: () => [...entries].sort(([left], [right]) => left - right),
    read: (position) => entries.get(position) ?? null,
    readNote: () => kept,
    change: (puts, removes, note = null) => {
      kept = note ?? kept;
      for (const position of removes) entries.delete(position);
      for (const [position, bytes] of puts) entries.set(position, bytes);
      return true;
    },
  };
}

/** Where they are on disk; those that the disk never took need not be removed. */
function storedPositions(entries: readonly Entry[]): number[] {
  return entries.filter(({ bytes }) => bytes === null).map(({ position }) => position);
}

/** Null when the bytes are no batch, or a damaged one. */
function readBatch(bytes: Uint8Array | null): ObservationBatch | null {
  if (bytes === null) return null;
  try {
    const batch = fromBinary(ObservationBatchSchema, bytes);
    return batch.header?.crc32c === crc32c(batch.payload) ? batch : null;
  } catch {
    return null;
  }
}

function readEntry(position: number, bytes: Uint8Array, kind: ObservationStreamKind): Entry | null {
  const header = readBatch(bytes)?.header;
  if (header?.streamKind !== kind) return null;
  return {
    position,
    boot: hex(header.bootId),
    seq: header.batchSeq,
    firstItem: header.firstItemSeq,
    items: header.itemCount,
    size: bytes.length,
    bytes: null,
    sent: false,
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

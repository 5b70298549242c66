/**
 * How much of what a run counted is in one stream: written with every batch in one transaction, so
 * that it is exact whenever the run is killed.
 */

import { ObservationGapReason } from '../../proto/gen/waf/v1/agent_stream_pb.ts';

/** What a run had put in a stream. */
export interface LedgerNote {
  readonly run: string;
  /** The stream's own name of the run, hexadecimal. */
  readonly boot: string;
  /** Its last batch; 0 for none. */
  readonly seq: number;
  /** Sums of what its items stand for. */
  readonly sums: readonly number[];
}

/** Why a gap that a ledger found is there. */
export const runEnded = ObservationGapReason.RUN_ENDED;

/** The ledger of one stream in this run. */
export class RunLedger<T> {
  readonly #run: string;
  readonly #measure: (item: T) => readonly number[];
  readonly #sums: number[];
  #seq = 0;
  #closed = false;

  /** `measure` says what an item stands for: as many numbers for each as for `none`. */
  constructor(run: string, none: readonly number[], measure: (item: T) => readonly number[]) {
    this.#run = run;
    this.#sums = [...none];
    this.#measure = measure;
  }

  /** What batches that were sealed stand for. */
  get sums(): readonly number[] {
    return this.#sums;
  }

  /** A batch was sealed. */
  add(items: readonly T[], seq: bigint): void {
    this.#seq = Number(seq);
    for (const item of items) {
      this.#measure(item).forEach((count, at) => (this.#sums[at]! += count));
    }
  }

  /** Everything that the run counted is in the stream: the next run needs no account of it. */
  close(): void {
    this.#closed = true;
  }

  /** What to keep with the stream. */
  encode(boot: string): Uint8Array {
    const note: LedgerNote = { run: this.#run, boot, seq: this.#seq, sums: this.#sums };
    return Buffer.from(JSON.stringify(this.#closed ? {} : note));
  }
}

/** Null where there is none, the run was closed, or it cannot be read. */
export function readLedger(bytes: Uint8Array | null): LedgerNote | null {
  if (bytes === null) return null;
  try {
    const note = JSON.parse(Buffer.from(bytes).toString('utf8')) as Partial<LedgerNote>;
    const { run, boot, seq, sums } = note;
    if (typeof run !== 'string' || typeof boot !== 'string' || !/^[0-9a-f]{32}$/.test(boot)) {
      return null;
    }
    if (!isCount(seq) || !Array.isArray(sums) || !sums.every(isCount)) return null;
    return { run, boot, seq, sums };
  } catch {
    return null;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

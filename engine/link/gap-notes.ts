/**
 * What a spool had to give up, until control has noted it: neighbors are one gap, kept on disk with
 * the spool.
 */

import { fromJson, toJson, type JsonValue } from '@bufbuild/protobuf';
import { GapNoticeSchema, type GapNotice } from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { linkLimits } from '../base/observation-limits.ts';

/** Where a spool's store keeps them. */
export const gapsPosition = 0;

/** The gaps of one spool. */
export class GapNotes {
  #gaps: { readonly gap: GapNotice; sent: boolean }[] = [];
  #changed = false;

  /** `bytes`: what `drainChanged` gave in an earlier run; damaged ones are left out. */
  constructor(bytes: Uint8Array | null) {
    if (bytes === null) return;
    try {
      const list = JSON.parse(Buffer.from(bytes).toString('utf8')) as JsonValue[];
      this.#gaps = list.map((one) => ({ gap: fromJson(GapNoticeSchema, one), sent: false }));
    } catch {
      this.#gaps = [];
    }
  }

  /** Gaps that wait for control's word. */
  get size(): number {
    return this.#gaps.length;
  }

  /** Notes a gap after all others. */
  add(gap: GapNotice): void {
    this.#changed = true;
    const last = this.#gaps.at(-1);
    if (last !== undefined && !last.sent && follows(last.gap, gap)) {
      last.gap.lastBatchSeq = gap.lastBatchSeq;
      last.gap.lastItemSeq = gap.lastItemSeq;
      return;
    }
    this.#gaps.push({ gap, sent: false });
    if (this.#gaps.length > linkLimits.gapsMax) this.#gaps.shift();
  }

  /** Those that were not reported; they count as reported now. */
  drain(): GapNotice[] {
    const unsent = this.#gaps.filter(({ sent }) => !sent);
    for (const one of unsent) one.sent = true;
    return unsent.map(({ gap }) => gap);
  }

  /** True when there was such a gap. */
  remove(boot: string, firstBatchSeq: bigint): boolean {
    const before = this.#gaps.length;
    this.#gaps = this.#gaps.filter(({ gap }) => {
      return gap.firstBatchSeq !== firstBatchSeq || bootOf(gap) !== boot;
    });
    if (this.#gaps.length === before) return false;
    return (this.#changed = true);
  }

  resend(): void {
    for (const one of this.#gaps) one.sent = false;
  }

  /** What to keep on disk; null when that has not changed. */
  drainChanged(): Uint8Array | null {
    if (!this.#changed) return null;
    this.#changed = false;
    return Buffer.from(JSON.stringify(this.#gaps.map(({ gap }) => toJson(GapNoticeSchema, gap))));
  }

  /** The disk did not take it. */
  keepChanged(): void {
    this.#changed = true;
  }
}

function follows(last: GapNotice, next: GapNotice): boolean {
  const same = bootOf(last) === bootOf(next) && last.reason === next.reason;
  return same && last.lastBatchSeq + 1n === next.firstBatchSeq;
}

function bootOf(gap: GapNotice): string {
  return Buffer.from(gap.bootId).toString('hex');
}

/**
 * What threads counted since somebody last looked, in memory that they share: a ring of notes with
 * one reader. A full ring loses the note and counts it; nobody ever waits.
 */

import { rateExchangeLimits } from '../../base/guard-limits.ts';
import type { RateNote } from '../contract/rate-limit.ts';

const { journalNotes: slots } = rateExchangeLimits;
/** Words of a note: its number, hash of the key, window in seconds (0: a hold), time. */
const NOTE = 5;
const [HEAD, TAIL, LOST, HEADER] = [0, 1, 2, 4];

/** Makes the memory of a journal. */
export function shareJournal(): SharedArrayBuffer {
  return new SharedArrayBuffer(4 * (HEADER! + slots * NOTE));
}

/** One thread's view of the journal. */
export class RateJournal {
  private readonly words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory);
  }

  /** A request of a key was counted. */
  counted(low: number, high: number, windowSeconds: number, atMs: number): void {
    this.write(low, high, windowSeconds, (atMs % 2 ** 32) | 0);
  }

  /** A key is turned away until then. */
  held(low: number, high: number, untilMs: number): void {
    this.write(low, high, 0, Math.ceil(untilMs / 1000) | 0);
  }

  /** The oldest notes, at most `most`, and how many were lost since the last call. One caller. */
  take(most: number, nowMs: number): { readonly notes: RateNote[]; readonly lost: number } {
    const { words } = this;
    const notes: RateNote[] = [];
    for (let tail = words[TAIL!]!; notes.length < most;) {
      const at = placeOf(tail);
      const next = (tail + 1) | 0;
      // Not written yet, or not to its end.
      if (Atomics.load(words, at) !== next || tail === Atomics.load(words, HEAD!)) break;
      const [low, high, windowSeconds, time] = words.subarray(at + 1, at + NOTE);
      const key = { low: low!, high: high! };
      if (windowSeconds === 0) notes.push({ kind: 'hold', key, untilS: time! >>> 0 });
      else {
        const atMs = nearest(time!, nowMs);
        notes.push({ kind: 'count', key, windowSeconds: windowSeconds!, atMs });
      }
      tail = next;
      Atomics.store(words, TAIL!, tail);
    }
    return { notes, lost: Atomics.exchange(words, LOST!, 0) };
  }

  private write(low: number, high: number, windowSeconds: number, time: number): void {
    const { words } = this;
    for (;;) {
      const head = Atomics.load(words, HEAD!);
      if (((head - Atomics.load(words, TAIL!)) | 0) >= slots) {
        Atomics.add(words, LOST!, 1);
        return;
      }
      const next = (head + 1) | 0;
      if (Atomics.compareExchange(words, HEAD!, head, next) !== head) continue;
      const at = placeOf(head);
      words[at + 1] = low;
      words[at + 2] = high;
      words[at + 3] = windowSeconds;
      words[at + 4] = time;
      Atomics.store(words, at, next);
      return;
    }
  }
}

function placeOf(number: number): number {
  return HEADER! + ((number >>> 0) % slots) * NOTE;
}

/** The time nearest to now that has these lowest 32 bits. */
function nearest(lowBits: number, nowMs: number): number {
  return Math.floor(nowMs) - ((Math.floor(nowMs) - lowBits) | 0);
}

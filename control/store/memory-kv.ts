/** The driver without a disk, for tests and previews. */

import { Draft, readThrough } from './draft.ts';
import type { Kv, KvEntry, KvRange, KvReader, KvWriter } from './kv.ts';

const noValue = new Uint8Array();

/** An empty store in memory. Cost: a range sorts all keys. */
export function openMemoryKv(): Kv {
  let entries = new Map<string, Uint8Array>();
  const rangeIn = (from: ReadonlyMap<string, Uint8Array>, range: KvRange): KvEntry[] => {
    const found = [...from]
      .filter(([key]) => compare(key, range.start) >= 0 && compare(key, range.end) < 0)
      .map(([key, value]) => ({ key, value: range.keysOnly === true ? noValue : value }))
      .sort((left, right) => compare(left.key, right.key));
    if (range.reverse) found.reverse();
    return found.slice(0, range.limit);
  };
  const reader: KvReader = {
    get: (key) => entries.get(key),
    peek: (key) => entries.get(key),
    range: (range) => rangeIn(entries, range),
  };
  return {
    ...reader,
    stage: () => {
      const draft = new Draft();
      const writer: KvWriter = {
        ...readThrough(draft, reader),
        put: (key, value) => draft.set(key, value),
        remove: (key) => draft.set(key, null),
      };
      const keep = async (): Promise<void> => {
        const next = new Map(entries);
        for (const [key, value] of draft.entries()) {
          if (value === null) next.delete(key);
          else next.set(key, value);
        }
        entries = next;
      };
      return { writer, keep };
    },
    write: async (change) => {
      const draft = new Map(entries);
      const writer: KvWriter = {
        get: (key) => draft.get(key),
        peek: (key) => draft.get(key),
        range: (range) => rangeIn(draft, range),
        put: (key, value) => void draft.set(key, value),
        remove: (key) => void draft.delete(key),
      };
      const result = change(writer);
      entries = draft;
      return result;
    },
    snapshot: () => {
      const held = entries;
      return {
        get: (key) => held.get(key),
        peek: (key) => held.get(key),
        range: (range) => rangeIn(held, range),
        close: () => undefined,
      };
    },
    close: () => Promise.resolve(),
  };
}

/** The order of the keys as UTF-8 bytes, which is that of code points. */
function compare(left: string, right: string): number {
  const end = Math.min(left.length, right.length);
  for (let at = 0; at < end; at++) {
    const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (one !== other) return placeOf(one) - placeOf(other);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above all that have one unit. */
function placeOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

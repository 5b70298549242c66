/** Encrypts evidence that earlier releases kept in clear, a little at a time, once. */

import { evidenceKeyLimits } from '../../limits/observation-limits.ts';
import { prefixRange, type Kv, type KvEntry } from '../../store/kv.ts';
import { addUse, contentPrefixes, key } from './evidence-keys.ts';
import { sealBytes } from './evidence-label.ts';
import { recordOfValue } from './evidence-records.ts';
import { isSealed } from './sealed-kv.ts';

/** Stands there once nothing is in clear any more. */
const doneKey = key('s', 'sealed');

/**
 * Encrypts what lies in clear in `kv`; `sealed` is the same storage, encrypted. Gives the number of
 * values. Ends early when `stop` aborts, and continues at the next start.
 */
export async function sealEarlier(kv: Kv, sealed: Kv, stop: AbortSignal): Promise<number> {
  if (kv.get(doneKey) !== undefined) return 0;
  let count = 0;
  for (const prefix of contentPrefixes) {
    let { start } = prefixRange(key(prefix, ''));
    const { end } = prefixRange(key(prefix, ''));
    for (;;) {
      if (stop.aborted) return count;
      const some = takeSome(kv, start, end);
      if (some.last === null) break;
      count += await sealAll(sealed, some.clear);
      start = `${some.last}\u0000`;
      await new Promise(setImmediate);
    }
  }
  await kv.write((writer) => writer.put(doneKey, new Uint8Array([1])));
  return count;
}

/** The next values in clear, a bounded part of them. */
function takeSome(kv: Kv, start: string, end: string): { clear: KvEntry[]; last: string | null } {
  const clear: KvEntry[] = [];
  let last: string | null = null;
  let bytes = 0;
  for (const { key: at, value } of kv.range({
    start,
    end,
    limit: evidenceKeyLimits.sealedAtOnce,
  })) {
    last = at;
    if (isSealed(value)) continue;
    clear.push({ key: at, value: new Uint8Array(value) });
    bytes += value.length;
    if (bytes > evidenceKeyLimits.sealedBytesAtOnce) break;
  }
  return { clear, last };
}

function sealAll(sealed: Kv, entries: readonly KvEntry[]): Promise<number> {
  if (entries.length === 0) return Promise.resolve(0);
  return sealed.write((writer) => {
    let count = 0;
    for (const { key: at, value } of entries) {
      // What was removed meanwhile does not come back.
      const now = writer.get(at);
      if (now === undefined || Buffer.compare(now, value) !== 0) continue;
      writer.put(at, value);
      if (at.startsWith(key('m', '')) && recordOfValue(value) !== null) addUse(writer, sealBytes);
      count++;
    }
    return count;
  });
}

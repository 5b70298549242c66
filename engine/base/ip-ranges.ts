/** Whether an address lies in one of some networks; both as keys, see ip-address.ts. */

import { maskKey, prefixOf } from '../../base/ip-address.ts';

/** A test for `ranges`. Cost of a test: one set look-up a prefix length in use. */
export function rangeTest(ranges: readonly string[]): (key: string) => boolean {
  const byPrefix = new Map<number, Set<string>>();
  for (const range of ranges) {
    const prefix = prefixOf(range);
    const known = byPrefix.get(prefix);
    if (known === undefined) byPrefix.set(prefix, new Set([range]));
    else known.add(range);
  }
  return (key) => {
    for (const [prefix, keys] of byPrefix) {
      if (prefix <= prefixOf(key) && keys.has(maskKey(key, prefix))) return true;
    }
    return false;
  };
}

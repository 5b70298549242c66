/**
 * Parts the patterns of a scan group by their chains. What one transformation makes of a value is
 * scanned for the patterns that ask for it, not for all that are searched for in any form of it: a
 * value that each of ten transformations changes is not scanned ten times for everything.
 */

import type { ScanPattern } from './scan-draft.ts';

/** Chains with this many patterns have a database of their own; fewer share one with others. */
const ownPartMin = 5;

/**
 * The chains of each part; every compiled pattern belongs to one. A value that nothing changes is
 * scanned with each part: in sum that costs what one database of all patterns does.
 */
export function chainPartsOf(patterns: readonly ScanPattern[]): readonly (readonly string[])[] {
  const counts = new Map<string, number>();
  for (const { chain, filter } of patterns) {
    if (filter.kind !== 'pattern' && filter.kind !== 'words') continue;
    counts.set(chain, (counts.get(chain) ?? 0) + 1);
  }
  const chains = [...counts.keys()].sort();
  const own = chains.filter((chain) => counts.get(chain)! >= ownPartMin);
  const rest = chains.filter((chain) => !own.includes(chain));
  return [...own.map((chain) => [chain]), ...(rest.length > 0 ? [rest] : [])];
}

/** The part that a pattern belongs to; -1 for those that are not compiled. */
export function partOf(parts: readonly (readonly string[])[], { chain }: ScanPattern): number {
  return parts.findIndex((chains) => chains.includes(chain));
}

/** Which rules by path a request meets. Pure. */

import type { RequestView } from './request-view.ts';

/**
 * The rules that hold for a path, of those given with the longest prefix first: that of the longest
 * prefix, and before it every longer one that an origin may read the path to lie under.
 */
export function rulesOfPath<T extends { readonly pathPrefix: string }>(
  rules: readonly T[],
  view: RequestView,
): T[] {
  const found: T[] = [];
  for (const rule of rules) {
    if (!view.isUnder(rule.pathPrefix, true)) continue;
    found.push(rule);
    if (view.isUnder(rule.pathPrefix, false)) break;
  }
  return found;
}

/**
 * Sorts things into a fixed number of drawers, each a piece of a bundle, so that a change of one
 * thing rebuilds and sends a handful.
 */

const drawerCount = 64;

/** Sorts by a hash of the id; empty drawers are left out. */
export function drawers<T>(items: readonly T[], idOf: (item: T) => string): [string, T[]][] {
  const found = new Map<number, T[]>();
  for (const item of items) {
    const at = drawerOf(idOf(item));
    const drawer = found.get(at);
    if (drawer === undefined) found.set(at, [item]);
    else drawer.push(item);
  }
  return [...found].map(([at, content]) => [String(at).padStart(2, '0'), content]);
}

function drawerOf(id: string): number {
  let hash = 0;
  for (let at = 0; at < id.length; at++) hash = (Math.imul(hash, 31) + id.charCodeAt(at)) >>> 0;
  return hash % drawerCount;
}

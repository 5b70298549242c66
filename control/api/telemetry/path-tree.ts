/** Paths with counts as a tree of their segments. Pure. */

import type { RankedValue } from '../../observe/ranking-series.ts';

/** One segment; its counts hold those of its children. */
export interface PathNode {
  readonly segment: string;
  readonly path: string;
  requests: number;
  blocked: number;
  readonly children: PathNode[];
}

/** The tree below `base`, `depth` segments at most; deeper paths count into their last one. */
export function pathTree(
  values: readonly RankedValue[],
  base: string,
  depth: number,
): { readonly nodes: PathNode[]; readonly requests: number } {
  const prefix = base.endsWith('/') ? base : `${base}/`;
  const root: PathNode = { segment: '', path: prefix, requests: 0, blocked: 0, children: [] };
  const known = new Map<string, PathNode>();
  for (const { key, total, blocked } of values) {
    if (key !== base && !key.startsWith(prefix)) continue;
    root.requests += total;
    let node = root;
    const segments = key
      .slice(prefix.length)
      .split('/')
      .filter((one) => one !== '');
    for (const segment of segments.slice(0, depth)) {
      const path = `${node.path}${node.path.endsWith('/') ? '' : '/'}${segment}`;
      let child = known.get(path);
      if (child === undefined) {
        child = { segment, path, requests: 0, blocked: 0, children: [] };
        known.set(path, child);
        node.children.push(child);
      }
      child.requests += total;
      child.blocked += blocked;
      node = child;
    }
  }
  return { nodes: root.children, requests: root.requests };
}

/** The ways through a topology of proxies, from the internet to the product. */

/** A step from a node, or `internet`, to a node, or `waf`. */
export interface ProxyEdge {
  readonly from: string;
  readonly to: string;
}

/**
 * All ways as ids of nodes, the one next to the internet first; the direct way is empty. Finds at
 * most one more than `pathsMax`, so that too many are seen as such; a way never meets a node twice.
 */
export function proxyPaths(edges: readonly ProxyEdge[], pathsMax: number): string[][] {
  const paths: string[][] = [];
  const walk = (from: string, path: readonly string[]): void => {
    for (const edge of edges) {
      if (edge.from !== from || paths.length > pathsMax) continue;
      if (edge.to === 'waf') paths.push([...path]);
      else if (!path.includes(edge.to)) walk(edge.to, [...path, edge.to]);
    }
  };
  walk('internet', []);
  return paths;
}

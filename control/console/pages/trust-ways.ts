/** The ways of requests through the proxies of a trust profile. Pure. */

import type { TrustEdge } from '../../../proto/gen/waf/v1/trust_pb.ts';

/** More ways than a person compares. */
const waysMax = 12;

/** The ways as ids of proxies, the one next to the internet first; the direct way has none. */
export function waysOf(edges: readonly Pick<TrustEdge, 'from' | 'to'>[]): readonly string[][] {
  const ways: string[][] = [];
  const walk = (from: string, passed: readonly string[]): void => {
    for (const edge of edges) {
      if (edge.from !== from || ways.length === waysMax) continue;
      if (edge.to === 'waf') ways.push([...passed]);
      else if (!passed.includes(edge.to)) walk(edge.to, [...passed, edge.to]);
    }
  };
  walk('internet', []);
  return ways;
}

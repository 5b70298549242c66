/** Benign requests that virtual patches refuse and the score does not, by patch. Pure. */

import { markdownTable } from '../report/table.ts';
import { scoreOf, type JudgedBy, type Stops } from './figures.ts';
import { formatShare, wilson } from './intervals.ts';
import type { Observation } from './observe.ts';

/** A patch by its id, or all of them together. */
export interface PatchShare {
  readonly name: string;
  readonly refused: number;
  /** Benign requests. */
  readonly count: number;
  /** What it may refuse of them. */
  readonly shareMax: number;
}

/** Of one patch: an exploit is no request that a site in daily use gets. */
const oneShareMax = 0.0001;
const allShareMax = 0.0005;

/** All patches, then each that refuses one or more, the most first. */
export function patchSharesOf(
  observations: readonly Observation[],
  by: JudgedBy,
  patches: Stops,
): PatchShare[] {
  const benign = observations.filter(({ request }) => !request.attack);
  const stopped = benign
    .filter((one) => !one.otherwise && scoreOf(one, by) < by.weights.thresholds.block)
    .map(({ request }) => patches.stopping(request))
    .filter((ids) => ids.length > 0);
  const counts = new Map<string, number>();
  for (const id of stopped.flat()) counts.set(id, (counts.get(id) ?? 0) + 1);
  const shareOf = (name: string, refused: number, shareMax: number): PatchShare => {
    return { name, refused, count: benign.length, shareMax };
  };
  return [
    shareOf('all patches', stopped.length, allShareMax),
    ...[...counts]
      .sort(([, one], [, other]) => other - one)
      .map(([id, refused]) => shareOf(id, refused, oneShareMax)),
  ];
}

/** True for more than the share allows; a single request of a small corpus is no share. */
export function isExcessive({ refused, count, shareMax }: PatchShare): boolean {
  return refused > Math.max(1, count * shareMax);
}

/** The shares for people. */
export function patchSharesTable(shares: readonly PatchShare[]): string {
  const rows = shares.map((one) => {
    const { name, refused, count, shareMax } = one;
    const share = formatShare(wilson(refused, count));
    const most = `${(100 * shareMax).toFixed(2)} %`;
    return [name, String(refused), share, most, isExcessive(one) ? 'too many' : ''];
  });
  return markdownTable(['benign refused only by', 'requests', 'share', 'at most', ''], rows);
}

/**
 * The targets of a comparison with another commit, and the answer that it ends with. Builds and
 * figures are their own files.
 */

import { join } from 'node:path';
import type { Build } from './against-build.ts';
import { compareBuilds, comparisonTable, lossShareMin, type Sides } from './against-figures.ts';
import { plainProxy, type Candidate } from './line-up.ts';
import type { Ruleset } from './ruleset.ts';
import type { RunRecord } from './summary.ts';

const sides: Sides = {
  now: 'this-tree',
  nowAgain: 'this-tree-again',
  before: 'older',
  beforeAgain: 'older-again',
  plain: plainProxy.name,
};

/** nginx, and two processes of this tree and of the older build, all with the same rules. */
export function pairTargets(
  now: Build,
  before: Build,
  ruleset: Ruleset,
  databaseFolder: string,
): Candidate[] {
  const target = (name: string, build: Build): Candidate => ({
    name,
    title: `waf ${build.name}, ${ruleset.title}`,
    expectation: 'waf',
    baseline: plainProxy.name,
    start: (place) =>
      build.start(place, {
        engineFile: build.engineFile,
        ruleset,
        inspection: 'auto',
        listener: 'strict',
        // A build reads only databases of its own: their form may have changed.
        databaseFolder: join(databaseFolder, build.name),
        pauses: false,
      }),
  });
  return [
    plainProxy,
    target(sides.before, before),
    target(sides.now, now),
    target(sides.nowAgain, now),
    target(sides.beforeAgain, before),
  ];
}

/** What is printed at the end; `lost` where a figure is worse beyond the noise. */
export interface PairResult {
  readonly text: string;
  readonly lost: boolean;
}

/** The table of a comparison, and a line for each loss. Loads without figures count as losses. */
export function pairResult(
  runs: readonly RunRecord[],
  workloads: readonly string[],
  before: Build,
): PairResult {
  const comparisons = compareBuilds(runs, workloads, sides);
  const losses = comparisons
    .filter(({ lost }) => lost)
    .map(
      ({ workload, figure, ratio, noise }) =>
        `lost: ${workload}, ${figure}: ${share(ratio.median - 1)} more than ${before.name}, ` +
        `${share(lossShareMin)} allowed and ${share(noise)} noise`,
    );
  const measured = new Set(comparisons.map(({ workload }) => workload));
  const silent = workloads
    .filter((workload) => !measured.has(workload))
    .map((workload) => `not measured: ${workload}: a side gave a wrong answer in every round`);
  const lines = [
    `This tree by ${before.name}, all under load at once; median of rounds (least–greatest of other draws; noise).`,
    '',
    comparisonTable(comparisons, runs, sides),
    '',
    ...losses,
    ...silent,
    ...(losses.length + silent.length === 0 ? ['No loss.'] : []),
  ];
  return { text: lines.join('\n'), lost: losses.length + silent.length > 0 };
}

function share(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

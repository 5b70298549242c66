/** Owns the table of figures: who refuses what, by file and class, under each decision. Pure. */

import type { Decision } from '../../engine/contract/decision.ts';
import { decisions } from '../../engine/contract/decision.ts';
import { scorePiece, strongOnes, type SignFacts } from '../../engine/detect/score.ts';
import type { Weights } from '../../engine/detect/weights.ts';
import { refuses } from '../../engine/rules/run/scored-decision.ts';
import { markdownTable } from '../report/table.ts';
import { formatShare, wilson } from './intervals.ts';
import type { Observation } from './observe.ts';
import type { BuiltPatches } from './patches.ts';

/** Refused requests of one class. */
export interface ClassFigures {
  readonly source: string;
  readonly kind: string;
  readonly attack: boolean;
  readonly count: number;
  readonly refused: Readonly<Record<Decision, number>>;
  /** By the score or by a virtual patch; absent where patches were not asked. */
  readonly patched?: number;
}

/** What requests are scored with. */
export interface JudgedBy {
  readonly weights: Weights;
  /** For leaves that rules do not see. */
  readonly openedWeights: Weights;
  readonly facts: SignFacts;
}

/** The score of a request: that of its worst piece; 0 without signs. */
export function scoreOf(observation: Observation, by: JudgedBy): number {
  const highest = (pieces: Observation['pieces'], weights: Weights): number =>
    pieces.reduce((most, ids) => Math.max(most, scorePiece(ids, weights, by.facts)), 0);
  return Math.max(
    highest(observation.pieces, by.weights),
    highest(
      observation.openedPieces.map((ids) => strongOnes(ids, by.facts)),
      by.openedWeights,
    ),
  );
}

/** Figures by source, label and class, then of all benign and all attacks of each source. */
export function figuresOf(
  observations: readonly Observation[],
  by: JudgedBy,
  patches: Pick<BuiltPatches, 'stops'> | null = null,
): ClassFigures[] {
  const classes = new Map<string, Observation[]>();
  for (const one of observations) {
    const { source, kind, attack } = one.request;
    const name = JSON.stringify([source, attack, kind]);
    const known = classes.get(name);
    if (known === undefined) classes.set(name, [one]);
    else known.push(one);
  }
  return [...classes.values()].map((own) => {
    const { source, kind, attack } = own[0]!.request;
    const refused = { crs: 0, score: 0, both: 0, scoreConfirms: 0 };
    let patched = 0;
    for (const one of own) {
      const byScore = scoreOf(one, by) >= by.weights.thresholds.block;
      for (const decision of decisions) {
        if (one.otherwise || refuses(decision, byScore, one.anomaly)) refused[decision]++;
      }
      if (one.otherwise || byScore || patches?.stops(one.request) === true) patched++;
    }
    const made = { source, kind, attack, count: own.length, refused };
    return patches === null ? made : { ...made, patched };
  });
}

/** The figures for people. */
export function figuresTable(figures: readonly ClassFigures[]): string {
  const sorted = [...figures].sort((one, other) => {
    return Number(one.attack) - Number(other.attack) || compare(nameOf(one), nameOf(other));
  });
  const rows = sorted.map((one) => rowOf(nameOf(one), one));
  for (const attack of [false, true]) {
    const own = figures.filter((one) => one.attack === attack);
    if (own.length > 0) rows.push(rowOf(attack ? 'all attacks' : 'all benign', sumOf(own)));
  }
  const patched = figures.some((one) => one.patched !== undefined) ? ['score, patches'] : [];
  const columns = ['refused of', 'requests', 'crs', 'score', 'both', 'score-confirms'];
  return markdownTable([...columns, ...patched], rows);
}

/** Several classes as one. */
export function sumOf(figures: readonly ClassFigures[]): ClassFigures {
  const sum = (of: (one: ClassFigures) => number): number =>
    figures.reduce((total, one) => total + of(one), 0);
  return {
    ...figures[0]!,
    count: sum(({ count }) => count),
    refused: {
      crs: sum(({ refused }) => refused.crs),
      score: sum(({ refused }) => refused.score),
      both: sum(({ refused }) => refused.both),
      scoreConfirms: sum(({ refused }) => refused.scoreConfirms),
    },
    ...(figures[0]!.patched === undefined ? {} : { patched: sum((one) => one.patched ?? 0) }),
  };
}

function nameOf({ source, kind, attack }: ClassFigures): string {
  return `${source}: ${attack ? 'attack' : 'benign'} ${kind}`;
}

function rowOf(name: string, { count, refused, patched }: ClassFigures): string[] {
  const shares = decisions.map((decision) => formatShare(wilson(refused[decision], count)));
  const more = patched === undefined ? [] : [formatShare(wilson(patched, count))];
  return [name, String(count), ...shares, ...more];
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one === other ? 0 : 1;
}

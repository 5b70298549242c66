/** The table of figures: who refuses what, by file and class, under each decision. Pure. */

import type { Decision } from '../../engine/contract/decision.ts';
import { decisions } from '../../engine/contract/decision.ts';
import { scorePiece, strongOnes, type SignFacts } from '../../engine/detect/score.ts';
import type { Weights } from '../../engine/detect/weights.ts';
import { refuses } from '../../engine/rules/run/scored-decision.ts';
import { markdownTable } from '../report/table.ts';
import { formatShare, wilson } from './intervals.ts';
import type { Observation } from './observe.ts';
import type { BuiltPatches } from './patches.ts';
import type { LabelledRequest } from './requests.ts';

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
  patches: Stops | null = null,
): ClassFigures[] {
  return counted(
    observations.map((one) => ({ request: one.request, refused: refusalsOf(one, by, patches) })),
    patches !== null,
  );
}

/**
 * Figures by fault: of attacks whose ids number the requests of one (`CVE-2021-44228#2`), whether
 * one is refused. Most faults need all of their requests, sign-ins and look-ups among them.
 */
export function faultFiguresOf(
  observations: readonly Observation[],
  by: JudgedBy,
  patches: Stops,
): ClassFigures[] {
  const faults = new Map<string, Judged>();
  for (const one of observations) {
    const [fault = '', number] = one.request.id.split('#');
    if (!one.request.attack || number === undefined) continue;
    const name = JSON.stringify([one.request.source, one.request.kind, fault]);
    const refused = refusalsOf(one, by, patches);
    const known = faults.get(name);
    for (const key of Object.keys(refused) as (keyof Refusals)[]) {
      refused[key] ||= known?.refused[key] === true;
    }
    const kind = `${one.request.kind}, faults`;
    faults.set(name, { request: { ...one.request, kind }, refused });
  }
  return counted([...faults.values()], true);
}

/** What patches are asked. */
export type Stops = Pick<BuiltPatches, 'stopping'>;

/** Under which decisions a request is refused, and by the score or a patch. */
type Refusals = Record<Decision | 'patched', boolean>;

interface Judged {
  readonly request: LabelledRequest;
  readonly refused: Refusals;
}

function refusalsOf(one: Observation, by: JudgedBy, patches: Stops | null): Refusals {
  const byScore = scoreOf(one, by) >= by.weights.thresholds.block;
  const refused = (decision: Decision): boolean =>
    one.otherwise || refuses(decision, byScore, one.anomaly);
  return {
    crs: refused('crs'),
    score: refused('score'),
    both: refused('both'),
    scoreConfirms: refused('scoreConfirms'),
    patched: one.otherwise || byScore || (patches?.stopping(one.request) ?? []).length > 0,
  };
}

function counted(judged: readonly Judged[], withPatches: boolean): ClassFigures[] {
  const classes = new Map<string, Judged[]>();
  for (const one of judged) {
    const { source, kind, attack } = one.request;
    const name = JSON.stringify([source, attack, kind]);
    const known = classes.get(name);
    if (known === undefined) classes.set(name, [one]);
    else known.push(one);
  }
  return [...classes.values()].map((own) => {
    const { source, kind, attack } = own[0]!.request;
    const count = (key: keyof Refusals): number => own.filter(({ refused }) => refused[key]).length;
    const refused = {
      crs: count('crs'),
      score: count('score'),
      both: count('both'),
      scoreConfirms: count('scoreConfirms'),
    };
    const made = { source, kind, attack, count: own.length, refused };
    return withPatches ? { ...made, patched: count('patched') } : made;
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

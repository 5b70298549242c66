/**
 * Trains the points of a ruleset's score and judges them: thresholds and figures come from groups
 * of requests that the model had not seen. Deterministic.
 */

import { distinctSigns, type SignFacts } from '../../../engine/detect/score.ts';
import { readWeights, type Weights, type WeightsFile } from '../../../engine/detect/weights.ts';
import { figuresOf, figuresTable, sumOf, type ClassFigures, type JudgedBy } from '../figures.ts';
import { formatShare, wilson } from '../intervals.ts';
import type { Observation } from '../observe.ts';
import { placeOf } from '../requests.ts';
import { Columns } from './bits.ts';
import { learn, sumOfRequest } from './learn.ts';
import { isProved, proofsOf, type Proofs } from './proofs.ts';

/** What to train. */
export interface Training {
  readonly seed: number;
  /** A source that is left out; its figures are reported. '' for none. */
  readonly without: string;
  /** Version of the ruleset. */
  readonly version: string;
  /** Name of the weights. */
  readonly name: string;
  /** For the data file, ISO 8601. */
  readonly date: string;
  /** Ids of the detectors whose grammar proves an attack. */
  readonly strong: readonly number[];
  /** Points for leaves that rules do not see; null: those that are trained. */
  readonly openedWeights: Weights | null;
}

/** Weights, and the report for people. */
export interface Trained {
  readonly file: WeightsFile;
  readonly report: string;
  /** On groups that it was not trained on. */
  readonly unseen: readonly ClassFigures[];
  /** On the source that was left out. */
  readonly left: readonly ClassFigures[];
}

/** Folds of groups for thresholds and figures. */
const foldCount = 4;
/** The score at which requests are refused, whatever the ruleset. */
const blockScore = 50;
/** Shares of benign requests that reach a threshold. */
const benignShares = { watch: 0.01, challenge: 0.003, block: 0.0003 } as const;
/** No threshold is lower: where few benign requests have signs, a weak one is no news. */
const recordedScoreMin = 20;
/** Columns with fewer points are left out. */
const pointsMin = 0.5;
/** Log-odds that refuse at least, however few benign requests have signs: twenty to one. */
const blockSumMin = 3;

/** Log-odds by column, and what refuses whatever they are. */
interface Learned {
  readonly weights: Float64Array;
  readonly proofs: Proofs;
}

/** A model of some folds, and the requests of the other. */
interface Fold extends Learned {
  readonly unseen: readonly Observation[];
}

/** Trains and judges. Cost: some minutes for 40,000 requests. */
export function train(
  observed: readonly Observation[],
  facts: SignFacts,
  training: Training,
): Trained {
  const { seed, without } = training;
  // A sign that repeats another one teaches nothing: the score does not count it.
  const observations = observed.map((one) => {
    return { ...one, pieces: one.pieces.map(distinctSigns) };
  });
  const used = observations.filter(({ request }) => request.source !== without);
  const columns = new Columns(observations, facts);
  const learnFrom = (seen: readonly Observation[]): Learned => {
    const proofs = proofsOf(seen, facts, training.strong);
    // What a proof decides teaches nothing about weaker signs.
    const open = seen.filter((one) => !one.request.attack || !isProved(one, proofs, facts));
    return { weights: learn(open, columns), proofs };
  };
  const folds = Array.from({ length: foldCount }, (_, at): Fold => {
    const isUnseen = ({ request }: Observation): boolean =>
      Math.floor(placeOf(request.group, seed) * foldCount) === at;
    const seen = used.filter((one) => !isUnseen(one));
    return { ...learnFrom(seen), unseen: used.filter(isUnseen) };
  });
  const sums = unseenSums(folds, columns, facts);
  const draw = (learned: Learned): WeightsFile => fileOf(learned, columns, sums, training);
  const judgedBy = (drawn: WeightsFile): JudgedBy => {
    const weights = readWeights(drawn);
    return { weights, openedWeights: training.openedWeights ?? weights, facts };
  };
  const crossed = folds.flatMap((fold) => figuresOf(fold.unseen, judgedBy(draw(fold))));
  const file = draw(learnFrom(used));
  const unseen = joined(crossed);
  const report = [`On groups that it was not trained on:\n\n${figuresTable(unseen)}`];
  const left = figuresOf(
    observations.filter(({ request }) => request.source === without),
    judgedBy(file),
  );
  if (without !== '') report.push(`On ${without}, which was left out:\n\n${figuresTable(left)}`);
  report.push(describeFile(file));
  return {
    file: { ...file, training: factsOf(used, unseen, training) },
    report: report.join('\n\n'),
    ...{ unseen, left },
  };
}

/** Sums that the shares of unseen benign requests reach. */
function unseenSums(
  folds: readonly Fold[],
  columns: Columns,
  facts: SignFacts,
): Readonly<Record<keyof typeof benignShares, number>> {
  const sumsOf = (confirmed: boolean): number[] =>
    folds.flatMap(({ weights, proofs, unseen }) => {
      const benign = unseen.filter(({ request }) => !request.attack);
      return benign.map((one) => {
        if (isProved(one, proofs, facts)) return Number.POSITIVE_INFINITY;
        return sumOfRequest(one, columns, weights, facts, confirmed);
      });
    });
  const all = sumsOf(false).sort((one, other) => other - one);
  const confirmed = sumsOf(true).sort((one, other) => other - one);
  const reached = (sums: readonly number[], share: number): number =>
    sums.slice(Math.floor(share * sums.length)).find((sum) => Number.isFinite(sum)) ?? 0;
  return {
    watch: reached(all, benignShares.watch),
    challenge: reached(all, benignShares.challenge),
    block: Math.max(blockSumMin, reached(confirmed, benignShares.block)),
  };
}

function fileOf(
  { weights, proofs }: Learned,
  columns: Columns,
  sums: ReturnType<typeof unseenSums>,
  { name, version, date, seed }: Training,
): WeightsFile {
  // One point more than what benign requests reach.
  const scale = (blockScore - 1) / sums.block;
  const scoreAt = (sum: number): number =>
    Math.max(recordedScoreMin, Math.min(blockScore, Math.ceil(sum * scale) + 1));
  const challenge = scoreAt(sums.challenge);
  const rows = (pair: boolean): Map<number, number> => {
    const learned = columns.list.flatMap((column, at): (readonly [number, number])[] => {
      // What no grammar proves refuses beside another sign only.
      const points = Math.min(blockScore - 1, Math.round(weights[at]! * scale * 10) / 10);
      return column.pair !== pair || points < pointsMin ? [] : [[column.id, points]];
    });
    return new Map(learned);
  };
  const points = rows(false);
  const pairs = rows(true);
  for (const id of proofs.alone) points.set(id, Math.max(points.get(id) ?? 0, blockScore));
  for (const id of proofs.confirmed) {
    const missing = blockScore - (points.get(id) ?? 0);
    if (missing > (pairs.get(id) ?? 0)) pairs.set(id, Math.round(missing * 10) / 10);
  }
  return {
    version: `${name}-${date.slice(0, 10)}-${seed}`,
    ruleset: version,
    thresholds: { watch: Math.min(challenge, scoreAt(sums.watch)), challenge, block: blockScore },
    points: recordOf(points),
    pairs: recordOf(pairs),
    training: null,
  };
}

/** Ascending by id. */
function recordOf(points: ReadonlyMap<number, number>): Record<string, number> {
  const rows = [...points].sort(([one], [other]) => one - other);
  return Object.fromEntries(rows.map(([id, value]) => [String(id), value]));
}

/** Figures of the same class in several folds as one. */
function joined(figures: readonly ClassFigures[]): ClassFigures[] {
  const classes = new Map<string, ClassFigures[]>();
  for (const one of figures) {
    const name = JSON.stringify([one.source, one.kind, one.attack]);
    classes.set(name, [...(classes.get(name) ?? []), one]);
  }
  return [...classes.values()].map(sumOf);
}

/** What stands in the data file beside the points. */
function factsOf(
  used: readonly Observation[],
  figures: readonly ClassFigures[],
  { seed, date }: Training,
): object {
  const shares = figures.map(({ source, kind, attack, count, refused }) => {
    const share = formatShare(wilson(refused.score, count));
    return { source, kind, label: attack ? 'attack' : 'benign', count, refused: share };
  });
  return {
    ...{
      date,
      seed,
      requests: used.length,
      groups: new Set(used.map((one) => one.request.group)).size,
    },
    judged: `by groups, ${foldCount} folds`,
    figures: shares,
  };
}

function describeFile({ version, thresholds, points, pairs }: WeightsFile): string {
  const { watch, challenge, block } = thresholds;
  const rows = [
    ...Object.entries(points).map(([id, value]): [string, number] => [id, value]),
    ...Object.entries(pairs).map(([id, value]): [string, number] => [`${id}+rule`, value]),
  ].sort(([, one], [, other]) => other - one);
  const list = rows.map(([name, value]) => `${name}=${value}`).join(' ');
  return `${version}: watch ${watch}, challenge ${challenge}, block ${block}\n${list}`;
}

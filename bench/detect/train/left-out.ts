/**
 * How much of what training gives is left where the source of the attacks took no part in it: each
 * source with attacks is left out in turn. Deterministic.
 */

import type { SignFacts } from '../../../engine/detect/score.ts';
import { markdownTable } from '../../report/table.ts';
import type { ClassFigures } from '../figures.ts';
import { formatShare, wilson } from '../intervals.ts';
import type { Observation } from '../observe.ts';
import { train, type Training } from './train.ts';

/** A table for people. Cost: one training for each source and one more. */
export function leaveOutEach(
  observations: readonly Observation[],
  facts: SignFacts,
  training: Training,
): string {
  const attacks = observations.filter(({ request }) => request.attack);
  const sources = [...new Set(attacks.map(({ request }) => request.source))];
  const { unseen } = train(observations, facts, { ...training, without: '' });
  const rows = sources.flatMap((without) => {
    const { left } = train(observations, facts, { ...training, without });
    return left.flatMap((one) => {
      const trained = unseen.find((other) => nameOf(other) === nameOf(one));
      return trained === undefined ? [] : [rowOf(one, trained)];
    });
  });
  return markdownTable(['refused of', 'requests', 'left out', 'trained with', 'ratio'], rows);
}

function nameOf({ source, kind, attack }: ClassFigures): string {
  return `${source}: ${attack ? 'attack' : 'benign'} ${kind}`;
}

function rowOf(left: ClassFigures, trained: ClassFigures): string[] {
  const { count, refused, attack } = left;
  const ratio = refused.score / trained.refused.score;
  return [
    nameOf(left),
    String(count),
    formatShare(wilson(refused.score, count)),
    formatShare(wilson(trained.refused.score, trained.count)),
    attack && Number.isFinite(ratio) ? ratio.toFixed(3) : '–',
  ];
}

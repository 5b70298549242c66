/**
 * Which detectors refuse alone: those whose grammar proves an attack, and that no benign request of
 * the training part has. What the requests at hand attack with has no say in it, so that a detector
 * counts for attacks that no corpus holds. Pure.
 */

import { pairsOf, type SignFacts } from '../../../engine/detect/score.ts';
import type { Observation } from '../observe.ts';

/** Ids of detectors that refuse alone, and of those that do so where a rule confirms them. */
export interface Proofs {
  readonly alone: ReadonlySet<number>;
  readonly confirmed: ReadonlySet<number>;
}

/** The proofs among the strong detectors `strong`. */
export function proofsOf(
  observations: readonly Observation[],
  facts: SignFacts,
  strong: readonly number[],
): Proofs {
  const alone = new Set(strong);
  const confirmed = new Set(strong);
  for (const { request, pieces } of observations) {
    if (request.attack) continue;
    for (const ids of pieces) {
      for (const id of ids) alone.delete(id);
      for (const id of pairsOf(ids, facts)) confirmed.delete(id);
    }
  }
  return { alone, confirmed };
}

/** Whether a proof decides a request, so that it teaches nothing about weaker signs. */
export function isProved({ pieces }: Observation, proofs: Proofs, facts: SignFacts): boolean {
  return pieces.some((ids) => {
    if (ids.some((id) => proofs.alone.has(id))) return true;
    return pairsOf(ids, facts).some((id) => proofs.confirmed.has(id));
  });
}

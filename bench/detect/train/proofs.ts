/**
 * Which detectors refuse alone: those whose grammar proves an attack, and that benign requests of
 * one group at most have: recordings hold saved pages, and attacks that nobody labelled. What the
 * requests at hand attack with has no say in it, so that a detector counts for attacks that no
 * corpus holds. Pure.
 */

import { pairsOf, type SignFacts } from '../../../engine/detect/score.ts';
import type { Observation } from '../observe.ts';

/** Ids of detectors that refuse alone, and of those that do so where a rule confirms them. */
export interface Proofs {
  readonly alone: ReadonlySet<number>;
  readonly confirmed: ReadonlySet<number>;
}

/** Groups of benign requests that do not disprove. */
const benignGroupsMax = 1;

/** The proofs among the strong detectors `strong`. */
export function proofsOf(
  observations: readonly Observation[],
  facts: SignFacts,
  strong: readonly number[],
): Proofs {
  const alone = new Map<number, Set<string>>();
  const confirmed = new Map<number, Set<string>>();
  for (const { request, pieces } of observations) {
    if (request.attack) continue;
    for (const ids of pieces) {
      for (const id of ids) addTo(alone, id, request.group);
      for (const id of pairsOf(ids, facts)) addTo(confirmed, id, request.group);
    }
  }
  const among = (groups: ReadonlyMap<number, ReadonlySet<string>>): ReadonlySet<number> =>
    new Set(strong.filter((id) => (groups.get(id)?.size ?? 0) <= benignGroupsMax));
  return { alone: among(alone), confirmed: among(confirmed) };
}

function addTo(groups: Map<number, Set<string>>, id: number, group: string): void {
  const known = groups.get(id);
  if (known === undefined) groups.set(id, new Set([group]));
  else known.add(group);
}

/** Whether a proof decides a request, so that it teaches nothing about weaker signs. */
export function isProved({ pieces }: Observation, proofs: Proofs, facts: SignFacts): boolean {
  return pieces.some((ids) => {
    if (ids.some((id) => proofs.alone.has(id))) return true;
    return pairsOf(ids, facts).some((id) => proofs.confirmed.has(id));
  });
}

/**
 * Ends the search of values where enough leaves refuse the request by themselves: a score is that
 * of the worst piece, so that those after them change nothing but which one is shown. A request of
 * many attacks then costs no more than one of some. Never refuses.
 */

import type { RequestContent } from '../../contract/detection-content.ts';
import type { Decider, DetectedLeaf, Detection } from '../../detect/detection.ts';
import { loadingTag } from '../../detect/families/html.table.ts';
import { countedSigns } from '../../detect/learning/content-signs.ts';
import { scoreSigns, type Scored, type Sign } from '../../detect/score.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { addSigns, type DetectorRules, type SignedLeaf } from './leaf-signs.ts';
import type { ScoredValue } from './scored-values.ts';

/** Leaves that refuse by themselves, after which no more are searched. */
export const refusingLeavesMax = 16;

/** What is content where nothing is. */
export const noContent: readonly RequestContent[] = [];

/** What leaves are judged by. */
interface Judging {
  readonly detection: Detection;
  readonly detectors: DetectorRules;
  readonly blockScore: number;
}

/** Those of one request. */
export class Refusals implements Decider {
  private readonly values: readonly ScoredValue[];
  private readonly tx: Transaction;
  private readonly judging: Judging;
  private left = refusingLeavesMax;

  constructor(values: readonly ScoredValue[], tx: Transaction, judging: Judging) {
    this.values = values;
    this.tx = tx;
    this.judging = judging;
  }

  decides(found: DetectedLeaf): boolean {
    const { facts } = this.judging.detection;
    // What proves nothing alone may refuse beside other signs; it is not looked at here.
    if (found.hits.some(({ id }) => facts.isStrong(id)) && this.refuses(found)) this.left--;
    return this.left === 0;
  }

  /** Whether its score alone refuses, which is at most that of the request. */
  private refuses(found: DetectedLeaf): boolean {
    const { detection, detectors, blockScore } = this.judging;
    const { name } = this.values[found.value]!;
    const signs: Sign[] = [];
    addSigns(signs, found, 0, name, this.tx, detection, detectors);
    // Tags of editors are taken out where all leaves are known.
    const sure = signs.filter(({ id }) => id !== loadingTag);
    const { path, bytes, opened } = found;
    const leaves = [{ name, path, bytes, opened }];
    const content = this.tx.request.content ?? noContent;
    const counted = countedSigns(sure, leaves, content, detection.facts);
    return (scoreLeaves(counted, leaves, detection)?.score ?? 0) >= blockScore;
  }
}

/** The worst piece of leaves; null without signs. */
export function scoreLeaves(
  signs: readonly Sign[],
  leaves: readonly SignedLeaf[],
  { weights, openedWeights, facts }: Detection,
): Scored | null {
  if (signs.length === 0) return null;
  const isOpened = (leaf: number): boolean => leaves[leaf]!.opened;
  return scoreSigns(signs, weights, facts, { weights: openedWeights, isOpened });
}

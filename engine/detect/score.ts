/**
 * The score of a request: the worst piece of a value, by additive points. A piece is a stretch of
 * one leaf, so that size and number of fields do not add up to an attack. Points are never negative
 * and signs only add, so nothing that is added to a request lowers its score. Pure.
 */

import { detectorIds } from './detector.ts';
import type { Weights } from './weights.ts';

/** A detector or rule that matched in a leaf. */
export interface Sign {
  /** Id of the detector or of the rule. */
  readonly id: number;
  /** Index of the leaf. */
  readonly leaf: number;
  /** Byte offsets in the leaf. */
  readonly start: number;
  /** As `start` -1: it matched somewhere in the leaf and counts in each of its pieces. */
  readonly end: number;
}

/** What scoring knows of detectors. */
export interface SignFacts {
  /** One sign of it is enough. */
  isStrong(id: number): boolean;
  /** Thousands of the rule ids (942) that confirm it; empty for rules. */
  confirmedBy(id: number): readonly number[];
}

/** Points that one bit of a piece brings. */
export interface Bit {
  readonly id: number;
  /** The detector is confirmed by a rule of its family on the same piece. */
  readonly pair: boolean;
  readonly points: number;
}

/** The worst piece. */
export interface Scored {
  /** 0 to 100. */
  readonly score: number;
  /** The points that gave it. */
  readonly weights: Weights;
  readonly leaf: number;
  /** Byte offsets in the leaf, from the first to the last sign. */
  readonly start: number;
  readonly end: number;
  /** Most points first. */
  readonly bits: readonly Bit[];
}

/** Bytes between the starts of signs that belong to one piece. */
export const pieceBytes = 256;
/** The highest score. */
export const scoreMax = 100;

/** One piece as bits, without points. */
export interface Piece {
  readonly leaf: number;
  readonly start: number;
  readonly end: number;
  /** Distinct, ascending. */
  readonly ids: readonly number[];
}

/** Points for leaves that rules do not see: they cannot confirm what detectors find there. */
export interface OpenedScoring {
  readonly weights: Weights;
  isOpened(leaf: number): boolean;
}

/**
 * The highest score of all pieces; null without signs. A piece of an opened leaf has the higher one
 * of both points. Cost: n log n in the number of signs.
 */
export function scoreSigns(
  signs: readonly Sign[],
  weights: Weights,
  facts: SignFacts,
  opened: OpenedScoring | null = null,
): Scored | null {
  let worst: Piece | null = null;
  let by = weights;
  let highest = -1;
  for (const piece of piecesOf(signs)) {
    const alsoOpened = opened !== null && opened.isOpened(piece.leaf);
    for (const one of alsoOpened ? [weights, opened.weights] : [weights]) {
      const ids = one === weights ? piece.ids : strongOnes(piece.ids, facts);
      const score = scorePiece(ids, one, facts);
      if (score <= highest) continue;
      highest = score;
      worst = { ...piece, ids };
      by = one;
    }
  }
  if (worst === null) return null;
  const { leaf, start, end, ids } = worst;
  return { score: highest, weights: by, leaf, start, end, bits: bitsOf(ids, by, facts) };
}

/** What counts in a leaf that rules do not see: weak signs need a rule to confirm them. */
export function strongOnes(ids: readonly number[], facts: SignFacts): number[] {
  return ids.filter((id) => facts.isStrong(id));
}

/** Points are sums of tenths, which binary fractions miss by less than this. */
const rounding = 1e-6;

/**
 * Points of a piece, rounded down, at most `scoreMax`; below `block` where what may refuse in it
 * does not reach that.
 */
export function scorePiece(ids: readonly number[], weights: Weights, facts: SignFacts): number {
  const { block } = weights.thresholds;
  const points = pointsOf(ids, weights, facts);
  if (points < block) return points;
  const refusing = refusingSigns(ids, facts);
  const hasOwn = (id: number): boolean => ownPoints(id, refusing, weights) > 0;
  if (!mayRefuse(refusing, hasOwn, facts)) return block - 1;
  const most = refusing === ids ? points : pointsOf(refusing, weights, facts);
  return Math.min(Math.max(most, block - 1), scoreMax);
}

function pointsOf(ids: readonly number[], weights: Weights, facts: SignFacts): number {
  let points = 0;
  for (const id of ids) {
    points += ownPoints(id, ids, weights);
    if (isConfirmed(id, ids, facts)) points += weights.pairs.get(id) ?? 0;
  }
  return Math.floor(points + rounding);
}

/**
 * What counts for a refusal: all signs beside a strong one; else detectors, and the rules of the
 * families that confirm them. A rule of another family names a word, and nothing reads it.
 */
export function refusingSigns(ids: readonly number[], facts: SignFacts): readonly number[] {
  for (const id of ids) if (facts.isStrong(id)) return ids;
  return ids.every((id) => mayCount(id, ids, facts))
    ? ids
    : ids.filter((id) => mayCount(id, ids, facts));
}

function mayCount(id: number, ids: readonly number[], facts: SignFacts): boolean {
  if (id <= detectorIds.last) return true;
  const family = Math.floor(id / 1000);
  return ids.some((other) => facts.confirmedBy(other).includes(family));
}

/**
 * Whether a piece has what a refusal needs: a strong sign, or two signs of which one is a
 * detector's. Rules alone name words; without a grammar that reads them they prove nothing.
 */
export function mayRefuse(
  ids: readonly number[],
  hasPoints: (id: number) => boolean,
  facts: SignFacts,
): boolean {
  let signs = 0;
  let detected = false;
  for (const id of ids) {
    if (facts.isStrong(id)) return true;
    if (!hasPoints(id) || (repeats(id, ids) && hasPoints(sameSign.get(id)!))) continue;
    signs++;
    if (id <= detectorIds.last) detected = true;
  }
  return detected && signs > 1;
}

/**
 * Rules of CRS that look for what another one looks for, in another reading of the value: together
 * they are one sign.
 */
const sameSign: ReadonlyMap<number, number> = new Map([[930_110, 930_100]]);

function repeats(id: number, ids: readonly number[]): boolean {
  const other = sameSign.get(id);
  return other !== undefined && ids.includes(other);
}

/** Without signs that repeat another one of the piece. */
export function distinctSigns(ids: readonly number[]): readonly number[] {
  return ids.some((id) => repeats(id, ids)) ? ids.filter((id) => !repeats(id, ids)) : ids;
}

/** Points of a sign; of one that repeats another what it has above that one's. */
function ownPoints(id: number, ids: readonly number[], { points }: Weights): number {
  const own = points.get(id) ?? 0;
  if (!repeats(id, ids)) return own;
  return Math.max(0, own - (points.get(sameSign.get(id)!) ?? 0));
}

function isConfirmed(id: number, ids: readonly number[], facts: SignFacts): boolean {
  const by = facts.confirmedBy(id);
  if (by.length === 0) return false;
  for (const other of ids) if (by.includes(Math.floor(other / 1000))) return true;
  return false;
}

/** The pairs of a piece: its detectors that a rule of their family confirms. */
export function pairsOf(ids: readonly number[], facts: SignFacts): number[] {
  return ids.filter((id) => isConfirmed(id, ids, facts));
}

function bitsOf(ids: readonly number[], weights: Weights, facts: SignFacts): Bit[] {
  const single = ids.map((id) => ({ id, pair: false, points: ownPoints(id, ids, weights) }));
  const pairs = pairsOf(ids, facts).map((id) => {
    return { id, pair: true, points: weights.pairs.get(id) ?? 0 };
  });
  return [...single, ...pairs].sort((one, other) => other.points - one.points || one.id - other.id);
}

/** Every piece with a set of signs that no other piece of its leaf begins with. */
export function piecesOf(signs: readonly Sign[]): Piece[] {
  const byLeaf = new Map<number, Sign[]>();
  for (const sign of signs) {
    const known = byLeaf.get(sign.leaf);
    if (known === undefined) byLeaf.set(sign.leaf, [sign]);
    else known.push(sign);
  }
  return [...byLeaf].flatMap(([leaf, own]) => piecesOfLeaf(leaf, own));
}

function piecesOfLeaf(leaf: number, signs: readonly Sign[]): Piece[] {
  const placed: Sign[] = [];
  const everywhere: number[] = [];
  for (const sign of signs) {
    if (sign.start < 0 || sign.end - sign.start > pieceBytes) everywhere.push(sign.id);
    else placed.push(sign);
  }
  if (placed.length === 0) return [{ leaf, start: 0, end: 0, ids: ascending(everywhere) }];
  placed.sort((one, other) => one.start - other.start || one.id - other.id);
  const pieces: Piece[] = [];
  const counts = new Map<number, number>();
  let last = 0;
  for (let first = 0; first < placed.length; first++) {
    const { start } = placed[first]!;
    const before = last;
    for (; last < placed.length && placed[last]!.start <= start + pieceBytes; last++) {
      const { id } = placed[last]!;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    // What begins later and ends at the same sign is a part of the piece before.
    if (last > before) {
      const end = placed.slice(first, last).reduce((far, sign) => Math.max(far, sign.end), start);
      pieces.push({ leaf, start, end, ids: ascending([...counts.keys(), ...everywhere]) });
    }
    const { id } = placed[first]!;
    const left = counts.get(id)! - 1;
    if (left === 0) counts.delete(id);
    else counts.set(id, left);
  }
  return pieces;
}

function ascending(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((one, other) => one - other);
}

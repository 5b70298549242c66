/**
 * The search: for every shape a population of candidates whose costliest are varied again and
 * again. The same seed and number of tries visit the same candidates as long as costs compare the
 * same. Reads no clock of its own.
 */

import { type Candidate, type Shape } from './candidate.ts';

/** Numbers from 0 up to, not including, `below`. */
export type Dice = (below: number) => number;

/** A candidate with what it cost. */
export interface Tried {
  readonly candidate: Candidate;
  readonly cpuMs: number;
}

/** Candidates that are kept of one shape. */
const keptMax = 12;
/** One of this many tries starts from nothing instead of from a kept candidate. */
const freshEvery = 4;

/** Numbers that a seed determines (mulberry32). */
export function startDice(seed: number): Dice {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/**
 * Searches one shape. `measure` gives milliseconds, or null for what is refused unread.
 * Returns the kept candidates, the costliest first.
 */
export function searchShape(
  shape: Shape,
  tries: number,
  tokens: readonly string[],
  dice: Dice,
  measure: (candidate: Candidate) => number | null,
): Tried[] {
  let kept: Tried[] = [];
  for (let n = 0; n < tries; n++) {
    const fresh = kept.length === 0 || n % freshEvery === 0;
    const candidate = fresh
      ? randomCandidate(shape, tokens, dice)
      : mutate(kept[Math.min(dice(kept.length), dice(kept.length))]!.candidate, tokens, dice);
    const cpuMs = measure(candidate);
    if (cpuMs === null) continue;
    if (kept.length === keptMax && cpuMs <= kept[keptMax - 1]!.cpuMs) continue;
    kept = [...kept, { candidate, cpuMs }].sort((a, b) => b.cpuMs - a.cpuMs).slice(0, keptMax);
  }
  return kept;
}

const counts = [1, 1, 2, 3, 8, 20, 50, 100, 190, 400, 999] as const;
const nameSizes = [1, 4, 8, 16, 40, 100, 400, 1_000, 2_000] as const;
const depths = [0, 0, 0, 1, 3, 10, 40, 100, 200] as const;

function randomCandidate(shape: Shape, tokens: readonly string[], dice: Dice): Candidate {
  return {
    shape,
    items: pick(counts, dice),
    name: pieces(tokens, dice),
    nameBytes: pick(nameSizes, dice),
    lead: dice(2) === 0 ? '' : pick(tokens, dice),
    value: pieces(tokens, dice),
    distinct: dice(2) === 0,
    listed: dice(2) === 0,
    depth: pick(depths, dice),
    encoded: dice(2) === 0,
  };
}

function pieces(tokens: readonly string[], dice: Dice): string[] {
  return Array.from({ length: 1 + dice(4) }, () => pick(tokens, dice));
}

function pick<T>(from: readonly T[], dice: Dice): T {
  return from[dice(from.length)]!;
}

const changes: readonly ((one: Candidate, tokens: readonly string[], dice: Dice) => Candidate)[] = [
  (one, tokens, dice) => ({ ...one, value: changeList(one.value, tokens, dice) }),
  (one, tokens, dice) => ({ ...one, value: changeList(one.value, tokens, dice) }),
  (one, tokens, dice) => ({ ...one, value: changeList(one.value, tokens, dice) }),
  (one, tokens, dice) => ({ ...one, name: changeList(one.name, tokens, dice) }),
  (one, tokens, dice) => ({ ...one, lead: dice(3) === 0 ? '' : pick(tokens, dice) }),
  (one, _, dice) => ({ ...one, items: pick(counts, dice) }),
  (one, _, dice) => ({ ...one, nameBytes: pick(nameSizes, dice) }),
  (one, _, dice) => ({ ...one, depth: pick(depths, dice) }),
  (one) => ({ ...one, distinct: !one.distinct }),
  (one) => ({ ...one, listed: !one.listed }),
  (one) => ({ ...one, encoded: !one.encoded }),
  (one) => ({ ...one, name: one.value }),
];

/** One or two changes. */
function mutate(candidate: Candidate, tokens: readonly string[], dice: Dice): Candidate {
  const once = pick(changes, dice)(candidate, tokens, dice);
  return dice(2) === 0 ? once : pick(changes, dice)(once, tokens, dice);
}

function changeList(list: readonly string[], tokens: readonly string[], dice: Dice): string[] {
  const at = dice(list.length);
  switch (dice(4)) {
    case 0:
      return list.length > 1 ? list.filter((_, other) => other !== at) : [pick(tokens, dice)];
    case 1:
      return list.length < 8 ? list.toSpliced(at, 0, pick(tokens, dice)) : list.slice(1);
    case 2:
      return list.length < 8 ? list.toSpliced(at, 0, list[at]!) : list.slice(1);
    default:
      return list.with(at, pick(tokens, dice));
  }
}

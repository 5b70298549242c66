/**
 * Families of regular detectors: one expression each, over byte strings. Every quantifier is
 * bounded, which a test checks, so that a search is linear in the leaf.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { detectLimits } from '../base/detect-limits.ts';
import type { Detector, Family, Leaf, LeafKind, Report } from './detector.ts';

/** A detector by one expression. */
export interface PatternDetector extends Omit<Detector, 'family'> {
  /** Bits of `SEEN` that every match needs. */
  readonly needs: number;
  /** Bits of `SEEN`, one of which every match needs. */
  readonly needsOne?: number;
  /** Strings, one of which every match holds, case aside. */
  readonly literals: readonly ByteString[];
  /** With the flags `g`, mostly also `i`; never `y`, `u` or `v`. */
  readonly pattern: RegExp;
  /** Whether a match counts, by what is around it. Cost: linear in the leaf at most. */
  readonly counts?: (text: ByteString, start: number, end: number) => boolean;
  /** Where the kinds differ from those of the family. */
  readonly kinds?: readonly LeafKind[];
}

/** A family of regular detectors. */
export interface PatternFamily extends Family {
  readonly patterns: readonly PatternDetector[];
}

/** Kinds of leaves that hold text. */
export const textKinds: readonly LeafKind[] = ['text', 'name', 'credentials'];

/** Makes a family of expressions. */
export function patternFamily(
  name: string,
  patterns: readonly PatternDetector[],
  kinds: readonly LeafKind[] = textKinds,
): PatternFamily {
  const all = [...new Set([...kinds, ...patterns.flatMap((row) => row.kinds ?? [])])];
  if (patterns.length > 32) throw new Error(`${name} has more than 32 detectors`);
  return {
    name,
    patterns,
    needs: [...new Set(patterns.map(({ needs }) => needs))],
    literals: patterns.map(({ literals }) => literals),
    searchNeeds: {
      all: Int32Array.from(patterns, (row) => row.needs),
      one: Int32Array.from(patterns, (row) => row.needsOne ?? -1),
    },
    kinds: all,
    detectors: patterns.map((row) => ({ ...row, family: name })),
    find: (leaf, searches, report) => {
      for (let rest = searches; rest !== 0; rest &= rest - 1) {
        const row = patterns[31 - Math.clz32(rest & -rest)]!;
        if (!(row.kinds ?? kinds).includes(leaf.kind)) continue;
        if (row.exceptLabels !== undefined && isBelow(leaf, row.exceptLabels)) report.leaveOut();
        else findAll(row, leaf, report);
      }
    },
  };
}

/** Whether a leaf, or one that it was found in, has such a label. */
function isBelow(leaf: Leaf, labels: RegExp): boolean {
  for (let one: Leaf | null = leaf; one !== null; one = one.parent) {
    if (labels.test(one.label)) return true;
  }
  return false;
}

function findAll(row: PatternDetector, leaf: Leaf, report: Report): void {
  const { pattern } = row;
  pattern.lastIndex = 0;
  let hits = 0;
  for (let looks = 0; hits <= detectLimits.hitsPerDetectorMax; looks++) {
    const found = pattern.exec(leaf.text);
    if (found === null) return;
    const end = found.index + found[0].length;
    // No number of harmless matches hides the next one.
    const isUnread = looks >= detectLimits.looksPerDetectorMax;
    if (isUnread || row.counts?.(leaf.text, found.index, end) !== false) {
      report.add(row.id, found.index, end);
      hits++;
    }
    if (found[0].length === 0) pattern.lastIndex++;
  }
}

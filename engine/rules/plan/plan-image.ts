/**
 * The plan image: a plan without rules, operators and databases as objects, as plain data that is
 * written once into memory that all threads share. Holds texts and numbers only.
 */

import { deserialize, serialize } from 'node:v8';
import type { ByteString } from '../../../base/byte-string.ts';
import type { ScanQuestion } from '../../match/scan.ts';
import type { PlanFacts, PlanTables } from './rule-plan.ts';

/** One phase. */
export interface PhaseImage {
  /** By item: the rule's index in its program, `foldedItem`, or `firstMarker` minus the marker. */
  readonly items: Int32Array;
  readonly markers: readonly string[];
  readonly always: Uint32Array;
}

/** A rule that never runs. */
export const foldedItem = -1;
/** Marker 0; the others count down from it. */
export const firstMarker = -2;

/** A scan group by its cache key. */
export interface GroupImage {
  readonly key: string;
  /** By expression id: the pattern's number in its group, -1 where nothing may use it. */
  readonly owners: Int32Array;
  /** By pattern number: the part of the group whose database of the widest tier holds it. */
  readonly parts: Int32Array;
}

/** A test of one scan class. */
export type TestImage = ScanQuestion & {
  readonly chain: number;
  readonly targetId: number;
  readonly negated: boolean;
  readonly skipMask: number;
};

/** One scan class. */
export interface ClassImage {
  readonly group: number;
  readonly rowPart: number;
  /** Lower case; null for any key. */
  readonly key: ByteString | null;
  /** Nodes of the transformation trie. */
  readonly chains: Int32Array;
  /** By pattern number of the group: triples [target id or -1, chain, negated 0|1]. */
  readonly patterns: Int32Array;
  readonly tests: readonly TestImage[];
}

/** What is scanned for. */
export interface ScanImage {
  /** Pairs [parent node, transformation id]. */
  readonly nodes: Int32Array;
  readonly groups: readonly GroupImage[];
  readonly classes: readonly ClassImage[];
}

/** A plan as plain data. */
export interface PlanImage extends PlanTables {
  /** Texts of the rules that may run, one after the other (`program/rule-text.ts`). */
  readonly chains: Uint8Array;
  /** By chain: where its text ends, and the index of its first link. */
  readonly chainEnds: Int32Array;
  readonly chainStarts: Int32Array;
  readonly phases: readonly PhaseImage[];
  readonly scan: ScanImage;
  readonly facts: Omit<PlanFacts, 'databases' | 'databaseBytes'>;
}

/** The image in memory that threads share. Cost: a millisecond for CRS; some 300 KB. */
export function writePlanImage(image: PlanImage): SharedArrayBuffer {
  const bytes = serialize(image);
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  return shared;
}

/** The image again. Ownership: its arrays of bytes are views of `shared`. */
export function readPlanImage(shared: SharedArrayBuffer): PlanImage {
  return deserialize(new Uint8Array(shared)) as PlanImage;
}

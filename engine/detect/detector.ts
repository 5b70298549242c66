/**
 * What detectors are: families that search the leaves of values, and facts about each detector of a
 * family. Ids are rule ids of the product, 198100 to 198999; overrides and exclusions name them.
 */

import { encodeUtf8, type ByteString } from '../../base/byte-string.ts';

/** What a leaf is beside text. */
export type LeafKind =
  | 'text'
  /** Name of a member of JSON, of a field of a form. */
  | 'name'
  /** User and password of HTTP's Basic scheme. */
  | 'credentials'
  /** A document whose texts are leaves of their own: only families of documents look at it. */
  | 'document'
  /** A URL or form in which everything special is encoded; its fields are leaves of their own. */
  | 'url'
  /** Bytes of a decoded value that are no text. */
  | 'binary'
  /** A reading that only browsers have. */
  | 'page';

/** A value, or what was found in one by opening it. */
export interface Leaf {
  readonly text: ByteString;
  /** Bits of `SEEN`. */
  readonly seen: number;
  /** Bytes of the longest stretch that may be base64. */
  readonly runBytes: number;
  /** By family a bit for each of its searches whose literals are in the text; then `OPENS`. */
  readonly found: readonly number[];
  readonly kind: LeafKind;
  /** The step from the parent: `base64`, `json.user.name`; of a value its path. */
  readonly label: string;
  readonly parent: Leaf | null;
  /** Steps from the value. */
  readonly depth: number;
}

/** What a detector found. */
export interface Hit {
  /** Id of the detector. */
  readonly id: number;
  /** Byte offsets in the leaf. */
  readonly start: number;
  readonly end: number;
}

/** Where families report hits. */
export interface Report {
  add(id: number, start: number, end: number): void;
  /** Notes that a search was left out for what the leaf is called. */
  leaveOut(): void;
}

/** Values that a detector finds, and similar ones that it must not find. */
export interface Examples {
  readonly attacks: readonly ByteString[];
  readonly benign: readonly ByteString[];
}

/** One thing that can be found. */
export interface Detector {
  readonly id: number;
  /** Unique, in kebab case. */
  readonly name: string;
  /** Name of its family. */
  readonly family: string;
  /** What a hit proves, as the predicate of a sentence about the value. */
  readonly proves: string;
  /** Standard or manual that the grammar is from. */
  readonly source: string;
  /** One hit is enough to call the value an attack. */
  readonly strong: boolean;
  /** Thousands of ids of CRS rules that look for the same: 942 for SQL. */
  readonly confirmedBy: readonly number[];
  /** Variables whose values it looks at, where those are not all. */
  readonly variables?: string;
  /** Labels of leaves that it passes over, with all that is found in them. */
  readonly exceptLabels?: RegExp;
  /** It finds addresses: that of the request's own host is none. */
  readonly address?: boolean;
  readonly examples: Examples;
}

/** By search bits of `SEEN` without which it finds nothing. */
export interface SearchNeeds {
  /** All of these. */
  readonly all: Int32Array;
  /** One of these; -1 for any byte, also one without a bit. */
  readonly one: Int32Array;
}

/** Detectors that share one search. */
export interface Family {
  readonly name: string;
  /** Sets of bits of `SEEN`: a leaf that has none of these sets whole is not searched. */
  readonly needs: readonly number[];
  /**
   * Strings for each search of the family, at most 32: one that finds something has one of its
   * strings in the text, case aside. Without any, every leaf is searched.
   */
  readonly literals: readonly (readonly ByteString[])[];
  /** Bits of `SEEN`, one of which has all searches run whatever the literals are. */
  readonly marks?: number;
  /** What each search needs beside its literals; left out: nothing. */
  readonly searchNeeds?: SearchNeeds;
  /** Kinds of leaves that are searched. */
  readonly kinds: readonly LeafKind[];
  readonly detectors: readonly Detector[];
  /** Reports hits of the searches whose bits are set. Cost: linear in the leaf. */
  find(leaf: Leaf, searches: number, report: Report): void;
}

/** The ids of detectors. */
export const detectorIds = { first: 198_100, last: 198_999 } as const;

const arrow = encodeUtf8(' → ');

/** The path of a leaf as people read it: `args.data → base64 → json.user.name`. */
export function pathOf(leaf: Leaf): ByteString {
  return leaf.parent === null ? leaf.label : `${pathOf(leaf.parent)}${arrow}${leaf.label}`;
}

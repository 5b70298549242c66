/**
 * The search for patterns that are mostly fillers: commands spelt with what a shell ignores
 * between any two letters (`c"a"t`, `c^a^t`, `c$x'a't`). As they stand they are too large to search
 * for; without their fillers they are plain words. Decides no match.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { byteSet, complementOf } from './byte-set.ts';
import type { ByteSet } from './byte-set.ts';
import { printForScan, restrictTo } from './regex-analysis.ts';
import { readRegexTree } from './regex-tree.ts';
import type { RegexNode } from './regex-tree.ts';

/**
 * Three things to look for. A value matches the pattern only if it matches `plain`, or has fillers
 * and matches `skeleton` without them, or holds one of `expansions`.
 */
export interface WithoutFillers {
  /** Finds what the pattern finds in values without fillers and expansions, or some more. */
  readonly plain: ByteString;
  /** What is left of it when fillers go: finds more, boundaries of words are not looked at. */
  readonly skeleton: ByteString;
  /** Single bytes; mostly none. */
  readonly expansions: readonly ByteString[];
}

/** Shells drop these between letters; the addon's `fillersRemoved` removes the same bytes. */
export const fillerBytes = '"\'\\^)[';
/** Begins a shell variable, which may come to nothing. */
const expansion = '$';

/** A pattern with fewer sets of any number of bytes is searched for as it is. */
const repeatedSetsMin = 24;
/** Without fillers the pattern must be at most this share of its length. */
const shareMax = 0.7;
/** Variables are left out too where that makes the rest so much shorter. */
const expansionShareMax = 0.8;
/** Hyperscan refuses longer ones as too large if they ask for boundaries of words. */
const boundariesMax = 4000;
/** Patterns whose answer is kept; policies share most of theirs. */
const knownMax = 256;

const nothing: RegexNode = { kind: 'sequence', parts: [] };
const fillers = setOf(fillerBytes);
const withoutThem = complementOf(fillers);

const known = new Map<ByteString, WithoutFillers | null>();

/** Null unless most of the pattern is fillers. Cost: some ms the first time for those that are. */
export function withoutFillers(pattern: ByteString, caseless: boolean): WithoutFillers | null {
  if (pattern.split(']*', repeatedSetsMin + 1).length <= repeatedSetsMin) return null;
  const key = `${Number(caseless)}${pattern}`;
  let found = known.get(key);
  if (found === undefined) {
    if (known.size >= knownMax) known.clear();
    known.set(key, (found = search(pattern, caseless)));
  }
  return found;
}

function search(pattern: ByteString, caseless: boolean): WithoutFillers | null {
  const tree = readRegexTree(pattern, { caseless, dotall: true });
  if (!tree?.exact || /\(\?[a-zA-Z]*m/.test(pattern)) return null;
  const kept = cutTo(tree.root, []);
  const unexpanded = cutTo(tree.root, [expansion]);
  const chosen = sizeOf(unexpanded) < expansionShareMax * sizeOf(kept) ? unexpanded : kept;
  const whole = printForScan(tree.root)?.length ?? 0;
  return chosen && sizeOf(chosen) <= shareMax * whole ? chosen : null;
}

function sizeOf(parts: WithoutFillers | null): number {
  return parts ? parts.plain.length : Infinity;
}

function cutTo(root: RegexNode, expansions: readonly ByteString[]): WithoutFillers | null {
  const unexpanded = restrictTo(root, complementOf(setOf(expansions.join(''))));
  const bare = unexpanded && restrictTo(unexpanded, withoutThem);
  const plain = bare && printForScan(bare);
  if (!plain) return null;
  const removed = removeFillers(unexpanded);
  const skeleton = matchesEmpty(removed) ? null : printForScan(removed);
  if (!skeleton) return null;
  const unbound = plain.length > boundariesMax ? printForScan(removeFillers(bare)) : plain;
  return { plain: unbound ?? plain, skeleton, expansions };
}

function setOf(bytes: ByteString): ByteSet {
  return byteSet(...[...bytes].map((c) => [c.charCodeAt(0), c.charCodeAt(0)] as const));
}

/** Finds what the node finds, in strings from which all fillers were removed. */
function removeFillers(node: RegexNode): RegexNode {
  switch (node.kind) {
    case 'set': {
      const body = restrictTo(node, withoutThem);
      if (body === null) return nothing;
      if (restrictTo(node, fillers) === null) return body;
      return { kind: 'repeat', body, min: 0, max: 1, lazy: false };
    }
    case 'assertion':
      return node.name === 'b' || node.name === 'B' ? nothing : node;
    case 'opaque':
      return node;
    case 'capture':
      return removeFillers(node.body);
    case 'sequence': {
      const parts = node.parts.map(removeFillers).filter((part) => part !== nothing);
      return parts.length === 0 ? nothing : { kind: 'sequence', parts };
    }
    case 'choice':
      return { kind: 'choice', options: node.options.map(removeFillers) };
    case 'repeat': {
      const body = removeFillers(node.body);
      if (body === nothing) return nothing;
      // (x?)* is x*.
      const inner = body.kind === 'repeat' && body.min === 0 && body.max === 1 ? body.body : null;
      return inner ? { ...node, body: inner, min: 0 } : { ...node, body };
    }
  }
}

function matchesEmpty(node: RegexNode): boolean {
  switch (node.kind) {
    case 'set':
      return false;
    case 'assertion':
    case 'opaque':
      return true;
    case 'capture':
      return matchesEmpty(node.body);
    case 'sequence':
      return node.parts.every(matchesEmpty);
    case 'choice':
      return node.options.some(matchesEmpty);
    case 'repeat':
      return node.min === 0 || matchesEmpty(node.body);
  }
}

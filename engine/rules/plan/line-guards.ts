/**
 * Parts patterns that are searched for in joined values by the literals that they need, so that
 * lines without any are not searched. Compiles nothing.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { printForScan } from '../../match/regex-analysis.ts';
import { partByLiterals } from '../../match/regex-literals.ts';
import type { RegexNode } from '../../match/regex-tree.ts';

/** A pattern in the spelling for lines. */
export interface LinePattern {
  readonly text: ByteString;
  /** Absent for words. */
  readonly tree?: RegexNode;
}

/** The same with the id that its matches tell. */
export interface LineExpression {
  readonly id: number;
  readonly pattern: LinePattern;
}

/** Literals of one guard; with more of them, lines without any become rare. */
const guardLiteralsMax = 64;

/** Patterns for lines in two parts. */
export interface JoinedParts {
  readonly literals: readonly ByteString[];
  /** What matches only in lines with one of the literals. */
  readonly guarded: LineExpression[];
  readonly rest: LineExpression[];
}

/**
 * Parts the patterns that cost most, of commands, by the literals that they need: Hyperscan finds
 * none of their own in them and follows them byte by byte.
 */
export function partJoined(
  joined: LineExpression[],
  isApart: (id: number) => boolean,
): JoinedParts {
  const literals = new Set<string>();
  const guarded: LineExpression[] = [];
  const rest: LineExpression[] = [];
  const add = (list: LineExpression[], id: number, tree: RegexNode | null): boolean => {
    const text = tree && printForScan(tree);
    if (tree !== null && text !== null) list.push({ id, pattern: { text, tree } });
    return tree === null || text !== null;
  };
  for (const one of joined) {
    const { tree } = one.pattern;
    const parts = tree && isApart(one.id) ? partByLiterals(tree) : null;
    if (parts === null || parts.guarded === null) rest.push(one);
    else {
      for (const literal of parts.literals) literals.add(literal);
      const printed = add(guarded, one.id, parts.guarded) && add(rest, one.id, parts.rest);
      if (!printed) return { literals: [], guarded: [], rest: joined };
    }
  }
  if (literals.size > guardLiteralsMax) return { literals: [], guarded: [], rest: joined };
  return { literals: [...literals], guarded, rest };
}

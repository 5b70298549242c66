/**
 * Finds in one pass over a text which lists of strings have a member in it, case aside: a detector
 * whose strings are absent need not search. Source: Aho and Corasick, Efficient String Matching,
 * CACM 18 (1975), as an automaton without failure steps.
 */

import type { ByteString } from '../../base/byte-string.ts';

/** Strings that `\s` of JavaScript matches in a byte string. */
const blanks = ['\t', '\n', '\v', '\f', '\r', ' ', '\xa0'] as const;

/** The strings of a list that blanks part. */
export function words(list: string): readonly ByteString[] {
  return list.trim().split(/\s+/);
}

/** A string and each blank after it. */
export function beforeBlank(text: ByteString): readonly ByteString[] {
  return blanks.map((blank) => text + blank);
}

/** Each blank, and a string after it. */
export function afterBlank(text: ByteString): readonly ByteString[] {
  return blanks.map((blank) => blank + text);
}

/** Two strings with up to two blanks between. */
export function apart(first: ByteString, last: ByteString): readonly ByteString[] {
  const one = blanks.map((blank) => first + blank + last);
  const two = blanks.flatMap((a) => blanks.map((b) => first + a + b + last));
  return [first + last, ...one, ...two];
}

/** Strings that set a bit of a word. */
export interface LiteralList {
  readonly word: number;
  readonly bit: number;
  readonly literals: readonly ByteString[];
}

/** Steps over folded bytes. */
export interface LiteralAutomaton {
  /** By byte. Letters and the blank come first, so that a row's part for them is one cache line. */
  readonly column: Uint8Array;
  /** States by `(state << shift) | column`. */
  readonly next: Uint16Array;
  readonly shift: number;
  /** States from this one on end a string. */
  readonly firstFinal: number;
  /** Words and bits of a final state, by `state - firstFinal`. */
  readonly ends: readonly (readonly number[])[];
}

interface Node {
  readonly children: Map<number, Node>;
  /** `word * 32 + bit` of what ends here. */
  readonly ends: Set<number>;
  fail: Node | null;
  state: number;
}

const statesMax = 65_536;
const commonBytes = ' abcdefghijklmnopqrstuvwxyz';

/** Builds it. Errors: a string that is empty, more than 65,536 states. */
export function literalAutomaton(lists: readonly LiteralList[]): LiteralAutomaton {
  const root = newNode();
  const column = new Uint8Array(256);
  let width = 1;
  for (const char of commonBytes) column[char.charCodeAt(0)] = width++;
  for (const { word, bit, literals } of lists) {
    for (const literal of literals) {
      if (literal === '') throw new Error('a literal is empty');
      let node = root;
      for (const char of literal) {
        const byte = foldByte(char.charCodeAt(0));
        if (column[byte] === 0) column[byte] = width++;
        const child = node.children.get(column[byte]!) ?? newNode();
        node.children.set(column[byte]!, child);
        node = child;
      }
      node.ends.add(word * 32 + bit);
    }
  }
  for (let byte = 0; byte < 256; byte++) column[byte] = column[foldByte(byte)]!;
  const nodes = withFailures(root);
  if (nodes.length > statesMax) throw new Error(`literals have ${nodes.length} states`);
  const shift = Math.ceil(Math.log2(width));
  return { column, shift, ...numbered(nodes, shift) };
}

/** Letters of ASCII and Latin-1 in lower case: what the flag `i` takes for equal. */
function foldByte(byte: number): number {
  const isUpper = (byte >= 0x41 && byte <= 0x5a) || (byte >= 0xc0 && byte <= 0xde);
  return isUpper && byte !== 0xd7 ? byte | 0x20 : byte;
}

function newNode(): Node {
  return { children: new Map(), ends: new Set(), fail: null, state: 0 };
}

/** Nodes by depth, each with its longest proper suffix; ends of suffixes are ends of the node. */
function withFailures(root: Node): readonly Node[] {
  const nodes = [root];
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at]!;
    for (const [column, child] of node.children) {
      let fail = node.fail;
      while (fail !== null && !fail.children.has(column)) fail = fail.fail;
      child.fail = fail?.children.get(column) ?? root;
      for (const end of child.fail.ends) child.ends.add(end);
      nodes.push(child);
    }
  }
  return nodes;
}

function numbered(
  nodes: readonly Node[],
  shift: number,
): Pick<LiteralAutomaton, 'next' | 'firstFinal' | 'ends'> {
  const plain = nodes.filter(({ ends }) => ends.size === 0);
  const final = nodes.filter(({ ends }) => ends.size > 0);
  for (const [at, node] of [...plain, ...final].entries()) node.state = at;
  const next = new Uint16Array(nodes.length << shift);
  // By depth, so that the row of a suffix is whole before it is copied.
  for (const { state, fail, children } of nodes) {
    const row = state << shift;
    if (fail !== null) next.copyWithin(row, fail.state << shift, (fail.state + 1) << shift);
    for (const [column, child] of children) next[row | column] = child.state;
  }
  return {
    next,
    firstFinal: plain.length,
    ends: final.map(({ ends }) => [...ends]),
  };
}

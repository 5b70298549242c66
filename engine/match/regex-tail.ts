/**
 * Cuts off what a pattern need not have at its end: Hyperscan reports every end of a match;
 * `a[b-z]*` ends at each letter of a word. Only for scans that ask whether there is a match.
 */

import type { ByteSet } from './byte-set.ts';
import type { RegexNode } from './regex-tree.ts';

/**
 * The pattern without what may be left out at its end. It matches some strings of the original
 * alone, and a beginning of each: it is found in the same values. A pattern that matches the empty
 * string stays as it is.
 */
export function withoutTail(node: RegexNode): RegexNode {
  return cut(node) ?? node;
}

/** Null when nothing is left. */
function cut(node: RegexNode): RegexNode | null {
  switch (node.kind) {
    case 'set':
    case 'assertion':
    case 'opaque':
      return node;
    case 'capture':
      return cut(node.body);
    case 'choice': {
      const options = node.options.map(cut);
      return options.every((option) => option !== null) ? { kind: 'choice', options } : null;
    }
    case 'sequence':
      return cutSequence(node.parts);
    case 'repeat':
      return cutRepeat(node);
  }
}

function cutSequence(parts: readonly RegexNode[]): RegexNode | null {
  for (let last = parts.length - 1; last >= 0; last--) {
    const end = cut(parts[last]!);
    if (end === null) continue;
    return last === 0 ? end : { kind: 'sequence', parts: [...parts.slice(0, last), end] };
  }
  return null;
}

/** All turns that there have to be, the last one without its own tail. */
function cutRepeat(node: Extract<RegexNode, { kind: 'repeat' }>): RegexNode | null {
  const { body, min } = node;
  const end = min === 0 ? null : cut(body);
  if (end === null || min === 1) return end;
  if (end === body) return { ...node, max: min };
  const before: RegexNode = min === 2 ? body : { ...node, min: min - 1, max: min - 1 };
  return { kind: 'sequence', parts: [before, end] };
}

/** Bytes of a set that make it no literal. */
const wideSetMin = 8;

/**
 * True for a pattern that may end at one byte after the other of some value: nothing in it, on one
 * way through, is a literal.
 */
export function isDense(node: RegexNode): boolean {
  switch (node.kind) {
    case 'set':
      return node.set.reduce((count, member) => count + member, 0) >= wideSetMin;
    case 'assertion':
    case 'opaque':
      return false;
    case 'capture':
      return isDense(node.body);
    case 'choice':
      return node.options.some(isDense);
    case 'sequence':
      return node.parts.every(isDense);
    case 'repeat':
      return node.min === 0 || isDense(node.body);
  }
}

/** The pattern with all that follows up to the end of a value of `allowed` bytes: it ends once. */
export function toEnd(node: RegexNode, allowed: ByteSet): RegexNode {
  const rest: RegexNode = { kind: 'set', set: allowed };
  const any: RegexNode = { kind: 'repeat', body: rest, min: 0, max: Infinity, lazy: false };
  return { kind: 'sequence', parts: [node, any, { kind: 'assertion', name: '$' }] };
}

/** True for a pattern that matches each of the `allowed` bytes: every value that is not empty. */
export function matchesAnyOf(node: RegexNode, allowed: ByteSet): boolean {
  return node.kind === 'set' && node.set.every((member, byte) => member >= (allowed[byte] ?? 0));
}

/** The same at the start of a value, where it is found once. */
export function atStart(node: RegexNode): RegexNode {
  return { kind: 'sequence', parts: [{ kind: 'assertion', name: '^' }, node] };
}

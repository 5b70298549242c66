/**
 * Cuts off what a pattern need not have at its end: Hyperscan tells every end of a match, and
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

/** True for a pattern that matches each of the `allowed` bytes: every value that is not empty. */
export function matchesAnyOf(node: RegexNode, allowed: ByteSet): boolean {
  return node.kind === 'set' && node.set.every((member, byte) => member >= (allowed[byte] ?? 0));
}

/** The same at the start of a value, where it is found once. */
export function atStart(node: RegexNode): RegexNode {
  return { kind: 'sequence', parts: [{ kind: 'assertion', name: '^' }, node] };
}

/**
 * Prints a pattern's tree for RE2, so that it matches the same bytes as in PCRE. Refuses
 * what the tree does not hold exactly: the caller then uses PCRE2. Never compiles anything.
 */
import type { ByteString } from '../../base/byte-string.ts';
import { rangesOf } from './byte-set.ts';
import type { ByteSet } from './byte-set.ts';
import { readRegexTree } from './regex-tree.ts';
import type { RegexFlags, RegexNode } from './regex-tree.ts';

/** RE2 takes at most this many repetitions. */
const re2RepeatMax = 1000;

/**
 * The RE2 source for `pattern`, to be compiled without flags; null when PCRE2 is needed. `$` means
 * the very end of the value, `^` its start (no multiline).
 */
export function translateToRe2(pattern: ByteString, flags: RegexFlags): string | null {
  const tree = readRegexTree(pattern, flags);
  return tree === null || !tree.exact ? null : print(tree.root);
}

/** Null as soon as a part cannot be printed. */
function print(node: RegexNode): string | null {
  switch (node.kind) {
    case 'set':
      return printSet(node.set);
    case 'sequence':
      return joined(node.parts, '');
    case 'choice': {
      const options = joined(node.options, '|');
      return options === null ? null : `(?:${options})`;
    }
    case 'capture': {
      const body = node.body.kind === 'choice' ? joined(node.body.options, '|') : print(node.body);
      return body === null ? null : `(${body})`;
    }
    case 'repeat':
      return printRepeat(node.body, node.min, node.max, node.lazy);
    case 'assertion':
      return printAssertion(node.name);
    case 'opaque':
      return null;
  }
}

/**
 * `\\A` and `\\z` are written as `^` and `$`, which mean the same here, so that a search in joined
 * values finds them at newlines, too.
 */
function printAssertion(name: AssertionName): string {
  return printedAssertions[name];
}

const printedAssertions = { '^': '^', A: '^', $: '$', z: '$', b: '\\b', B: '\\B' } as const;
type AssertionName = keyof typeof printedAssertions;

function joined(nodes: readonly RegexNode[], separator: string): string | null {
  let text = '';
  for (const [i, node] of nodes.entries()) {
    const part = print(node);
    if (part === null) return null;
    text += i === 0 ? part : separator + part;
  }
  return text;
}

function printRepeat(body: RegexNode, min: number, max: number, lazy: boolean): string | null {
  if (min > re2RepeatMax || (max !== Infinity && max > re2RepeatMax)) return null;
  // After an empty round PCRE reports that round's captures, RE2 those of the round before.
  if (max > 1 && isNullable(body)) return null;
  const inner = print(body);
  if (inner === null) return null;
  const atom = body.kind === 'set' || body.kind === 'capture' ? inner : `(?:${inner})`;
  const sign =
    max === Infinity
      ? (['*', '+'][min] ?? `{${min},}`)
      : min === 0 && max === 1
        ? '?'
        : min === max
          ? `{${min}}`
          : `{${min},${max}}`;
  return atom + sign + (lazy ? '?' : '');
}

function isNullable(node: RegexNode): boolean {
  switch (node.kind) {
    case 'set':
      return false;
    case 'sequence':
      return node.parts.every(isNullable);
    case 'choice':
      return node.options.some(isNullable);
    case 'capture':
      return isNullable(node.body);
    case 'repeat':
      return node.min === 0 || isNullable(node.body);
    case 'assertion':
    case 'opaque':
      return true;
  }
}

const wordByte = /^\w$/;

function re2Byte(code: number): string {
  const c = String.fromCharCode(code);
  return wordByte.test(c) ? c : `\\x{${code.toString(16)}}`;
}

/** RE2 reads Latin-1: a byte is a character. */
function printSet(set: ByteSet): string {
  const ranges = rangesOf(set);
  const [only] = ranges;
  if (only === undefined) return '[^\\x{0}-\\x{ff}]';
  if (ranges.length === 1 && only[0] === only[1]) return re2Byte(only[0]);
  if (only[0] === 0 && only[1] === 255) return '(?s:.)';
  const text = ranges.map(([low, high]) =>
    low === high ? re2Byte(low) : `${re2Byte(low)}-${re2Byte(high)}`,
  );
  return `[${text.join('')}]`;
}

/**
 * What is worked out from a pattern's tree ahead of matching: the pattern cut down to few
 * bytes, its spelling for Hyperscan, the finite set of strings it stands for. Decides no match.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { rangesOf } from './byte-set.ts';
import type { ByteSet } from './byte-set.ts';
import type { RegexNode } from './regex-tree.ts';

const nothing: RegexNode = { kind: 'sequence', parts: [] };

/**
 * The pattern as it acts on strings made only of `allowed` bytes: sets cut down, what cannot match
 * there left out. Null when nothing can match. The result finds the same strings as the original;
 * it has no captures.
 */
export function restrictTo(node: RegexNode, allowed: ByteSet): RegexNode | null {
  switch (node.kind) {
    case 'set':
      return restrictedSets(allowed, node.set);
    case 'assertion':
    case 'opaque':
      return node;
    case 'capture':
      return restrictTo(node.body, allowed);
    case 'sequence': {
      const parts: RegexNode[] = [];
      for (const part of node.parts) {
        const cut = restrictTo(part, allowed);
        if (cut === null) return null;
        if (!isNothing(cut)) parts.push(cut);
      }
      return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
    }
    case 'choice': {
      const options = node.options.flatMap((option) => restrictTo(option, allowed) ?? []);
      if (options.length === 0) return null;
      return options.length === 1 ? options[0]! : { kind: 'choice', options };
    }
    case 'repeat': {
      const body = restrictTo(node.body, allowed);
      if (body === null) return node.min === 0 ? nothing : null;
      return isNothing(body) ? nothing : { ...node, body };
    }
  }
}

const restrictedSets = rememberingSets((allowed: ByteSet) => (set) => {
  const cut = set.map((member, byte) => member & (allowed[byte] ?? 0));
  return cut.includes(1) ? ({ kind: 'set', set: cut } as const) : null;
});

/** A function of two objects that works out every answer once; patterns repeat few sets often. */
function rememberingSets<Key extends object, Answer>(
  make: (key: Key) => (set: ByteSet) => Answer,
): (key: Key, set: ByteSet) => Answer {
  const byKey = new WeakMap<Key, (set: ByteSet) => Answer>();
  return (key, set) => {
    let answer = byKey.get(key);
    if (!answer) byKey.set(key, (answer = remembering(make(key))));
    return answer(set);
  };
}

function remembering<Answer>(make: (set: ByteSet) => Answer): (set: ByteSet) => Answer {
  const known = new WeakMap<ByteSet, { readonly answer: Answer }>();
  return (set) => {
    let found = known.get(set);
    if (!found) known.set(set, (found = { answer: make(set) }));
    return found.answer;
  };
}

/**
 * Writes a pattern for Hyperscan in MULTILINE mode that finds the same strings, each being a line:
 * no captures, `(?i)` in front where case plays no part (Hyperscan takes 16,000 characters at
 * most). Null when a part has no such spelling.
 */
export function printForScan(node: RegexNode): ByteString | null {
  const caseless = ignoresCase(node);
  const text = print(node, caseless);
  return text !== null && caseless ? `(?i)${text}` : text;
}

/** True when every set holds both cases of its letters, and there are letters at all. */
function ignoresCase(node: RegexNode): boolean {
  const seen = { letters: false, cased: false };
  const visited = new Set<ByteSet>();
  visitSets(node, (set) => {
    if (visited.has(set)) return;
    visited.add(set);
    for (let upper = 0x41; upper <= 0x5a; upper++) {
      if (set[upper] !== set[upper + 32]) seen.cased = true;
      if (set[upper] === 1) seen.letters = true;
    }
  });
  return seen.letters && !seen.cased;
}

function visitSets(node: RegexNode, visit: (set: ByteSet) => void): void {
  switch (node.kind) {
    case 'set':
      return visit(node.set);
    case 'capture':
    case 'repeat':
      return visitSets(node.body, visit);
    case 'sequence':
      return node.parts.forEach((part) => visitSets(part, visit));
    case 'choice':
      return node.options.forEach((option) => visitSets(option, visit));
    default:
  }
}

function print(node: RegexNode, caseless: boolean): ByteString | null {
  switch (node.kind) {
    case 'set':
      return caseless ? printCaseless(node.set) : printCased(node.set);
    case 'assertion':
      return printAssertion(node.name);
    case 'opaque':
      return null;
    case 'capture':
      return printOperand(node.body, caseless);
    case 'sequence':
      return join(
        node.parts.map((part) => printOperand(part, caseless)),
        '',
      );
    case 'choice':
      return join(
        node.options.map((option) => print(option, caseless)),
        '|',
      );
    case 'repeat': {
      const body = print(node.body, caseless);
      if (body === null) return null;
      const operand = node.body.kind === 'set' ? body : `(?:${body})`;
      return operand + printBounds(node.min, node.max);
    }
  }
}

/**
 * Two patterns that together find what `node` finds: its largest choice, at the top or in the top
 * sequence, cut into halves. Null when there is no choice to cut.
 */
export function splitChoice(node: RegexNode): readonly [RegexNode, RegexNode] | null {
  if (node.kind === 'capture') return splitChoice(node.body);
  if (node.kind === 'choice') {
    const half = node.options.length >> 1;
    if (half === 0) return null;
    const part = (options: readonly RegexNode[]): RegexNode => ({ kind: 'choice', options });
    return [part(node.options.slice(0, half)), part(node.options.slice(half))];
  }
  if (node.kind !== 'sequence') return null;
  const sizes = node.parts.map((part) =>
    splitChoice(part) ? (print(part, true)?.length ?? 0) : -1,
  );
  const largest = sizes.indexOf(Math.max(...sizes));
  const halves = largest < 0 || sizes[largest]! < 0 ? null : splitChoice(node.parts[largest]!);
  if (halves === null) return null;
  const [first, second] = halves.map((half): RegexNode => {
    return { kind: 'sequence', parts: node.parts.with(largest, half) };
  });
  return [first!, second!];
}

/** The strings that a pattern anchored at both ends stands for, when they are at most `limit`. */
export function finiteLanguage(node: RegexNode, limit: number): readonly ByteString[] | null {
  if (node.kind !== 'sequence') return null;
  const [first, ...rest] = node.parts;
  const last = rest.pop();
  if (first?.kind !== 'assertion' || (first.name !== '^' && first.name !== 'A')) return null;
  if (last?.kind !== 'assertion' || (last.name !== '$' && last.name !== 'z')) return null;
  return stringsOf({ kind: 'sequence', parts: rest }, limit);
}

/** Copies of a repeated part that are tried before a language counts as too large. */
const copiesMax = 8;

function stringsOf(node: RegexNode, limit: number): string[] | null {
  switch (node.kind) {
    case 'set': {
      const list: string[] = [];
      node.set.forEach((member, byte) => member && list.push(String.fromCharCode(byte)));
      return list.length <= limit ? list : null;
    }
    case 'assertion':
    case 'opaque':
      return null;
    case 'capture':
      return stringsOf(node.body, limit);
    case 'sequence':
      return product(node.parts, limit);
    case 'choice':
      return union(
        node.options.map((option) => stringsOf(option, limit)),
        limit,
      );
    case 'repeat': {
      if (node.max > copiesMax) return null;
      const counts = Array.from({ length: node.max - node.min + 1 }, (_, n) => n + node.min);
      const copies = (n: number): RegexNode[] => Array.from({ length: n }, () => node.body);
      return union(
        counts.map((n) => product(copies(n), limit)),
        limit,
      );
    }
  }
}

function product(parts: readonly RegexNode[], limit: number): string[] | null {
  let all = [''];
  for (const part of parts) {
    const next = stringsOf(part, limit);
    if (next === null || all.length * next.length > limit) return null;
    all = all.flatMap((head) => next.map((tail) => head + tail));
  }
  return all;
}

function union(lists: readonly (string[] | null)[], limit: number): string[] | null {
  const all: string[] = [];
  for (const list of lists) {
    if (list === null || all.length + list.length > limit) return null;
    all.push(...list);
  }
  return all;
}

function isNothing(node: RegexNode): boolean {
  return node.kind === 'sequence' && node.parts.length === 0;
}

/** Start and end of the value are those of the line. */
function printAssertion(name: string): string {
  if (name === '^' || name === 'A') return '^';
  return name === '$' || name === 'z' ? '$' : `\\${name}`;
}

function printOperand(node: RegexNode, caseless: boolean): ByteString | null {
  const inner = node.kind === 'capture' ? node.body : node;
  if (inner !== node) return printOperand(inner, caseless);
  const text = print(node, caseless);
  return text !== null && node.kind === 'choice' ? `(?:${text})` : text;
}

/** A set that ignores case without its capital letters. */
function lowerOnly(set: ByteSet): ByteSet {
  const lower = Uint8Array.from(set);
  const whole = set.every((member) => member === 1);
  if (!whole) lower.fill(0, 0x41, 0x5b);
  return lower;
}

function join(parts: readonly (ByteString | null)[], separator: string): ByteString | null {
  return parts.includes(null) ? null : parts.join(separator);
}

function printBounds(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === max) return `{${min}}`;
  return min === 0 && max === 1 ? '?' : `{${min},${max}}`;
}

const printCased = remembering(printSet);
const printCaseless = remembering((set) => printSet(lowerOnly(set)));

function printSet(set: ByteSet): string {
  const ranges = rangesOf(set);
  const [only] = ranges;
  if (only && ranges.length === 1) {
    if (only[0] === 0 && only[1] === 255) return '(?s:.)';
    if (only[0] === only[1]) return printByte(only[0]);
  }
  const body = ranges.map(([from, to]) => {
    return from === to ? printByte(from) : `${printByte(from)}-${printByte(to)}`;
  });
  return `[${body.join('')}]`;
}

function printByte(byte: number): string {
  const c = String.fromCharCode(byte);
  return /[A-Za-z0-9_]/.test(c) ? c : `\\x${byte.toString(16).padStart(2, '0')}`;
}

/** The pattern with every `$` that means "very end" spelt `\z`, as Hyperscan reads it. */
export function spellEndAnchors(pattern: ByteString): ByteString {
  let out = '';
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]!;
    if (c === '\\') {
      out += c + (pattern[i + 1] ?? '');
      i++;
    } else if (inClass) {
      const close = c === '[' && pattern[i + 1] === ':' ? pattern.indexOf(':]', i) : -1;
      if (close > 0) {
        out += pattern.slice(i, close + 2);
        i = close + 1;
        continue;
      }
      if (c === ']') inClass = false;
      out += c;
    } else if (c === '[') {
      inClass = true;
      out += c;
      if (pattern[i + 1] === '^') out += pattern[++i]!;
      if (pattern[i + 1] === ']') out += pattern[++i]!;
    } else out += c === '$' ? '\\z' : c;
  }
  return out;
}

/**
 * Finds strings that a pattern cannot match without: each match holds at least one of them. What
 * they are searched for in must be searched without regard to case. Never decides about a match.
 */
import type { ByteString } from '../../base/byte-string.ts';
import type { ByteSet } from './byte-set.ts';
import type { RegexNode } from './regex-tree.ts';

/** Strings of one list; more would cost a search as much as the pattern. */
const stringsMax = 32;
/** A longer string says no more. */
const lengthMax = 12;
/** Strings below this weight occur in nearly every text. */
const weightMin = 3;

/** A pattern in two parts, together what it was; null where there is nothing of a kind. */
export interface LiteralParts {
  /** What matches only where one of `literals` occurs, in any case. */
  readonly guarded: RegexNode | null;
  readonly literals: readonly ByteString[];
  readonly rest: RegexNode | null;
}

/** Parts a pattern by whether it needs a literal; one choice in its sequence is parted at most. */
export function partByLiterals(node: RegexNode): LiteralParts {
  const literals = requiredLiterals(node);
  if (literals !== null) return { guarded: node, literals, rest: null };
  const whole: LiteralParts = { guarded: null, literals: [], rest: node };
  if (node.kind === 'capture') return partByLiterals(node.body);
  if (node.kind === 'choice') return partChoice(node.options);
  if (node.kind !== 'sequence') return whole;
  for (const [i, part] of node.parts.entries()) {
    const inner = part.kind === 'capture' ? part.body : part;
    if (inner.kind !== 'choice') continue;
    const parted = partChoice(inner.options);
    if (parted.guarded === null) continue;
    const put = (half: RegexNode): RegexNode => {
      return { kind: 'sequence', parts: node.parts.with(i, half) };
    };
    return { ...parted, guarded: put(parted.guarded), rest: parted.rest && put(parted.rest) };
  }
  return whole;
}

function partChoice(options: readonly RegexNode[]): LiteralParts {
  const known = options.map((option) => requiredLiterals(option));
  const pick = (wanted: boolean): RegexNode | null => {
    const chosen = options.filter((_, i) => (known[i] !== null) === wanted);
    return chosen.length === 0 ? null : { kind: 'choice', options: chosen };
  };
  const literals = [...new Set(known.flatMap((list) => list ?? []))];
  if (literals.length > stringsMax) {
    return { guarded: null, literals: [], rest: { kind: 'choice', options } };
  }
  return { guarded: pick(true), literals, rest: pick(false) };
}

/** Strings in lower case, one of which occurs in each match, case aside; null: none are known. */
export function requiredLiterals(node: RegexNode): readonly ByteString[] | null {
  const found = required(node);
  return found !== null && weightOf(found) >= weightMin ? found : null;
}

function required(node: RegexNode): readonly string[] | null {
  switch (node.kind) {
    case 'set':
      return spellings(node);
    case 'assertion':
    case 'opaque':
      return null;
    case 'capture':
      return required(node.body);
    case 'repeat':
      return node.min > 0 ? required(node.body) : null;
    case 'choice':
      return union(node.options.map((option) => requiredLiterals(option)));
    case 'sequence':
      return requiredOfSequence(node.parts);
  }
}

/** The best of: strings that stand side by side, and what single parts need. */
function requiredOfSequence(parts: readonly RegexNode[]): readonly string[] | null {
  let best: readonly string[] | null = null;
  const consider = (list: readonly string[] | null): void => {
    if (list === null || list.length === 0) return;
    if (best === null || weightOf(list) > weightOf(best)) best = list;
  };
  let run: readonly string[] = [''];
  for (const part of parts) {
    const next = spellings(part);
    const longer = next && product(run, next);
    if (longer) {
      run = longer;
      continue;
    }
    consider(product(run, leading(part)) ?? run);
    if (next === null) consider(required(part));
    run = next ?? [''];
  }
  consider(run);
  return best;
}

/** All strings that a node stands for, in lower case; null where they are too many or too long. */
function spellings(node: RegexNode): readonly string[] | null {
  switch (node.kind) {
    case 'set':
      return bytesOf(node.set);
    case 'assertion':
      return [''];
    case 'opaque':
      return node.zeroWidth ? [''] : null;
    case 'capture':
      return spellings(node.body);
    case 'choice':
      return union(node.options.map(spellings));
    case 'repeat':
      return spellingsOfRepeat(node);
    case 'sequence':
      return node.parts.reduce<readonly string[] | null>(
        (run, part) => {
          const next = run && spellings(part);
          return run && next && product(run, next);
        },
        [''],
      );
  }
}

function spellingsOfRepeat({
  body,
  min,
  max,
}: Extract<RegexNode, { kind: 'repeat' }>): readonly string[] | null {
  if (max > lengthMax) return null;
  const one = spellings(body);
  let times: readonly string[] | null = [''];
  let all: readonly string[] | null = min === 0 ? [''] : [];
  for (let n = 1; n <= max && one && times && all; n++) {
    times = product(times, one);
    if (n >= min) all = union([all, times]);
  }
  return one && times && all;
}

/** Strings, one of which each match begins with; the empty one where nothing is known. */
function leading(node: RegexNode): readonly string[] {
  const all = spellings(node);
  if (all !== null) return all;
  switch (node.kind) {
    case 'capture':
      return leading(node.body);
    case 'choice':
      return union(node.options.map(leading)) ?? [''];
    case 'repeat':
      return node.min > 0 ? leading(node.body) : [''];
    case 'sequence':
      return leadingOfSequence(node.parts);
    default:
      return [''];
  }
}

function leadingOfSequence(parts: readonly RegexNode[]): readonly string[] {
  let run: readonly string[] = [''];
  for (const part of parts) {
    const next = spellings(part);
    const longer = product(run, next ?? leading(part));
    if (longer === null) return run;
    run = longer;
    if (next === null) return run;
  }
  return run;
}

function bytesOf(set: ByteSet): readonly string[] | null {
  const found = new Set<string>();
  for (let byte = 0; byte < set.length; byte++) {
    if (!set[byte]) continue;
    const upper = byte >= 0x41 && byte <= 0x5a;
    found.add(String.fromCharCode(upper ? byte | 0x20 : byte));
    if (found.size > stringsMax) return null;
  }
  return [...found];
}

function product(a: readonly string[], b: readonly string[]): readonly string[] | null {
  if (a.length * b.length > stringsMax) return null;
  const all = new Set(a.flatMap((one) => b.map((other) => one + other)));
  return [...all].some((text) => text.length > lengthMax) ? null : [...all];
}

function union(lists: readonly (readonly string[] | null)[]): readonly string[] | null {
  const all = new Set<string>();
  for (const list of lists) {
    if (list === null) return null;
    for (const text of list) all.add(text);
  }
  return all.size > stringsMax ? null : [...all];
}

/** How rare the commonest of the strings is in texts: letters, digits and blanks weigh little. */
function weightOf(list: readonly string[]): number {
  return Math.min(...list.map((text) => text.replace(/[^a-z0-9 ]/g, '...').length));
}

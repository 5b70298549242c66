/**
 * Owns a reading of PCRE patterns that is just good enough for planning: which bytes each part may
 * consume. Never decides a match; whatever it does not understand "may match anything".
 */

import type { ByteString } from '../base/byte-string.ts';

/** Set of byte values: 256 entries, 1 = member. */
export type ByteSet = Uint8Array;

export type RegexNode =
  | { readonly kind: 'set'; readonly set: ByteSet }
  /** Consumes nothing: the empty string, or an assertion as it is written. */
  | { readonly kind: 'empty'; readonly text: string }
  /** Not understood: may consume anything. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly items: readonly RegexNode[] }
  | {
      readonly kind: 'repeat';
      readonly item: RegexNode;
      readonly min: number;
      /** Infinity when unbounded. */
      readonly max: number;
    };

/** Nesting of groups that is read; deeper patterns count as unknown. */
const groupDepthMax = 200;

const nothing: RegexNode = { kind: 'empty', text: '' };
const unknown: RegexNode = { kind: 'unknown' };

/** Reads `pattern` (dot matches newline); cost linear in its length. */
export function readRegex(pattern: ByteString, caseless: boolean): RegexNode {
  const reader: Reader = {
    text: pattern,
    at: 0,
    caseless,
    extended: false,
    depth: 0,
    failed: false,
  };
  const node = readChoice(reader);
  return reader.failed || reader.at < pattern.length ? unknown : node;
}

/** Text of look-around, which is read past but cannot be written again. */
const unprintable = '\u0000look-around';

/** True when some string made only of `allowed` bytes may match; never false when one does. */
export function canMatchWithin(node: RegexNode, allowed: ByteSet): boolean {
  switch (node.kind) {
    case 'set':
      for (let byte = 0; byte < 256; byte++) if (node.set[byte] && allowed[byte]) return true;
      return false;
    case 'empty':
    case 'unknown':
      return true;
    case 'sequence':
      return node.items.every((item) => canMatchWithin(item, allowed));
    case 'choice':
      return node.items.some((item) => canMatchWithin(item, allowed));
    case 'repeat':
      return node.min === 0 || canMatchWithin(node.item, allowed);
  }
}

/** Shortest string that may match, in bytes; 0 where that is not known. */
export function minWidth(node: RegexNode): number {
  switch (node.kind) {
    case 'set':
      return 1;
    case 'empty':
    case 'unknown':
      return 0;
    case 'sequence':
      return node.items.reduce((sum, item) => sum + minWidth(item), 0);
    case 'choice':
      return Math.min(...node.items.map(minWidth));
    case 'repeat':
      return node.min * minWidth(node.item);
  }
}

/**
 * The pattern as it acts on strings made only of `allowed` bytes: sets cut down, what cannot match
 * there left out. Null when nothing can match. The result finds the same strings as the original;
 * it has no captures.
 */
export function restrictTo(node: RegexNode, allowed: ByteSet): RegexNode | null {
  switch (node.kind) {
    case 'set': {
      const set = node.set.map((member, byte) => (member && allowed[byte] ? 1 : 0));
      return set.includes(1) ? { kind: 'set', set } : null;
    }
    case 'empty':
    case 'unknown':
      return node;
    case 'sequence': {
      const items: RegexNode[] = [];
      for (const item of node.items) {
        const cut = restrictTo(item, allowed);
        if (cut === null) return null;
        if (cut.kind !== 'empty' || cut.text !== '') items.push(cut);
      }
      return items.length === 1 ? items[0]! : { kind: 'sequence', items };
    }
    case 'choice': {
      const items = node.items.flatMap((item) => restrictTo(item, allowed) ?? []);
      if (items.length === 0) return null;
      return items.length === 1 ? items[0]! : { kind: 'choice', items };
    }
    case 'repeat': {
      const item = restrictTo(node.item, allowed);
      if (item === null) return node.min === 0 ? nothing : null;
      if (item.kind === 'empty' && item.text === '') return nothing;
      return { ...node, item };
    }
  }
}

/** Writes a pattern without flags that finds the same strings; null when parts cannot be written. */
export function printRegex(node: RegexNode): ByteString | null {
  switch (node.kind) {
    case 'set':
      return printSet(node.set);
    case 'empty':
      return node.text === unprintable ? null : node.text;
    case 'unknown':
      return null;
    case 'sequence':
      return joinPrinted(node.items.map(printOperand), '');
    case 'choice':
      return joinPrinted(node.items.map(printRegex), '|');
    case 'repeat': {
      const item = printOperand(node.item);
      if (item === null) return null;
      const grouped = node.item.kind === 'set' ? item : `(?:${item})`;
      return grouped + printBounds(node.min, node.max);
    }
  }
}

/** The finite set of strings an anchored pattern stands for, when it has at most `limit`. */
export function finiteLanguage(node: RegexNode, limit: number): readonly ByteString[] | null {
  if (node.kind !== 'sequence') return null;
  const [first, ...rest] = node.items;
  const last = rest.pop();
  if (first?.kind !== 'empty' || first.text !== '^') return null;
  if (last?.kind !== 'empty' || last.text !== '\\z') return null;
  return stringsOf({ kind: 'sequence', items: rest }, limit);
}

function stringsOf(node: RegexNode, limit: number): string[] | null {
  switch (node.kind) {
    case 'set': {
      const list: string[] = [];
      node.set.forEach((member, byte) => member && list.push(String.fromCharCode(byte)));
      return list.length <= limit ? list : null;
    }
    case 'empty':
      return node.text === '' ? [''] : null;
    case 'unknown':
      return null;
    case 'sequence': {
      let all = [''];
      for (const item of node.items) {
        const next = stringsOf(item, limit);
        if (next === null || all.length * next.length > limit) return null;
        all = all.flatMap((head) => next.map((tail) => head + tail));
      }
      return all;
    }
    case 'choice': {
      const all: string[] = [];
      for (const item of node.items) {
        const next = stringsOf(item, limit);
        if (next === null || all.length + next.length > limit) return null;
        all.push(...next);
      }
      return all;
    }
    case 'repeat': {
      if (node.max > 8) return null;
      const one: RegexNode[] = Array.from({ length: node.max }, () => node.item);
      const all: string[] = [];
      for (let n = node.min; n <= node.max; n++) {
        const next = stringsOf({ kind: 'sequence', items: one.slice(0, n) }, limit);
        if (next === null || all.length + next.length > limit) return null;
        all.push(...next);
      }
      return all;
    }
  }
}

function printOperand(node: RegexNode): ByteString | null {
  const text = printRegex(node);
  return text !== null && node.kind === 'choice' ? `(?:${text})` : text;
}

function joinPrinted(parts: readonly (ByteString | null)[], separator: string): ByteString | null {
  return parts.includes(null) ? null : parts.join(separator);
}

function printBounds(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === max) return `{${min}}`;
  return min === 0 && max === 1 ? '?' : `{${min},${max}}`;
}

function printSet(set: ByteSet): string {
  const ranges: [number, number][] = [];
  set.forEach((member, byte) => {
    if (!member) return;
    const open = ranges.at(-1);
    if (open && open[1] === byte - 1) open[1] = byte;
    else ranges.push([byte, byte]);
  });
  if (ranges.length === 1 && ranges[0]![0] === 0 && ranges[0]![1] === 255) return '(?s:.)';
  const [only] = ranges;
  if (ranges.length === 1 && only![0] === only![1]) return printByte(only![0]);
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
      if (c === '[' && pattern[i + 1] === ':') {
        const close = pattern.indexOf(':]', i);
        if (close > 0) {
          out += pattern.slice(i, close + 2);
          i = close + 1;
          continue;
        }
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

interface Reader {
  readonly text: string;
  at: number;
  caseless: boolean;
  extended: boolean;
  depth: number;
  failed: boolean;
}

function readChoice(reader: Reader): RegexNode {
  const branches: RegexNode[] = [readSequence(reader)];
  while (reader.text[reader.at] === '|' && !reader.failed) {
    reader.at++;
    branches.push(readSequence(reader));
  }
  return branches.length === 1 ? branches[0]! : { kind: 'choice', items: branches };
}

function readSequence(reader: Reader): RegexNode {
  const items: RegexNode[] = [];
  while (reader.at < reader.text.length && !reader.failed) {
    const c = reader.text[reader.at]!;
    if (c === '|' || c === ')') break;
    if (reader.extended && (/\s/.test(c) || c === '#')) {
      skipExtended(reader);
      continue;
    }
    const item = readAtom(reader, c);
    items.push(readQuantifiers(reader, item));
  }
  return items.length === 1 ? items[0]! : { kind: 'sequence', items };
}

function skipExtended(reader: Reader): void {
  if (reader.text[reader.at] !== '#') {
    reader.at++;
    return;
  }
  const end = reader.text.indexOf('\n', reader.at);
  reader.at = end < 0 ? reader.text.length : end + 1;
}

function readAtom(reader: Reader, c: string): RegexNode {
  switch (c) {
    case '^':
    case '$':
      reader.at++;
      return { kind: 'empty', text: c === '$' ? '\\z' : c };
    case '.':
      reader.at++;
      return { kind: 'set', set: fullSet() };
    case '[':
      return readClass(reader);
    case '(':
      return readGroup(reader);
    case '\\':
      return readEscape(reader);
    default:
      reader.at++;
      return single(c.charCodeAt(0), reader.caseless);
  }
}

function readQuantifiers(reader: Reader, item: RegexNode): RegexNode {
  let node = item;
  for (;;) {
    const bounds = readBounds(reader);
    if (bounds === null) return node;
    const mode = reader.text[reader.at];
    if (mode === '?' || mode === '+') reader.at++;
    node = { kind: 'repeat', item: node, min: bounds[0], max: bounds[1] };
  }
}

function readBounds(reader: Reader): [number, number] | null {
  const c = reader.text[reader.at];
  const simple = c === '*' ? [0, Infinity] : c === '?' ? [0, 1] : c === '+' ? [1, Infinity] : null;
  if (simple) {
    reader.at++;
    return simple as [number, number];
  }
  if (c !== '{') return null;
  const counted = /^\{(\d+)(,(\d*))?\}/.exec(reader.text.slice(reader.at, reader.at + 24));
  if (!counted) return null;
  reader.at += counted[0].length;
  const min = Number(counted[1]);
  if (counted[2] === undefined) return [min, min];
  return [min, counted[3] === '' ? Infinity : Number(counted[3])];
}

function readGroup(reader: Reader): RegexNode {
  const { text } = reader;
  reader.at++;
  if (++reader.depth > groupDepthMax) return fail(reader);
  const caseless = reader.caseless;
  const extended = reader.extended;
  let assertion = false;
  if (text[reader.at] === '*') return fail(reader);
  if (text[reader.at] === '?') {
    const head =
      /^\?(?:(:|>|\|)|(=|!|<=|<!)|(?:P?<\w+>|'\w+')|([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])|(#))/.exec(
        text.slice(reader.at, reader.at + 80),
      );
    if (!head) return fail(reader);
    if (head[6] === '#') {
      const close = text.indexOf(')', reader.at);
      if (close < 0) return fail(reader);
      reader.at = close + 1;
      reader.depth--;
      return nothing;
    }
    reader.at += head[0].length;
    assertion = head[2] !== undefined;
    if (head[5] !== undefined) {
      if (/[^imsxJU]/.test((head[3] ?? '') + (head[4] ?? ''))) return fail(reader);
      applyFlags(reader, head[3] ?? '', head[4] ?? '');
      if (head[5] === ')') {
        reader.depth--;
        return nothing;
      }
    }
  }
  const node = readChoice(reader);
  if (text[reader.at] !== ')') return fail(reader);
  reader.at++;
  reader.depth--;
  reader.caseless = caseless;
  reader.extended = extended;
  return assertion ? { kind: 'empty', text: unprintable } : node;
}

function applyFlags(reader: Reader, on: string, off: string): void {
  if (on.includes('i')) reader.caseless = true;
  if (off.includes('i')) reader.caseless = false;
  if (on.includes('x')) reader.extended = true;
  if (off.includes('x')) reader.extended = false;
}

function readEscape(reader: Reader): RegexNode {
  const { text } = reader;
  const c = text[reader.at + 1];
  if (c === undefined) return fail(reader);
  if (/[bBAzZ]/.test(c)) {
    reader.at += 2;
    return { kind: 'empty', text: `\\${c}` };
  }
  if (/[1-9kgGXCRPpKuUELlNoc]/.test(c)) {
    if (c === 'N') {
      reader.at += 2;
      return unknown;
    }
    return fail(reader);
  }
  if (c === 'Q') {
    const end = text.indexOf('\\E', reader.at);
    const stop = end < 0 ? text.length : end;
    const items: RegexNode[] = [];
    for (let i = reader.at + 2; i < stop; i++)
      items.push(single(text.charCodeAt(i), reader.caseless));
    reader.at = end < 0 ? text.length : end + 2;
    return { kind: 'sequence', items };
  }
  const named = classEscape(c);
  if (named) {
    reader.at += 2;
    return { kind: 'set', set: named };
  }
  const code = readCharEscape(reader);
  return code < 0 ? fail(reader) : single(code, reader.caseless);
}

/** Reads an escape that stands for one byte; leaves the position behind it; -1 when not readable. */
function readCharEscape(reader: Reader): number {
  const { text } = reader;
  const c = text[reader.at + 1]!;
  if (c === 'x') {
    const hex = /^\\x(?:\{([0-9a-fA-F]{1,4})\}|([0-9a-fA-F]{0,2}))/.exec(
      text.slice(reader.at, reader.at + 8),
    );
    if (!hex) return -1;
    reader.at += hex[0].length;
    const value = parseInt(hex[1] ?? (hex[2] === '' ? '0' : hex[2]!), 16);
    return value > 255 ? -1 : value;
  }
  if (c === '0') {
    const octal = /^\\(0[0-7]{0,2})/.exec(text.slice(reader.at, reader.at + 4))!;
    reader.at += octal[0].length;
    return parseInt(octal[1]!, 8) & 255;
  }
  reader.at += 2;
  const control: Record<string, number> = { n: 10, r: 13, t: 9, f: 12, e: 27, a: 7 };
  return control[c] ?? (/[a-zA-Z0-9]/.test(c) ? -1 : c.charCodeAt(0));
}

function readClass(reader: Reader): RegexNode {
  const { text } = reader;
  const set = new Uint8Array(256);
  let at = reader.at + 1;
  const negated = text[at] === '^';
  if (negated) at++;
  let first = true;
  for (;;) {
    const c = text[at];
    if (c === undefined) return fail(reader);
    if (c === ']' && !first) break;
    first = false;
    if (c === '[' && text[at + 1] === ':') {
      const posix = /^\[:(\^?)([a-z]+):\]/.exec(text.slice(at, at + 14));
      const members = posix && posixSet(posix[2]!);
      if (!posix || !members) return fail(reader);
      for (let b = 0; b < 256; b++) if (Boolean(members[b]) !== (posix[1] === '^')) set[b] = 1;
      at += posix[0].length;
      continue;
    }
    if (c === '\\' && /[QE1-9]/.test(text[at + 1] ?? '')) return fail(reader);
    const named = c === '\\' ? classEscape(text[at + 1] ?? '') : null;
    if (named) {
      for (let b = 0; b < 256; b++) if (named[b]) set[b] = 1;
      at += 2;
      continue;
    }
    const [from, afterFrom] = classByte(reader, at);
    if (from < 0) return fail(reader);
    at = afterFrom;
    let to = from;
    if (text[at] === '-' && text[at + 1] !== ']' && text[at + 1] !== undefined) {
      if (!(text[at + 1] === '\\' && classEscape(text[at + 2] ?? ''))) {
        const [end, afterEnd] = classByte(reader, at + 1);
        if (end < from) return fail(reader);
        to = end;
        at = afterEnd;
      }
    }
    for (let b = from; b <= to; b++) addByte(set, b, reader.caseless);
  }
  reader.at = at + 1;
  if (negated) for (let b = 0; b < 256; b++) set[b] = set[b] ? 0 : 1;
  return { kind: 'set', set };
}

function classByte(reader: Reader, at: number): [number, number] {
  if (reader.text[at] !== '\\') return [reader.text.charCodeAt(at), at + 1];
  if (reader.text[at + 1] === 'b') return [8, at + 2];
  const saved = reader.at;
  reader.at = at;
  const code = readCharEscape(reader);
  const next = reader.at;
  reader.at = saved;
  return [code, next];
}

function fail(reader: Reader): RegexNode {
  reader.failed = true;
  return unknown;
}

function single(byte: number, caseless: boolean): RegexNode {
  const set = new Uint8Array(256);
  addByte(set, byte, caseless);
  return { kind: 'set', set };
}

function addByte(set: ByteSet, byte: number, caseless: boolean): void {
  set[byte] = 1;
  if (!caseless) return;
  if (byte >= 65 && byte <= 90) set[byte + 32] = 1;
  if (byte >= 97 && byte <= 122) set[byte - 32] = 1;
}

function fullSet(): ByteSet {
  return new Uint8Array(256).fill(1);
}

const wordPattern = /\w/;

function classEscape(c: string): ByteSet | null {
  const test: ((byte: number) => boolean) | null =
    c === 'd' || c === 'D'
      ? (b) => b >= 48 && b <= 57
      : c === 'w' || c === 'W'
        ? (b) => b < 128 && wordPattern.test(String.fromCharCode(b))
        : c === 's' || c === 'S'
          ? (b) => b === 32 || (b >= 9 && b <= 13)
          : c === 'h' || c === 'H'
            ? (b) => b === 32 || b === 9 || b === 0xa0
            : c === 'v' || c === 'V'
              ? (b) => (b >= 10 && b <= 13) || b === 0x85
              : null;
  if (!test) return null;
  const negated = c === c.toUpperCase();
  const set = new Uint8Array(256);
  for (let b = 0; b < 256; b++) if (test(b) !== negated) set[b] = 1;
  return set;
}

const posixPatterns: Readonly<Record<string, RegExp>> = {
  alpha: /[A-Za-z]/,
  digit: /[0-9]/,
  alnum: /[A-Za-z0-9]/,
  upper: /[A-Za-z]/,
  lower: /[A-Za-z]/,
  space: /[\t-\r ]/,
  blank: /[\t ]/,
  punct: /[!-/:-@[-`{-~]/,
  xdigit: /[0-9A-Fa-f]/,
  word: /\w/,
  // oxlint-disable-next-line no-control-regex
  cntrl: /[\x00-\x1f\x7f]/,
  print: /[ -~]/,
  graph: /[!-~]/,
};

function posixSet(name: string): ByteSet | null {
  const pattern = posixPatterns[name];
  if (!pattern) return null;
  const set = new Uint8Array(256);
  for (let b = 0; b < 128; b++) if (pattern.test(String.fromCharCode(b))) set[b] = 1;
  return set;
}

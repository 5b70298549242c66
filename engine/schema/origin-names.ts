/**
 * Reads names of a query or form as the site's origin does, where a setting names the way: PHP and
 * qs (Express) take `n[]`, `n[0]` and `n` for one name, and what PHP cannot name becomes `_`.
 * Texts are grouped under the names that the document declares, so that a check sees what the
 * origin's program gets. Source: PHP's main/php_variables.c; qs 6, lib/parse.js.
 */

import type { ApiField, ApiParameter } from '../contract/api-checks.ts';
import type { ArrayNames } from '../contract/array-names.ts';

/** How the texts of one name were written, where that is not the name alone. */
export type Written =
  /** Each as `n[]`, or as `n[0]`, `n[1]` and so on; with qs also beside the bare name. */
  | 'list'
  /** With names in brackets, `n[a]`: a map to the origin. */
  | 'map'
  /** In several of these ways: which one the origin sees depends on their order. */
  | 'mixed';

/** Texts by name, and how they were written. */
export interface Grouped<T> {
  readonly byName: Map<string, T[]>;
  /** Names that are not here were written plainly. */
  readonly written: ReadonlyMap<string, Written>;
}

/** A name as an origin reads it. */
export interface OriginName {
  /** Without the last brackets where they are `[]` or a number. */
  readonly head: string;
  /** -1 for none, -2 for `[]`, else the number in the last brackets. */
  readonly place: number;
}

/** Place of a name without brackets of a list. */
const bare = -1;
/** Place of `[]`. */
const next = -2;

const nothingWritten: ReadonlyMap<string, Written> = new Map();

/** The names of one query or form. */
export class OriginNames {
  private readonly by: ArrayNames;
  /** Name in the document by name that the origin reads; the first of equal ones stays. */
  private readonly declared = new Map<string, string>();
  /** Declared names that are written as lists themselves (`n[]`). */
  private readonly listed = new Set<string>();
  /** Length of the longest name that the origin reads. */
  private declaredCharsMax = 0;

  /** `declared`: names as the document has them. */
  constructor(by: ArrayNames, declared: Iterable<string>) {
    this.by = by;
    if (by === 'none') return;
    for (const name of declared) {
      const { head, place } = readName(name, by);
      if (this.declared.has(head)) continue;
      this.declared.set(head, name);
      this.declaredCharsMax = Math.max(this.declaredCharsMax, head.length);
      if (place !== bare) this.listed.add(name);
    }
  }

  /** Groups what came one by one under names. */
  group<T>(items: Iterable<readonly [name: string, item: T]>): Grouped<T> {
    const byName = new Map<string, T[]>();
    if (this.by === 'none') {
      for (const [name, item] of items) add(byName, name, item);
      return { byName, written: nothingWritten };
    }
    const places = new Map<string, number[]>();
    const written = new Map<string, Written>();
    for (const [sent, item] of items) {
      const { head, place } = readName(sent, this.by);
      const name = this.declared.get(head) ?? head;
      add(byName, name, item);
      add(places, name, place);
      for (const parent of parentsOf(head, this.declaredCharsMax)) {
        const above = this.declared.get(parent);
        if (above !== undefined) written.set(above, byName.has(above) ? 'mixed' : 'map');
      }
    }
    for (const [name, list] of places) {
      const how = written.has(name) ? 'mixed' : howWritten(list, this.by);
      if (how !== null) written.set(name, how);
    }
    for (const [name, list] of places) {
      if (written.get(name) === 'list' && list[0]! >= 0) sortBy(byName.get(name)!, list);
    }
    return { byName, written };
  }

  /** Whether a value of this layout may be written so. */
  takes(name: string, how: Written | undefined, layout: Layout): boolean {
    const { style, explode, shape, repeats = false } = layout;
    if (how === undefined) return true;
    if (shape.kind === 'unread') return true;
    if (how === 'map') return style === 'deepObject' && shape.kind === 'object';
    if (how === 'mixed') return false;
    if (this.listed.has(name)) return true;
    return repeats || (shape.kind === 'array' && explode);
  }
}

type Layout = Pick<ApiParameter, 'style' | 'explode' | 'shape'> &
  Partial<Pick<ApiField, 'repeats'>>;

/** Reads one name, decoded. */
export function readName(sent: string, by: Exclude<ArrayNames, 'none'>): OriginName {
  return by === 'php' ? phpName(sent) : qsName(sent);
}

function phpName(sent: string): OriginName {
  const zero = sent.indexOf('\0');
  const text = (zero < 0 ? sent : sent.slice(0, zero)).replace(/^ +/, '');
  const open = text.indexOf('[');
  if (open === 0) return { head: '', place: bare };
  if (open < 0) return { head: plainInPhp(text), place: bare };
  const keys: string[] = [];
  let at = open;
  while (text[at] === '[') {
    const close = text.indexOf(']', at);
    if (close < 0) break;
    const key = text.slice(at + 1, close);
    keys.push(/^[ \t\n\v\f\r]$/.test(key) ? '' : key);
    at = close + 1;
  }
  if (keys.length === 0) return { head: plainInPhp(text), place: bare };
  return nameOf(plainInPhp(text.slice(0, open)), keys);
}

function plainInPhp(text: string): string {
  return text.replaceAll(/[ .[]/g, '_');
}

function qsName(sent: string): OriginName {
  const first = sent.indexOf('[');
  if (first < 0) return { head: sent, place: bare };
  const keys: string[] = [];
  for (let open = first; open >= 0;) {
    const close = closeOf(sent, open);
    // What has no end is a key as it stands.
    keys.push(close < 0 ? sent.slice(open) : sent.slice(open + 1, close));
    open = close < 0 ? -1 : sent.indexOf('[', close + 1);
  }
  if (first > 0) return nameOf(sent.slice(0, first), keys);
  return keys.length === 1 ? { head: keys[0]!, place: bare } : nameOf(keys[0]!, keys.slice(1));
}

/** Where brackets that open at `open` close; -1 where they do not. */
function closeOf(text: string, open: number): number {
  let level = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '[') level++;
    else if (text[at] === ']' && --level === 0) return at;
  }
  return -1;
}

function nameOf(base: string, keys: readonly string[]): OriginName {
  const last = keys.at(-1)!;
  const place = last === '' ? next : /^(?:0|[1-9][0-9]{0,5})$/.test(last) ? Number(last) : bare;
  const inner = place === bare ? keys : keys.slice(0, -1);
  return { head: base + inner.map((key) => `[${key}]`).join(''), place };
}

/** `n[a]` and `n` for `n[a][b]`: those of at most `charsMax` characters. Cost: their text. */
function parentsOf(head: string, charsMax: number): string[] {
  const parents: string[] = [];
  for (let at = head.lastIndexOf('[', charsMax); at > 0; at = head.lastIndexOf('[', at - 1)) {
    parents.push(head.slice(0, at));
  }
  return parents;
}

/** Null for the bare name alone. */
function howWritten(places: readonly number[], by: ArrayNames): Written | null {
  const bares = places.filter((place) => place === bare).length;
  if (bares === places.length) return null;
  const nexts = places.filter((place) => place === next).length;
  if (nexts === places.length) return 'list';
  if (by === 'qs' && nexts + bares === places.length) return 'list';
  // Numbers with gaps, or twice, make no list.
  const numbers = new Set(places);
  const whole = numbers.size === places.length && places.every((_, at) => numbers.has(at));
  // qs makes an object of larger numbers.
  return whole && (by === 'php' || places.length <= qsListMax) ? 'list' : 'mixed';
}

/** Numbers below 20 make lists in qs unless another `arrayLimit` is set. */
const qsListMax = 20;

function sortBy<T>(items: T[], places: readonly number[]): void {
  const sorted = items
    .map((item, at) => [places[at]!, item] as const)
    .toSorted(([left], [right]) => left - right);
  sorted.forEach(([, item], at) => {
    items[at] = item;
  });
}

function add<T>(map: Map<string, T[]>, name: string, item: T): void {
  const known = map.get(name);
  if (known === undefined) map.set(name, [item]);
  else known.push(item);
}

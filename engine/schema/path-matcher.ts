/**
 * Finds the operation of a method and path among thousands of templates: a tree of segments, a
 * literal before a template. Takes segments as they are to be read; never decodes.
 */

import type { ApiSegment } from '../contract/api-path.ts';

/** Where a path led. */
export interface PathMatch<T> {
  readonly operation: T;
  /** What the templates took, in order. */
  readonly values: readonly string[];
  /** A segment with several parameters may be split in another way. */
  readonly splits: boolean;
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  /** Segments of texts and parameters; those with the most text come first. */
  readonly mixed: { readonly shape: string; readonly parts: MixedParts; readonly node: Node<T> }[];
  parameter: Node<T> | null;
  /** By method. */
  readonly operations: Map<string, T>;
}

/** Texts around parameters: one more than there are parameters; only the outer ones may be ''. */
type MixedParts = readonly string[];

interface Walk<T> {
  readonly segments: readonly string[];
  readonly method: string;
  readonly greedy: boolean;
  readonly values: string[];
  splits: boolean;
  readonly found: T | null;
}

/** The templates of one host. */
export class PathMatcher<T> {
  private readonly exact = emptyNode<T>();
  /** As `exact`, for origins that take paths without case. */
  private readonly folded = emptyNode<T>();

  /** Adds an operation; of two that are the same to origins the first stays. */
  add(method: string, path: readonly ApiSegment[], operation: T): void {
    addTo(this.exact, method, path, operation, (text) => text);
    addTo(this.folded, method, path, operation, (text) => text.toLowerCase());
  }

  /**
   * The operation that `method` and `segments` mean; null for none. What matches exactly comes
   * first; else case and a slash at the end do not count, as many origins have it. `greedy`: the
   * earlier of several parameters of a segment take as much as they can, not as little.
   * Cost: one look-up a segment and template that is tried; each node of the tree once at most.
   */
  find(method: string, segments: readonly string[], greedy = false): PathMatch<T> | null {
    return (
      walk(this.exact, { method, segments, greedy }, false) ??
      walk(this.folded, { method, segments: withoutLastSlash(segments), greedy }, true) ??
      walk(this.folded, { method, segments: [...withoutLastSlash(segments), ''], greedy }, true)
    );
  }
}

/** Finds an operation; origins answer HEAD as GET without the content, unless there is one. */
export function findWithHead<T>(
  matcher: PathMatcher<T>,
  method: string,
  segments: readonly string[],
  greedy: boolean,
): PathMatch<T> | null {
  const found = matcher.find(method, segments, greedy);
  if (found !== null || method !== 'HEAD') return found;
  return matcher.find('GET', segments, greedy);
}

function withoutLastSlash(segments: readonly string[]): readonly string[] {
  return segments.length > 0 && segments.at(-1) === '' ? segments.slice(0, -1) : segments;
}

function walk<T>(
  root: Node<T>,
  { method, segments, greedy }: Pick<Walk<T>, 'method' | 'segments' | 'greedy'>,
  folded: boolean,
): PathMatch<T> | null {
  const state: Walk<T> = { method, segments, greedy, values: [], splits: false, found: null };
  const operation = step(root, state, 0, folded);
  if (operation === null) return null;
  return { operation, values: state.values, splits: state.splits };
}

/** Depth is that of the templates. */
function step<T>(node: Node<T>, walked: Walk<T>, at: number, folded: boolean): T | null {
  if (at === walked.segments.length) return node.operations.get(walked.method) ?? null;
  const segment = walked.segments[at]!;
  const literal = node.literals.get(folded ? segment.toLowerCase() : segment);
  if (literal !== undefined) {
    const found = step(literal, walked, at + 1, folded);
    if (found !== null) return found;
  }
  for (const { parts, node: next } of node.mixed) {
    const { length } = walked.values;
    if (!splitInto(segment, parts, walked, folded)) continue;
    const found = step(next, walked, at + 1, folded);
    if (found !== null) return found;
    walked.values.length = length;
  }
  if (node.parameter === null || segment === '') return null;
  walked.values.push(segment);
  const found = step(node.parameter, walked, at + 1, folded);
  if (found === null) walked.values.pop();
  return found;
}

/** Adds what the parameters of a segment take; false when it does not fit. */
function splitInto<T>(
  segment: string,
  parts: MixedParts,
  walked: Walk<T>,
  folded: boolean,
): boolean {
  const text = folded ? segment.toLowerCase() : segment;
  const prefix = parts[0]!;
  const suffix = parts.at(-1)!;
  if (!text.startsWith(prefix) || !text.endsWith(suffix)) return false;
  const { values, greedy } = walked;
  const { length } = values;
  let from = prefix.length;
  let to = text.length - suffix.length;
  const inner = parts.slice(1, -1);
  const taken: string[] = [];
  const places = folded ? placesOf(segment) : null;
  const sent = (start: number, end: number): string =>
    places === null
      ? segment.slice(start, end)
      : segment.slice(places[start], places[end - 1]! + 1);
  // From the end where the earlier parameters take much.
  for (const separator of greedy ? inner.toReversed() : inner) {
    const at = greedy ? text.lastIndexOf(separator, to - 1 - separator.length) : -1;
    const start = greedy ? at : text.indexOf(separator, from + 1);
    if (start <= from || start + separator.length >= to) return false;
    if (greedy) {
      taken.unshift(sent(start + separator.length, to));
      to = start;
    } else {
      taken.push(sent(from, start));
      from = start + separator.length;
    }
  }
  if (to <= from) return false;
  if (greedy) taken.unshift(sent(from, to));
  else taken.push(sent(from, to));
  values.length = length;
  values.push(...taken);
  if (inner.length > 0) walked.splits = true;
  return true;
}

/**
 * For each code unit of the text in lower case, the place of its character in `text`; null where
 * both are of one length. `\u0130` becomes two code units.
 */
function placesOf(text: string): number[] | null {
  if (text.toLowerCase().length === text.length) return null;
  return text.split('').flatMap((unit, at) => Array.from(unit.toLowerCase(), () => at));
}

function emptyNode<T>(): Node<T> {
  return { literals: new Map(), mixed: [], parameter: null, operations: new Map() };
}

function addTo<T>(
  root: Node<T>,
  method: string,
  path: readonly ApiSegment[],
  operation: T,
  fold: (text: string) => string,
): void {
  let node = root;
  for (const segment of path) node = childOf(node, segment, fold);
  if (!node.operations.has(method)) node.operations.set(method, operation);
}

function childOf<T>(node: Node<T>, segment: ApiSegment, fold: (text: string) => string): Node<T> {
  if (segment.every((part) => 'literal' in part)) {
    const text = fold(segment.map((part) => ('literal' in part ? part.literal : '')).join(''));
    let child = node.literals.get(text);
    if (child === undefined) node.literals.set(text, (child = emptyNode()));
    return child;
  }
  if (segment.length === 1) return (node.parameter ??= emptyNode());
  const parts = mixedParts(segment).map(fold);
  const shape = JSON.stringify(parts);
  const known = node.mixed.find((one) => one.shape === shape);
  if (known !== undefined) return known.node;
  const added = { shape, parts, node: emptyNode<T>() };
  node.mixed.push(added);
  node.mixed.sort((left, right) => right.parts.join('').length - left.parts.join('').length);
  return added.node;
}

function mixedParts(segment: ApiSegment): string[] {
  const parts = [''];
  for (const part of segment) {
    if ('literal' in part) parts[parts.length - 1] += part.literal;
    else parts.push('');
  }
  return parts;
}

/**
 * Where the text of a made rule comes from: the rule is printed from the tree that the operator's
 * file was read to, so that both trees have the same shape and each token of one has its place in
 * the other. Pure; linear in the text.
 */

import type { SourceSpan } from '../../../../engine/rules/language/diagnostic.ts';

/** A place in a file of the set-up. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface Mapped {
  readonly line: number;
  readonly column: number;
  readonly place: SourcePlace;
}

/** Places of a rule's text, in the order of the text. */
export type SourceMap = readonly Mapped[];

/** Maps what `made` was parsed to back to the trees that it was printed from. */
export function mapSources(made: readonly object[], written: readonly object[]): SourceMap {
  const found: Mapped[] = [];
  written.forEach((one, at) => collect(made[at], one, found));
  return found.sort((left, right) => left.line - right.line || left.column - right.column);
}

/** The place of the last token that begins at or before a place of the text. */
export function sourceOf(map: SourceMap, line: number, column: number): SourcePlace | undefined {
  const before = map.findLast(
    (one) => one.line < line || (one.line === line && one.column <= column),
  );
  return (before ?? map[0])?.place;
}

function collect(made: unknown, written: unknown, found: Mapped[]): void {
  if (!isObject(made) || !isObject(written)) return;
  const [to, from] = [spanOf(made), spanOf(written)];
  if (to !== undefined && from !== undefined) {
    const { file, line, column } = from;
    found.push({ line: to.line, column: to.column, place: { file, line, column } });
  }
  for (const [name, value] of Object.entries(written)) {
    if (name !== 'span') collect((made as Record<string, unknown>)[name], value, found);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function spanOf(value: object): SourceSpan | undefined {
  return (value as { readonly span?: SourceSpan }).span;
}

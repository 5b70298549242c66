/** Which tokens begin a statement of SQL that a text would hardly have. */

import type { Leaf } from '../detector.ts';
import { kindAt, selectList, tokens } from './operands.ts';
import { TOKEN } from './words.ts';

/** 2 for a statement that only SQL has, 1 for one that a text may have, 0 for none. */
export function statementAt(leaf: Leaf, at: number): number {
  const next = kindAt(at + 1);
  const third = kindAt(at + 2);
  switch (kindAt(at)) {
    case TOKEN.select:
      return selectList(at + 1);
    case TOKEN.insert:
      return next === TOKEN.into && isTarget(third) && insertGoesOn(at + 3) ? 2 : 0;
    case TOKEN.update:
      if (!isTarget(next) || third !== TOKEN.set) return 0;
      return kindAt(at + 4) === TOKEN.compare ? 2 : 0;
    case TOKEN.delete:
      if (next !== TOKEN.from || !isTarget(third)) return 0;
      return kindAt(at + 3) === TOKEN.where ? 2 : ends(at + 3) && ends(at + 3, true) ? 2 : 0;
    case TOKEN.define:
      return definition(leaf, at);
    case TOKEN.execute:
      return execution(leaf, at);
    case TOKEN.declare:
      return next === TOKEN.variable ? 2 : 0;
    case TOKEN.waitfor:
      return next === TOKEN.delay ? 2 : 0;
    case TOKEN.shutdown:
      return next === TOKEN.lineComment ? 2 : 0;
    case TOKEN.attackFunction:
      return next === TOKEN.open && third !== TOKEN.name ? 2 : 0;
    case TOKEN.set:
      return next === TOKEN.variable ? 2 : 0;
    case TOKEN.ifWord:
      return next === TOKEN.open && third === TOKEN.open && kindAt(at + 3) === TOKEN.select ? 2 : 0;
    default:
      return 0;
  }
}

function isTarget(kind: number): boolean {
  return kind === TOKEN.name || kind === TOKEN.quote || kind === TOKEN.object;
}

function insertGoesOn(at: number): boolean {
  const kind = kindAt(at);
  return kind === TOKEN.values || kind === TOKEN.open || kind === TOKEN.select;
}

/** End of a statement; with `marked` only one by a sign. */
function ends(at: number, marked = false): boolean {
  const kind = kindAt(at);
  if (kind === TOKEN.none) return !marked;
  return kind === TOKEN.lineComment || kind === TOKEN.semicolon || kind === TOKEN.quote;
}

/** `drop table x`, `create table x (`, `truncate table x`. */
function definition(leaf: Leaf, at: number): number {
  if (kindAt(at + 1) !== TOKEN.object || !isTarget(kindAt(at + 2))) return 0;
  const creates = /^[ca]/i.test(leaf.text.charAt(tokens.start[at]!));
  const after = kindAt(at + 3);
  if (creates) return after === TOKEN.open || after === TOKEN.as ? 2 : 0;
  return ends(at + 3) ? 2 : 0;
}

/** `exec master..xp_cmdshell`, `exec('...')`, `exec sp_x`. */
function execution(leaf: Leaf, at: number): number {
  const next = kindAt(at + 1);
  if (next === TOKEN.attackFunction) return 2;
  if (next === TOKEN.name) {
    const start = tokens.start[at + 1]!;
    if (/^(?:xp|sp)_/i.test(leaf.text.slice(start, start + 3))) return 2;
    return kindAt(at + 2) === TOKEN.dot && kindAt(at + 3) === TOKEN.dot ? 2 : 0;
  }
  const inside = kindAt(at + 2);
  return next === TOKEN.open && (inside === TOKEN.variable || inside === TOKEN.valueFunction)
    ? 2
    : 0;
}

/** Shapes of queries and their clauses: what is joined, nested or ordered. */

import type { Leaf, Report } from '../detector.ts';
import { verbsAfter } from '../verbs-after.table.ts';
import { SQL } from './facts.table.ts';
import {
  CONDITION,
  hit,
  isInOwnQuery,
  isInQueryOfText,
  isServerVariable,
  isWhole,
  kindAt,
  readCondition,
  readTo,
  statementBefore,
  tokens,
} from './operands.ts';
import { isExpressionList, selectList } from './select-lists.ts';
import { TOKEN } from './words.ts';

/** Comments or lines of them between `union` and `select`. */
const hidesClause = /\/\*|(?:#|--)[^\n]{0,200}\n/;

/** A query that is joined to the one that is there. */
export function searchUnion({ text }: Leaf, at: number, report: Report): void {
  let next = at + 1;
  for (let count = 0; count < 3 && kindAt(next) === TOKEN.quantity; count++) next++;
  for (let count = 0; count < 8 && kindAt(next) === TOKEN.open; count++) next++;
  const kind = kindAt(next);
  if (kind === TOKEN.values && kindAt(next + 1) === TOKEN.open) {
    const inside = kindAt(next + 2);
    const constant = inside === TOKEN.number || inside === TOKEN.constant;
    if (constant || inside === TOKEN.quote) hit(report, SQL.union, at, next + 1);
  }
  if (leavesValue(at) && isRowQuery(at, next)) hit(report, SQL.union, at, next + 1);
  if (kind !== TOKEN.select) return;
  // Comments hide what a filter would see.
  const written = text.slice(tokens.start[at], tokens.start[next]);
  if (next < tokens.count && hidesClause.test(written)) {
    hit(report, SQL.union, at, next);
    return;
  }
  // The list of `union all select` may follow in another value.
  const cut = next > at + 1 && kindAt(next + 1) === TOKEN.none;
  const list = selectList(next + 1);
  if (!cut && list === 0 && !(leavesValue(at) && isExpressionList(next + 1))) return;
  const plain = list === 1 || isStar(next + 1);
  const begun = isInQueryOfText(at) && !endsInEmptyString(at) && readsTable(next);
  const own = begun || (plain && (isOwnQuery(at) || isQuoted(text, at)));
  hit(report, own ? SQL.statement : SQL.union, at, next + 1);
}

/** Whether a query without `select` is at a token: `table users`, `values row(1, 2)` of MySQL 8. */
function isRowQuery(union: number, at: number): boolean {
  if (kindAt(at) === TOKEN.values) {
    return kindAt(at + 1) === TOKEN.name && kindAt(at + 2) === TOKEN.open;
  }
  if (kindAt(at) !== TOKEN.object || kindAt(at + 1) !== TOKEN.name) return false;
  if (tokens.end[at]! - tokens.start[at]! !== 'table'.length) return false;
  const end = kindAt(at + 2);
  if (end === TOKEN.lineComment || end === TOKEN.limit || end === TOKEN.order) return true;
  // After an apostrophe it may be the table of a sentence.
  return end === TOKEN.none && kindAt(union - 1) !== TOKEN.quote;
}

/** Whether a value of a query ends before a token: a string, a number, a bracket. */
function leavesValue(at: number): boolean {
  switch (kindAt(at - 1)) {
    case TOKEN.quote:
    case TOKEN.number:
    case TOKEN.constant:
    case TOKEN.variable:
    case TOKEN.close:
      return true;
    default:
      return false;
  }
}

/** Tokens of a list that are looked at. */
const listReach = 48;

/** Whether a query has a table of its own: attacks join constants, too, or ask the server. */
function readsTable(from: number): boolean {
  for (let at = from + 1; at < from + listReach; at++) {
    const kind = kindAt(at);
    if (kind === TOKEN.from) return kindAt(at + 1) === TOKEN.name;
    if (kind === TOKEN.none || kind === TOKEN.union || isServerVariable(at)) return false;
  }
  return false;
}

/** `''`, which a text leaves that closes the string it is put into. */
function endsInEmptyString(at: number): boolean {
  return kindAt(at - 1) === TOKEN.quote && tokens.end[at - 2] === tokens.start[at - 1];
}

/** `* from t`, as people write it. */
function isStar(at: number): boolean {
  if (kindAt(at) !== TOKEN.arithmetic || kindAt(at + 1) !== TOKEN.from) return false;
  return kindAt(at + 2) === TOKEN.name;
}

/**
 * Whether what stands before a token is a query from the start on that nothing leaves, as people
 * paste it: no quote is open, no bracket closes more than was opened.
 */
function isOwnQuery(to: number): boolean {
  if (kindAt(0) !== TOKEN.select || !(selectList(1) === 1 || isStar(1))) return false;
  let depth = 0;
  let quotes = 0;
  for (let at = 0; at < to; at++) {
    const kind = kindAt(at);
    if (kind === TOKEN.open) depth++;
    else if (kind === TOKEN.close && --depth < 0) return false;
    else if (kind === TOKEN.quote) quotes++;
    else if (kind === TOKEN.lineComment) return false;
  }
  return quotes === 0;
}

/**
 * Whether a token stands in a query that begins after a backtick, as in Markdown: no statement may
 * follow a name in backticks.
 */
function isQuoted(text: string, to: number): boolean {
  const start = statementBefore(to);
  if (start < 1 || kindAt(start) !== TOKEN.select || !isWhole()) return false;
  return text.charCodeAt(tokens.start[start - 1]!) === 0x60 && selectList(start + 1) === 1;
}

/** MySQL's clause `procedure` with the function that servers have. */
export function searchProcedure({ text }: Leaf, at: number, report: Report): void {
  const name = text.slice(tokens.start[at + 1], tokens.end[at + 1]);
  if (/^analy[sz]e$/i.test(name)) hit(report, SQL.attackFunction, at, at + 2);
}

/** A query of a meta table or of a variable of the server as the whole value: its end, or 0. */
function metaAt({ text }: Leaf): number {
  if (text.length > 160) return 0;
  if (isServerVariable(1) && text.startsWith('@@', tokens.start[1]) && tokens.count < 4) return 1;
  for (let at = 2; at < 24; at++) {
    if (kindAt(at) !== TOKEN.from) continue;
    const word = text.slice(tokens.start[at + 1], tokens.end[at + 1]).toLowerCase();
    const isMeta = kindAt(at + 1) === TOKEN.meta || word === 'dual';
    return isMeta && !isSubject(text, at + 2) ? at + 1 : 0;
  }
  return 0;
}

const verb = new RegExp(`^(?:${verbsAfter.query})$`, 'i');
/** What strings and names may have around words, and escapes. */
const hides = /[\\$"`[]/;

/** Whether a query is what a sentence is about: in none a verb and two words follow a value. */
function isSubject(text: string, from: number): boolean {
  if (kindAt(from) === TOKEN.compareWord && kindAt(from + 1) === TOKEN.name) return true;
  if (hides.test(text)) return false;
  let quotes = 0;
  for (let at = from; at < tokens.count; at++) {
    const kind = kindAt(at);
    if (kind === TOKEN.lineComment || kind === TOKEN.semicolon) return false;
    if (kind === TOKEN.quote) quotes++;
    if (kind !== TOKEN.name || quotes % 2 === 1) continue;
    const words = kindAt(at + 1) === TOKEN.name && kindAt(at + 2) === TOKEN.name;
    if (words && verb.test(text.slice(tokens.start[at], tokens.end[at]))) return true;
  }
  return false;
}

const namedBytesMax = 2048;
/** `with t as (`, after which nothing may end a string of a query around it. */
const namesQuery = new RegExp(
  String.raw`^\s{0,64}with\s{1,8}(?:recursive\s{1,8})?\w{1,64}\s{0,8}` +
    String.raw`(?:\([^()]{1,200}\)\s{0,8})?as\s{0,8}\([^'"\\;]{0,2000}$`,
  'i',
);

/** A query of its own, or inside another one. */
export function searchSelect(leaf: Leaf, at: number, report: Report): void {
  const list = selectList(at + 1);
  if (list === 0) return;
  if (at === 0 || kindAt(at - 1) === TOKEN.semicolon) {
    const end = at === 0 ? metaAt(leaf) : 0;
    if (end > 0) hit(report, SQL.metaQuery, at, end);
    hit(report, SQL.statement, at, at + 3);
    return;
  }
  let open = at - 1;
  for (let count = 0; count < 8 && kindAt(open) === TOKEN.open; count++) open--;
  if (open === at - 1) {
    if (list === 2) hit(report, SQL.statement, at, at + 3);
    return;
  }
  const before = kindAt(open);
  const first = kindAt(0);
  const statement = first === TOKEN.select || first === TOKEN.update || first === TOKEN.delete;
  const begin = tokens.start[at]!;
  const named = begin <= namedBytesMax && namesQuery.test(leaf.text.slice(0, begin));
  const own = statement || named || first === TOKEN.insert || isInOwnQuery(open + 1);
  if (own || (list === 1 && before === TOKEN.name)) {
    hit(report, SQL.statement, at - 1, at + 3);
  } else hit(report, SQL.subselect, at - 1, at + 2);
}

/** Clauses after a condition: `order by 9--`, `having 1=1`. */
export function searchOrder(at: number, report: Report): void {
  const before = kindAt(at - 1);
  const closes = before === TOKEN.quote || before === TOKEN.close || before === TOKEN.number;
  if (tokens.kind[at] === TOKEN.having) {
    const condition = readCondition(at + 1);
    const added = condition === CONDITION.firm && !isInOwnQuery(at);
    if (added) hit(report, SQL.orderBy, at, readTo - 1);
    return;
  }
  if (!closes || kindAt(at + 1) !== TOKEN.by || kindAt(at + 2) !== TOKEN.number) return;
  const after = kindAt(at + 3);
  const ends = after === TOKEN.none || after === TOKEN.lineComment || after === TOKEN.semicolon;
  const list = after === TOKEN.comma && kindAt(at + 4) === TOKEN.number;
  const own = after !== TOKEN.lineComment && isInQueryOfText(at);
  if ((ends || list) && !own) hit(report, SQL.orderBy, at - 1, at + 3);
}

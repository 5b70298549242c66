/** Which tokens begin a statement of SQL that a text would hardly have. */

import type { Leaf } from '../detector.ts';
import { beforeStatement, isWhole, kindAt, statementBefore, tokens } from './operands.ts';
import { selectList } from './select-lists.ts';
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
      return kindAt(at + 3) === TOKEN.where || ends(at + 3, true) ? 2 : 0;
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
      if (next === TOKEN.dot) return kindAt(at + 3) === TOKEN.open ? 2 : 0;
      return next === TOKEN.open && third !== TOKEN.name ? 2 : 0;
    case TOKEN.set:
      return next === TOKEN.variable ? 2 : 0;
    case TOKEN.ifWord:
      return next === TOKEN.open && third === TOKEN.open && kindAt(at + 3) === TOKEN.select ? 2 : 0;
    default:
      return 0;
  }
}

/**
 * Whether the text has a whole statement of its own before a semicolon: from a word that begins one
 * on, nothing leaves it, and nothing ends a value before it.
 */
export function endsOwnStatement(leaf: Leaf, semicolon: number): boolean {
  for (let at = statementBefore(semicolon); at >= 0; at = beforeStatement(at)) {
    if (isWhole() && beginsOwn(leaf, at)) return true;
  }
  return beginsTransaction(leaf, semicolon - 1);
}

const transaction = /^(?:begin|transaction|commit)$/i;

/** `begin` or its like from the start on, or after words: no query continues so after a value. */
function beginsTransaction({ text }: Leaf, at: number): boolean {
  if (at < 0 || !transaction.test(text.slice(tokens.start[at]!, tokens.end[at]!))) return false;
  const before = kindAt(at - 1);
  return before === TOKEN.none || (before === TOKEN.name && kindAt(at - 2) === TOKEN.none);
}

/** `drop table if exists x` beside what `statementAt` knows; words or nothing stand before it. */
function beginsOwn(leaf: Leaf, at: number): boolean {
  const before = kindAt(at - 1);
  // A semicolon before a whole statement was judged as well.
  if (before === TOKEN.semicolon) return statementAt(leaf, at) === 2;
  if (before !== TOKEN.none && before !== TOKEN.name && before !== TOKEN.other) return false;
  if (statementAt(leaf, at) > 0) return true;
  return kindAt(at) === TOKEN.define && kindAt(at + 1) === TOKEN.object;
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
  // `create or replace function x(`
  if (kindAt(at + 1) === TOKEN.connect && kindAt(at + 2) === TOKEN.insert) {
    return kindAt(at + 3) === TOKEN.object && isTarget(kindAt(at + 4)) ? 2 : 0;
  }
  const object = kindAt(at + 1);
  // `database`, `schema` and `user` are functions, too.
  if (object !== TOKEN.object && object !== TOKEN.valueFunction) return 0;
  if (!isTarget(kindAt(at + 2))) return 0;
  const creates = /^[ca]/i.test(leaf.text.charAt(tokens.start[at]!));
  const after = kindAt(at + 3);
  if (creates) return after === TOKEN.open || after === TOKEN.as ? 2 : 0;
  return ends(at + 3) ? 2 : 0;
}

const comments = /\/\*[^*]{0,64}\*\/|--[^\n]{0,64}\n/g;
const afterValue =
  /^(?:(?:delete\s{1,8}from|truncate(?:\s{1,8}table)?|(?:alter|drop|create|rename|lock)\s{1,8}(?:table|database|schema|user|view|index|procedure|function|trigger|role|login|system|session|tables)|attach\s{1,8}database|detach|merge\s{1,8}into|replace\s{1,8}into|backup\s{1,8}(?:database|log)|bulk\s{1,8}insert|set\s{1,8}(?:global|session)|pragma|handler|dbcc|prepare|deallocate|flush)\s{1,8}["'`[\w*(]|load\s{1,8}(?:data|xml)\s|grant\s{1,8}[\w ,]{1,40}\son\s|revoke\s{1,8}[\w ,]{1,40}\son\s|call\s{1,8}[\w.]{1,64}\s{0,4}\(|do\s{1,8}\w{1,32}\(|kill\s{1,8}\d|begin\s{1,8}(?:[\w]{1,32}\.\w|select|execute|declare|dbms|user)|execute\s{1,8}immediate|with\s{1,8}\w{1,32}\s{1,8}as\s{0,4}\(|vacuum\b|reindex\b|call\s{1,8}\w{1,32}\s{0,2}\(|shutdown\b|reconfigure\b|explain\s{1,8}(?:analy[sz]e\s{1,8})?select|exec(?:ute)?\s{0,8}\(\s{0,4}n?'|i{1,2}f\s{0,4}\(\s{0,4}[\d(])/i;

/** Whether a statement stands at a token that texts may have, too: where a value ends before it. */
export function commandAt({ text }: Leaf, at: number): boolean {
  if (kindAt(at) === TOKEN.none) return false;
  const start = tokens.start[at]!;
  const written = text.slice(start, start + 160).replaceAll(comments, ' ');
  return afterValue.test(written);
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

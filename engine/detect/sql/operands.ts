/**
 * Reads operands and conditions in tokens of SQL. Every reading looks at a bounded number of
 * tokens, so that a search from every token is linear.
 */

import type { Report } from '../detector.ts';
import { SqlTokens } from './tokens.ts';
import { TOKEN } from './words.ts';

/** The tokens of the leaf that is searched now. */
export const tokens = new SqlTokens();

/** What an operand is. */
export const OPERAND = { none: 0, constant: 1, name: 2, sqlFunction: 3, function: 4 } as const;

/** What a condition is. */
export const CONDITION = {
  none: 0,
  /** Compares names, as program text does, too. */
  loose: 1,
  /** Compares constants, or calls functions of SQL. */
  firm: 2,
  /** A constant alone, at the end. */
  bare: 3,
} as const;

const reachMax = 16;
/** Token after the operand or condition that was read last. */
export let readTo = 0;

/** The kind of a token; `none` outside. */
export function kindAt(at: number): number {
  return at < 0 || at >= tokens.count ? TOKEN.none : tokens.kind[at]!;
}

/** Reads an operand at a token. */
export function readOperand(from: number): number {
  let type = readTerm(from);
  for (let count = 0; count < 4 && type !== OPERAND.none; count++) {
    if (kindAt(readTo) !== TOKEN.arithmetic) break;
    const end = readTo;
    const next = readTerm(end + 1);
    if (next === OPERAND.none) {
      readTo = end;
      break;
    }
    if (next > type) type = next;
  }
  return type;
}

function skipSigns(from: number): number {
  let at = from;
  for (let count = 0; count < 8; count++, at++) {
    const kind = kindAt(at);
    if (kind === TOKEN.arithmetic && tokens.end[at]! - tokens.start[at]! === 1) continue;
    if (kind !== TOKEN.not && kind !== TOKEN.bang && kind !== TOKEN.open) return at;
  }
  return at;
}

/** Reads an operand without operators after it at a token. */
export function readTerm(from: number): number {
  const at = skipSigns(from);
  const kind = kindAt(at);
  readTo = at + 1;
  switch (kind) {
    case TOKEN.number:
    case TOKEN.constant:
    case TOKEN.variable:
      skipCloses();
      return OPERAND.constant;
    case TOKEN.quote:
      return readString(at);
    case TOKEN.select:
    case TOKEN.exists:
    case TOKEN.caseWord:
      readTo = Math.min(tokens.count, at + reachMax);
      return OPERAND.sqlFunction;
    case TOKEN.sleep:
    case TOKEN.attackFunction:
    case TOKEN.valueFunction:
    case TOKEN.ifWord:
    case TOKEN.geometry:
    case TOKEN.loadFile:
      if (kindAt(at + 1) !== TOKEN.open) return OPERAND.name;
      skipCall(at + 1);
      return OPERAND.sqlFunction;
    case TOKEN.name:
      // `n'a'`, `x'61'`, `_utf8'a'`: a sort of string.
      if (kindAt(at + 1) === TOKEN.quote && tokens.end[at] === tokens.start[at + 1]) {
        return readString(at + 1);
      }
      while (kindAt(readTo) === TOKEN.dot && readTo < at + 8) readTo += 2;
      if (kindAt(readTo) !== TOKEN.open) return OPERAND.name;
      skipCall(readTo);
      return OPERAND.function;
    default:
      return OPERAND.none;
  }
}

function skipCloses(): void {
  for (let count = 0; count < 4 && kindAt(readTo) === TOKEN.close; count++) readTo++;
}

/** A string: to its end quote. One that no quote ends is ended by the statement around it. */
function readString(at: number): number {
  readTo = tokens.nextQuote[at]! + 1;
  skipCloses();
  return OPERAND.constant;
}

function skipCall(open: number): void {
  let depth = 0;
  let at = open;
  for (; at < open + 3 * reachMax; at++) {
    const kind = kindAt(at);
    if (kind === TOKEN.none) break;
    if (kind === TOKEN.open) depth++;
    else if (kind === TOKEN.close && --depth === 0) {
      at++;
      break;
    }
  }
  readTo = at;
  skipCloses();
}

/** Reads a condition at a token. */
export function readCondition(from: number): number {
  const first = readOperand(from);
  if (first === OPERAND.none) return CONDITION.none;
  let at = readTo;
  if (kindAt(at) === TOKEN.not) at++;
  const kind = kindAt(at);
  if (kind === TOKEN.compare || kind === TOKEN.compareWord) return readComparison(first, at);
  if (first === OPERAND.sqlFunction) return CONDITION.firm;
  // `or not 0 and a=b`
  const negated = kindAt(from) === TOKEN.not && kind === TOKEN.connect;
  if (first !== OPERAND.constant || !(negated || endsCondition(at))) return CONDITION.none;
  return CONDITION.bare;
}

/** The end of a query, or a clause that follows a condition in it. */
function endsCondition(at: number): boolean {
  switch (kindAt(at)) {
    case TOKEN.none:
    case TOKEN.lineComment:
    case TOKEN.semicolon:
      return true;
    case TOKEN.order:
    case TOKEN.group:
      return kindAt(at + 1) === TOKEN.by;
    case TOKEN.union:
      return kindAt(at + 1) === TOKEN.select || kindAt(at + 1) === TOKEN.quantity;
    case TOKEN.limit:
      return kindAt(at + 1) === TOKEN.number;
    default:
      return false;
  }
}

function readComparison(first: number, from: number): number {
  const word = kindAt(from) === TOKEN.compareWord;
  // `sounds like`, `is not`.
  const at = word && kindAt(from + 1) === TOKEN.compareWord ? from + 1 : from;
  const second = readOperand(at + 1);
  if (second === OPERAND.none) {
    const next = kindAt(at + 1);
    if (next === TOKEN.none) return CONDITION.loose;
    // `1 isnull=0`, `1 notnull--`.
    const ends = next === TOKEN.compare || next === TOKEN.lineComment || next === TOKEN.semicolon;
    if (!word || !(ends || next === TOKEN.connect)) return CONDITION.none;
    return first === OPERAND.constant ? CONDITION.firm : CONDITION.loose;
  }
  if (first === OPERAND.sqlFunction || second === OPERAND.sqlFunction) return CONDITION.firm;
  if (first === OPERAND.constant && second === OPERAND.constant) return CONDITION.firm;
  if (word && second !== OPERAND.constant && kindAt(at + 1) !== TOKEN.open) return CONDITION.none;
  return CONDITION.loose;
}

/** Reports what was found from one token to another. */
export function hit(report: Report, id: number, first: number, last: number): void {
  const end = Math.min(Math.max(first, last), tokens.count - 1);
  report.add(id, tokens.start[first]!, tokens.end[end]!);
}

/** `@@version` and its like. */
export function isServerVariable(at: number): boolean {
  return kindAt(at) === TOKEN.variable && tokens.end[at]! - tokens.start[at]! > 3;
}

/** Tokens of a statement that are looked at before a place in it. */
const statementReach = 96;

/** What the walk over the statement before a token passed. */
const walk = { to: 0, closed: 0, quotes: 0, clause: false };

/** Begins a walk back from a token, and goes to the first word that may begin its statement. */
export function statementBefore(at: number): number {
  walk.to = Math.max(-1, at - statementReach);
  walk.closed = 0;
  walk.quotes = 0;
  walk.clause = false;
  return beforeStatement(at);
}

/** Continues to the next such word before; -1 where another statement or a bracket stands. */
export function beforeStatement(from: number): number {
  for (let at = from - 1; at > walk.to; at--) {
    switch (kindAt(at)) {
      case TOKEN.quote:
        walk.quotes++;
        break;
      case TOKEN.close:
        walk.closed++;
        break;
      case TOKEN.open:
        if (--walk.closed < 0) return -1;
        break;
      case TOKEN.where:
      case TOKEN.from:
      case TOKEN.set:
        walk.clause = true;
        break;
      case TOKEN.union:
      case TOKEN.semicolon:
      case TOKEN.lineComment:
        return -1;
      case TOKEN.select:
      case TOKEN.insert:
      case TOKEN.update:
      case TOKEN.delete:
      case TOKEN.define:
      case TOKEN.declare:
        return at;
      default:
    }
  }
  return -1;
}

/** Whether no quote is open and no bracket closes more than was opened since the word. */
export function isWhole(): boolean {
  return walk.closed === 0 && walk.quotes % 2 === 0;
}

/**
 * Whether a token stands in a query that the text itself has from `select` or `update` on, as
 * people paste it: nothing ends a value before that, and nothing in between leaves the query.
 */
export function isInOwnQuery(at: number): boolean {
  for (let start = statementBefore(at); start >= 0; start = beforeStatement(start)) {
    const kind = kindAt(start);
    if (kind === TOKEN.define || kind === TOKEN.declare) continue;
    // `insert into t (a) select`
    const list = kind === TOKEN.select && walk.closed === 0 && kindAt(start - 1) === TOKEN.close;
    if (list && walk.clause) continue;
    return walk.clause && isWhole() && !isClosing(start - 1);
  }
  return false;
}

/** Unions of one query that are followed back. */
const unionsMax = 8;

/**
 * Whether a token stands in a query that begins in the text where none could be added: at its
 * start, after a colon, or after two words, which no query has beside each other.
 */
export function isInQueryOfText(at: number, unions = 0): boolean {
  for (let start = statementBefore(at); start >= 0; start = beforeStatement(start)) {
    if (kindAt(start) !== TOKEN.select) continue;
    if (!walk.clause || !isWhole()) return false;
    let before = start - 1;
    if (kindAt(before) === TOKEN.quantity) before--;
    if (kindAt(before) === TOKEN.union && unions < unionsMax) {
      return isInQueryOfText(before, unions + 1);
    }
    if (before < start - 1) return false;
    return isStartOfText(before) || (isName(before) && isName(before - 1));
  }
  return false;
}

function isName(at: number): boolean {
  return kindAt(at) === TOKEN.name;
}

function isStartOfText(at: number): boolean {
  if (kindAt(at) === TOKEN.none) return true;
  return kindAt(at) === TOKEN.other && tokens.text.charCodeAt(tokens.start[at]!) === 0x3a;
}

/** What ends a value before a query that is added to it; none follows a name in backticks. */
function isClosing(at: number): boolean {
  switch (kindAt(at)) {
    case TOKEN.quote:
      return tokens.text.charCodeAt(tokens.start[at]!) !== 0x60;
    case TOKEN.close:
    case TOKEN.open:
    case TOKEN.number:
      return true;
    default:
      return false;
  }
}

/** Lists of what `select` asks for: names, as prose has them, too, and expressions. */

import { kindAt, OPERAND, readTerm, readTo, tokens } from './operands.ts';
import { TOKEN } from './words.ts';

/**
 * Whether what follows `select` is a list of expressions: 2 if it can be nothing else, 1 if names
 * and commas, as prose may have; 0 if not.
 */
export function selectList(from: number): number {
  let at = from;
  for (let count = 0; count < 3 && kindAt(at) === TOKEN.quantity; count++) at++;
  // `top 1 name`
  if (at > from && kindAt(at) === TOKEN.number && kindAt(at + 1) === TOKEN.name) at++;
  for (let count = 0; count < 4 && kindAt(at) === TOKEN.open; count++) at++;
  switch (kindAt(at)) {
    case TOKEN.number:
    case TOKEN.constant:
      return kindAt(at + 1) === TOKEN.name || kindAt(at + 1) === TOKEN.dot ? 0 : 2;
    case TOKEN.variable:
    case TOKEN.quote:
    case TOKEN.caseWord:
    case TOKEN.select:
      return 2;
    case TOKEN.arithmetic:
      return listAfterSign(at);
    case TOKEN.valueFunction:
    case TOKEN.attackFunction:
    case TOKEN.sleep:
    case TOKEN.ifWord:
    case TOKEN.geometry:
    case TOKEN.loadFile:
      if (kindAt(at + 1) === TOKEN.open) return 2;
      return namesFrom(at);
    case TOKEN.name:
    case TOKEN.meta:
    case TOKEN.object:
      return namesFrom(at);
    default:
      return 0;
  }
}

function listAfterSign(at: number): number {
  const next = kindAt(at + 1);
  const closes = next === TOKEN.from || next === TOKEN.none || next === TOKEN.into;
  return closes || next === TOKEN.number || next === TOKEN.comma ? 2 : 0;
}

/** `a from t` with what may follow a table, `a, b`, `f(x)`. */
function namesFrom(from: number): number {
  let at = from + 1;
  for (let count = 0; count < 4 && kindAt(at) === TOKEN.dot; count++) at += 2;
  const next = kindAt(at);
  if (next === TOKEN.comma) return 1;
  if (next === TOKEN.open) {
    const inside = kindAt(at + 1);
    if (inside === TOKEN.name) return 1;
    return inside === TOKEN.open || inside === TOKEN.other || inside === TOKEN.none ? 0 : 2;
  }
  if (next === TOKEN.from) {
    let after = at + 2;
    for (let count = 0; count < 4 && kindAt(after) === TOKEN.dot; count++) after += 2;
    const ends = kindAt(after);
    if (kindAt(at + 1) === TOKEN.meta) return 2;
    if (ends === TOKEN.where || ends === TOKEN.limit || ends === TOKEN.lineComment) return 2;
    if (ends === TOKEN.name || ends === TOKEN.connect || ends === TOKEN.other) return 0;
    return 1;
  }
  return 0;
}

/** Items of a list, operands of an item and words after one that are read. */
const itemsMax = 16;
const operandsMax = 12;
const wordsMax = 3;

/**
 * Whether what follows `select` is a list of expressions that names alone are not: `a || b`,
 * `-a from t`, `a as b from t`, `(a) from t`. Cost: a bounded number of tokens.
 */
export function isExpressionList(from: number): boolean {
  let at = from;
  for (let count = 0; count < wordsMax && kindAt(at) === TOKEN.quantity; count++) at++;
  for (let count = 0; count < itemsMax; count++) {
    const item = readItem(at);
    if (item.end === 0) return false;
    const next = kindAt(item.end);
    if (next === TOKEN.from) return isTable(item.end + 1);
    if (next !== TOKEN.comma) return !item.isName && endsQuery(next);
    at = item.end + 1;
  }
  return true;
}

/** One item: the token after it, 0 where none is; whether it is names only. */
function readItem(from: number): { readonly end: number; readonly isName: boolean } {
  let type = readOperandOrName(from);
  let end = readEnd;
  for (let count = 0; count < operandsMax && type !== OPERAND.none; count++) {
    const operator = operatorEnd(end);
    if (operator === 0 || readOperandOrName(operator) === OPERAND.none) break;
    end = readEnd;
    type = OPERAND.function;
  }
  if (type === OPERAND.none) return { end: 0, isName: false };
  for (let count = 0; count < wordsMax && isWord(kindAt(end)); count++) end++;
  return { end, isName: type === OPERAND.name };
}

/** Token after the operand that was read last. */
let readEnd = 0;

/** An operand, a name that SQL has a meaning for, or one in square brackets. */
function readOperandOrName(from: number): number {
  const kind = kindAt(from);
  if (kind === TOKEN.object || kind === TOKEN.meta || isBracket(from, 0x5b)) {
    readEnd = kind === TOKEN.other && isBracket(from + 2, 0x5d) ? from + 3 : from + 1;
    return OPERAND.name;
  }
  // `\N` of MySQL is null.
  if (isBracket(from, 0x5c) && tokens.text.charAt(tokens.start[from]! + 1) === 'N') {
    readEnd = from + 2;
    return OPERAND.constant;
  }
  // `{x 1}` of MySQL is 1.
  const isBraced = isBracket(from, 0x7b) && kindAt(from + 1) === TOKEN.name;
  const type = readTerm(isBraced ? from + 2 : from);
  readEnd = isBraced && isBracket(readTo, 0x7d) ? readTo + 1 : readTo;
  for (let count = 0; count < 4 && kindAt(readEnd) === TOKEN.close; count++) readEnd++;
  return type;
}

function isBracket(at: number, code: number): boolean {
  return kindAt(at) === TOKEN.other && tokens.text.charCodeAt(tokens.start[at]!) === code;
}

/** Token after an operator: a sign, `||`, `::` of a type; 0 where none is. */
function operatorEnd(at: number): number {
  const kind = kindAt(at);
  if (kind === TOKEN.arithmetic || kind === TOKEN.compare) return at + 1;
  if (kind === TOKEN.connect && tokens.text.charCodeAt(tokens.start[at]!) === 0x7c) return at + 1;
  return isBracket(at, 0x3a) && isBracket(at + 1, 0x3a) ? at + 2 : 0;
}

function isWord(kind: number): boolean {
  return kind === TOKEN.as || kind === TOKEN.name || kind === TOKEN.object;
}

function isTable(at: number): boolean {
  const kind = kindAt(at);
  if (kind === TOKEN.quote || kind === TOKEN.open || kind === TOKEN.meta) return true;
  return kind === TOKEN.name || kind === TOKEN.object || isBracket(at, 0x5b);
}

/** Whether a kind of token ends a query, or what it asks for. */
function endsQuery(kind: number): boolean {
  switch (kind) {
    case TOKEN.none:
    case TOKEN.lineComment:
    case TOKEN.semicolon:
    case TOKEN.close:
    case TOKEN.into:
    case TOKEN.where:
    case TOKEN.union:
    case TOKEN.order:
    case TOKEN.limit:
      return true;
    default:
      return false;
  }
}

/**
 * Shapes that leave the value which a query puts a text into: a quote that closes it, or a number,
 * and what continues the query after it.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { Leaf, Report } from '../detector.ts';
import { SQL } from './facts.table.ts';
import {
  CONDITION,
  hit,
  isInOwnQuery,
  isServerVariable,
  kindAt,
  readCondition,
  readTo,
  tokens,
} from './operands.ts';
import { statementAt } from './statements.ts';
import { TOKEN } from './words.ts';

/** Quotes of each sort that were seen: an odd one closes what the query opened. */
let singles = 0;
let doubles = 0;
let backticks = 0;
/** By quote whether the text begins it as a program does a string with a statement. */
let inProgram = { single: false, double: false };

/** Begins another reading of tokens. */
export function beginQuotes(): void {
  singles = 0;
  doubles = 0;
  backticks = 0;
  inProgram = { single: false, double: false };
}

/** What a connective without a quote before it adds: `1 or 1=1`. */
export function searchConnect(leaf: Leaf, at: number, report: Report): void {
  const before = kindAt(at - 1);
  const value = before === TOKEN.number || before === TOKEN.close || before === TOKEN.name;
  const other = before === TOKEN.constant || before === TOKEN.variable || at === 0;
  if (!value && !other) return;
  const condition = readCondition(at + 1);
  const to = readTo - 1;
  if (beginsQuery(at)) {
    searchCut(leaf, at - 1, at, report);
    // `0) or 1 or (1`, `1 or a is not null`.
    const opened = before === TOKEN.close && kindAt(tokens.count - 2) === TOKEN.open;
    const last = kindAt(tokens.count - 1) === TOKEN.semicolon ? tokens.count - 1 : tokens.count;
    const whole = condition === CONDITION.loose && readTo >= last;
    if (opened || whole) hit(report, SQL.booleanNumber, at, tokens.count - 1);
  }
  // Two comparisons are a sentence of mathematics as well.
  const compared = kindAt(at - 2) === TOKEN.compare && beginsSentence(at - 3);
  if (condition === CONDITION.firm) {
    const told = compared || isSum(leaf, at) || isSaid(leaf, at) || isInOwnQuery(at);
    hit(report, told ? SQL.looseBoolean : SQL.booleanNumber, at, to);
  } else if (condition === CONDITION.bare) {
    if (before === TOKEN.number && kindAt(readTo) === TOKEN.lineComment) {
      hit(report, SQL.booleanNumber, at, to + 1);
    }
  } else if (condition === CONDITION.loose && isWord(leaf, at)) {
    hit(report, SQL.looseBoolean, at, to);
  }
}

/** Whether what a comparison begins with stands at the start, or after a word. */
function beginsSentence(at: number): boolean {
  const kind = kindAt(at);
  if (kind !== TOKEN.number && kind !== TOKEN.name && kind !== TOKEN.constant) return false;
  const before = kindAt(at - 1);
  if (before === TOKEN.name) return kindAt(at - 2) === TOKEN.name || kindAt(at - 2) === TOKEN.none;
  return before === TOKEN.none || before === TOKEN.ifWord;
}

const sum = /^(\d{1,6}) and (\d{1,6}) (?:=|is) (\d{1,7})(?!\w|\.\d)/i;

/**
 * A sum in words, `1 and 1 = 2`, `3 and 4 is 7`: as a condition it is false, whatever the query
 * looks for.
 */
function isSum({ text }: Leaf, at: number): boolean {
  const before = at === 0 ? 0 : tokens.start[at - 1]!;
  const [, one, other, all] = sum.exec(text.slice(before, before + 32)) ?? [];
  // `0 and 4 = 4` is true.
  return Number(one) > 0 && Number(one) + Number(other) === Number(all);
}

const said = /^\d{1,6} and \d{1,6} is (?:not )?\d{1,7}(?!\w|\.\d)/i;

/** What follows a word, `is always true and`, or such a word and a number: no query has that. */
function isSaid({ text }: Leaf, at: number): boolean {
  if (kindAt(at - 2) !== TOKEN.name) return false;
  if (kindAt(at - 1) === TOKEN.constant) return kindAt(at - 3) === TOKEN.compareWord;
  const before = tokens.start[at - 1]!;
  return said.test(text.slice(before, before + 32));
}

/** A number, perhaps with closing brackets, is all that stands before a token. */
function beginsQuery(at: number): boolean {
  let first = at - 1;
  for (let count = 0; count < 8 && kindAt(first) === TOKEN.close; count++) first--;
  if (kindAt(first) !== TOKEN.number) return false;
  return first === 0 || (first === 1 && kindAt(0) === TOKEN.arithmetic);
}

function isWord(leaf: Leaf, at: number): boolean {
  const code = leaf.text.charCodeAt(tokens.start[at]!) | 0x20;
  return code >= 0x61 && code <= 0x7a;
}

/** What follows a quote. */
export function searchQuote(leaf: Leaf, at: number, report: Report): void {
  const { text } = leaf;
  const start = tokens.start[at]!;
  const char = text.charCodeAt(start);
  const next = kindAt(at + 1);
  // An apostrophe inside a word, unless what follows is a connective.
  if (char === 0x27 && next !== TOKEN.connect && isInsideWord(text, start)) return;
  if (char === 0x60) {
    if (++backticks % 2 === 1 && next === TOKEN.connect) searchCut(leaf, at, at + 1, report);
    return;
  }
  const odd = (char === 0x27 ? ++singles : ++doubles) % 2 === 1;
  let after = at + 1;
  for (let count = 0; count < 8 && kindAt(after) === TOKEN.close; count++) after++;
  const kind = kindAt(after);
  const sort = char === 0x27 ? 'single' : 'double';
  if ((char === 0x27 ? singles : doubles) === 1) inProgram[sort] = beginsStatement(text, at);
  if (
    kind === TOKEN.connect &&
    odd &&
    inProgram[sort] &&
    afterSign.test(text.slice(Math.max(0, start - 8), start))
  ) {
    hit(report, SQL.looseBoolean, at, after);
  } else if (kind === TOKEN.connect) searchCondition(leaf, at, after, odd, report);
  else if (kind === TOKEN.lineComment || (odd && text.startsWith('/*', start + 1))) {
    if (odd && endsQuery(text, at, after)) hit(report, SQL.commentTail, at, after);
  } else if (kind === TOKEN.semicolon && kindAt(after + 1) === TOKEN.lineComment) {
    if (odd && endsQuery(text, at, after + 1)) hit(report, SQL.commentTail, at, after + 1);
  } else if (odd && statementAt(leaf, after) === 2) {
    // A second query without a semicolon gives its rows to nobody.
    const idle = kind === TOKEN.select || beginsLiteral(text, start);
    hit(report, idle ? SQL.statement : SQL.stacked, at, after + 3);
  } else searchOperator(at, after, odd, report);
  if (odd) searchCut(leaf, at, after, report);
}

const afterSign = /[=(+.,:&][ \t]{0,4}$/;

/**
 * Whether the first quote of a text begins a string of a program with a statement. Where it closed
 * the string of a query, no statement could follow without a sign, nor a string after that.
 */
function beginsStatement(text: ByteString, quote: number): boolean {
  const kind = kindAt(quote + 1);
  if (kind !== TOKEN.select && kind !== TOKEN.update && kind !== TOKEN.delete) return false;
  const start = tokens.start[quote]!;
  return afterSign.test(text.slice(Math.max(0, start - 8), start));
}

const beforeLiteral = /^$|[\s(=:,[{>+]/;
const afterLiteral = /^(?:$|[\s),;.\]}:+])/;

/**
 * Whether a quote begins a string of program text that holds a whole statement: nothing but blanks
 * or signs stand before it, no blank after it, and its end quote is followed by a sign.
 */
function beginsLiteral(text: ByteString, start: number): boolean {
  if (!beforeLiteral.test(text.charAt(start - 1)) || !/\w/.test(text.charAt(start + 1)))
    return false;
  const close = text.indexOf(text.charAt(start), start + 1);
  if (close < 0 || /[\s=(,]/.test(text.charAt(close - 1))) return false;
  return afterLiteral.test(text.charAt(close + 1));
}

/** Tokens between a quote and the comment that ends the query after it. */
const cutReach = 14;

/** An end quote, an operator or a clause, and a comment to the end of the text: `'=0#`. */
function searchCut(leaf: Leaf, quote: number, at: number, report: Report): void {
  const kind = kindAt(at);
  const connects = kind === TOKEN.connect;
  if (!connects && !cuts.has(kind)) return;
  for (let end = at + 1; end < at + cutReach; end++) {
    switch (kindAt(end)) {
      case TOKEN.none:
        return;
      case TOKEN.lineComment:
        if (endsQuery(leaf.text, quote, end)) hit(report, SQL.commentTail, quote, end);
        return;
      case TOKEN.name:
        // Sentences continue after a quote with names.
        if (!connects) return;
        break;
      default:
    }
  }
}

const cuts: ReadonlySet<number> = new Set([
  ...[TOKEN.arithmetic, TOKEN.compare, TOKEN.compareWord, TOKEN.limit, TOKEN.having, TOKEN.union],
  ...[TOKEN.order, TOKEN.group, TOKEN.into, TOKEN.procedure],
]);

function isInsideWord(text: string, at: number): boolean {
  return /\w/.test(text.charAt(at - 1)) && /[a-z]/i.test(text.charAt(at + 1));
}

/** A value that is one name up to an apostrophe; digits before one may be feet. */
const nameAlone = /^(?=[^']{0,63}[a-z_])[\w.@+-]{1,64}'$/i;

/** `--` and `#` that little follows, or that follow one name; `/*` that does not end. */
function endsQuery(text: string, quote: number, comment: number): boolean {
  if (kindAt(comment) !== TOKEN.lineComment) {
    return text.startsWith('/*', tokens.start[quote]! + 1) && !text.includes('*/');
  }
  const end = tokens.end[comment]!;
  const rest = text.slice(end, end + 40).replace(/^\/\*[^*]{0,16}\*\//, '');
  if (/^\w{0,3}$/.test(rest) || (/^[\s+-]/.test(rest) && rest.trim().length < 12)) return true;
  const isComment = text.charCodeAt(end - 1) === 0x23 || /^\s/.test(rest);
  return isComment && nameAlone.test(text.slice(0, Math.min(66, tokens.end[quote]!)));
}

function searchCondition(leaf: Leaf, quote: number, at: number, odd: boolean, to: Report): void {
  const condition = readCondition(at + 1);
  const end = readTo - 1;
  if (condition === CONDITION.none) return;
  const word = isWord(leaf, at);
  // Where a string of the text's own query ends, that query continues.
  const own = !odd && isInOwnQuery(at);
  if (condition === CONDITION.firm) hit(to, own ? SQL.looseBoolean : SQL.boolean, quote, end);
  else if (condition === CONDITION.bare) {
    // `de l'Or 5`: an apostrophe inside a word.
    const inWord = isInsideWord(leaf.text, tokens.start[quote]!);
    if (inWord && kindAt(readTo) !== TOKEN.lineComment) hit(to, SQL.looseBoolean, quote, end);
    else if (odd && (word || kindAt(readTo) === TOKEN.lineComment))
      hit(to, SQL.boolean, quote, end);
  } else if (odd && word) hit(to, SQL.boolean, quote, end);
  else hit(to, SQL.looseBoolean, quote, end);
}

function searchOperator(quote: number, at: number, odd: boolean, report: Report): void {
  const kind = kindAt(at);
  if (kind !== TOKEN.arithmetic && kind !== TOKEN.compare && kind !== TOKEN.compareWord) return;
  const after = kindAt(at + 1);
  if (after === TOKEN.quote) hit(report, SQL.quotedOperator, quote, at + 1);
  // `' glob '*`, `'+@@version+'`: the text begins by closing a quote.
  const joins = kind === TOKEN.compareWord && after === TOKEN.quote;
  if (odd && quote <= 1 && (joins || isServerVariable(at + 1))) {
    hit(report, SQL.boolean, quote, at + 1);
  }
  const called = kindAt(at + 2) === TOKEN.open;
  const known = after === TOKEN.valueFunction || after === TOKEN.attackFunction;
  if (odd && called && (known || after === TOKEN.sleep)) {
    hit(report, after === TOKEN.sleep ? SQL.time : SQL.boolean, quote, at + 2);
  }
}

/**
 * The family of SQL: shapes of tokens that pieces of queries have and texts have not. Works on one
 * reading of the leaf; each shape looks at a bounded number of tokens.
 */

import { SEEN } from '../bytes-seen.ts';
import type { Family, Leaf, Report } from '../detector.ts';
import { textKinds } from '../patterns.ts';
import { executablePattern, SQL, sqlDetectors } from './facts.table.ts';
import { CONDITION, kindAt, readCondition, readTo, selectList, tokens } from './operands.ts';
import { commandAt, statementAt } from './statements.ts';
import { TOKEN } from './words.ts';

/** The family of SQL. */
export const sql: Family = {
  name: 'sql',
  needs: [
    SEEN.quote,
    SEEN.doubleQuote,
    SEEN.paren,
    SEEN.equals,
    SEEN.semicolon,
    SEEN.blank | SEEN.digit,
    SEEN.star,
    SEEN.blank,
    SEEN.lineEnd,
  ],
  literals: [],
  kinds: textKinds,
  detectors: sqlDetectors,
  find: (leaf, _searches, report) => {
    for (let from = 0; from < leaf.text.length; from = tokens.stopped) {
      tokens.read(leaf.text, from);
      searchTokens(leaf, report);
      if (tokens.executable) findExecutable(leaf, report);
      if (tokens.stopped <= from) return;
    }
  },
};

function findExecutable(leaf: Leaf, report: Report): void {
  executablePattern.lastIndex = 0;
  const found = executablePattern.exec(leaf.text);
  if (found === null) return;
  report.add(SQL.executableComment, found.index, found.index + found[0].length);
}

function hit(report: Report, id: number, first: number, last: number): void {
  const end = Math.min(Math.max(first, last), tokens.count - 1);
  report.add(id, tokens.start[first]!, tokens.end[end]!);
}

/** Quotes of each sort that were seen: an odd one closes what the query opened. */
let singles = 0;
let doubles = 0;
let backticks = 0;

function searchTokens(leaf: Leaf, report: Report): void {
  singles = 0;
  doubles = 0;
  backticks = 0;
  for (let at = 0; at < tokens.count; at++) {
    const kind = tokens.kind[at]!;
    if (kind === TOKEN.name) continue;
    switch (kind) {
      case TOKEN.quote:
        searchQuote(leaf, at, report);
        break;
      case TOKEN.union:
        searchUnion(at, report);
        break;
      case TOKEN.select:
        searchSelect(leaf, at, report);
        break;
      case TOKEN.semicolon:
        if (statementAt(leaf, at + 1) === 2 || (endsValue(at) && commandAt(leaf, at + 1))) {
          hit(report, SQL.stacked, at, at + 4);
        }
        break;
      case TOKEN.connect:
        searchConnect(leaf, at, report);
        break;
      case TOKEN.order:
      case TOKEN.group:
      case TOKEN.having:
        searchOrder(at, report);
        break;
      default:
        searchWord(leaf, at, report);
    }
  }
}

/** A value that may end before a semicolon: a number or an end quote near the start of the text. */
function endsValue(at: number): boolean {
  if (at > 6) return false;
  let before = at - 1;
  for (let count = 0; count < 4 && kindAt(before) === TOKEN.close; count++) before--;
  return kindAt(before) === TOKEN.number || kindAt(before) === TOKEN.quote;
}

function searchWord(leaf: Leaf, at: number, report: Report): void {
  const next = kindAt(at + 1);
  switch (tokens.kind[at]!) {
    case TOKEN.sleep:
      if (next === TOKEN.open && (sleepsInSql(at) || endsInComment(at)))
        hit(report, SQL.time, at, at + 3);
      break;
    case TOKEN.waitfor:
      if (next === TOKEN.delay) {
        const after = kindAt(at + 2);
        if (after === TOKEN.quote || after === TOKEN.variable) hit(report, SQL.time, at, at + 3);
      }
      break;
    case TOKEN.attackFunction:
    case TOKEN.geometry:
      searchFunction(at, report);
      break;
    case TOKEN.meta:
      if (next === TOKEN.dot || leaf.text.charAt(tokens.start[at]! + 5) !== '') {
        searchMeta(leaf, at, report);
      }
      break;
    case TOKEN.variable:
      if (/^@@[a-z]/i.test(leaf.text.slice(tokens.start[at]!, tokens.start[at]! + 3))) {
        hit(report, SQL.meta, at, at);
      }
      break;
    case TOKEN.outfile:
      if (kindAt(at - 1) === TOKEN.into && next === TOKEN.quote) {
        hit(report, SQL.files, at - 1, at + 1);
      }
      break;
    case TOKEN.loadFile:
      searchLoadFile(at, report);
      break;
    case TOKEN.procedure:
      if (next === TOKEN.name && kindAt(at + 2) === TOKEN.open) searchProcedure(leaf, at, report);
      break;
    case TOKEN.copy:
      searchCopy(leaf, at, report);
      break;
    case TOKEN.caseWord:
    case TOKEN.ifWord:
      searchConditional(at, report);
      break;
    case TOKEN.insert:
    case TOKEN.update:
    case TOKEN.delete:
    case TOKEN.define:
    case TOKEN.execute:
    case TOKEN.declare:
      if (statementAt(leaf, at) > 0) hit(report, SQL.statement, at, at + 3);
      break;
    case TOKEN.number:
      // SQL Server needs no semicolon between statements.
      if (at === 0 && statementAt(leaf, at + 1) === 2) hit(report, SQL.stacked, at, at + 4);
      break;
    default:
  }
}

function searchUnion(at: number, report: Report): void {
  let next = at + 1;
  for (let count = 0; count < 3 && kindAt(next) === TOKEN.quantity; count++) next++;
  for (let count = 0; count < 8 && kindAt(next) === TOKEN.open; count++) next++;
  const kind = kindAt(next);
  if (kind === TOKEN.values && kindAt(next + 1) === TOKEN.open) {
    const inside = kindAt(next + 2);
    const constant = inside === TOKEN.number || inside === TOKEN.constant;
    if (constant || inside === TOKEN.quote) hit(report, SQL.union, at, next + 1);
  }
  if (kind !== TOKEN.select) return;
  // The list of `union all select` may follow in another value.
  const cut = next > at + 1 && kindAt(next + 1) === TOKEN.none;
  if (cut || selectList(next + 1) > 0) hit(report, SQL.union, at, next + 1);
}

/** MySQL's clause `procedure` with the function that servers have. */
function searchProcedure({ text }: Leaf, at: number, report: Report): void {
  const name = text.slice(tokens.start[at + 1], tokens.end[at + 1]);
  if (/^analy[sz]e$/i.test(name)) hit(report, SQL.attackFunction, at, at + 2);
}

/** A call with a number, and a comment that ends the query: `sleep(5)#`. */
function endsInComment(at: number): boolean {
  let end = at + 3;
  if (kindAt(at + 2) !== TOKEN.number || kindAt(end) !== TOKEN.close) return false;
  for (let count = 0; count < 8 && kindAt(end) === TOKEN.close; count++) end++;
  return kindAt(end) === TOKEN.lineComment && kindAt(end + 2) === TOKEN.none;
}

/** A query of a meta table or of a variable of the server as the whole value: its end, or 0. */
function metaAt({ text }: Leaf): number {
  if (text.length > 160) return 0;
  if (isServerVariable(1) && text.startsWith('@@', tokens.start[1]) && tokens.count < 4) return 1;
  for (let at = 2; at < 24; at++) {
    if (kindAt(at) !== TOKEN.from) continue;
    const word = text.slice(tokens.start[at + 1], tokens.end[at + 1]).toLowerCase();
    return kindAt(at + 1) === TOKEN.meta || word === 'dual' ? at + 1 : 0;
  }
  return 0;
}

function searchSelect(leaf: Leaf, at: number, report: Report): void {
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
  if (statement || first === TOKEN.insert || (list === 1 && before === TOKEN.name)) {
    hit(report, SQL.statement, at - 1, at + 3);
  } else hit(report, SQL.subselect, at - 1, at + 2);
}

function searchConnect(leaf: Leaf, at: number, report: Report): void {
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
    const whole = condition === CONDITION.loose && readTo >= tokens.count;
    if (opened || whole) hit(report, SQL.booleanNumber, at, tokens.count - 1);
  }
  // Two comparisons from the start on are a sentence of mathematics as well.
  const compared = at === 3 && kindAt(1) === TOKEN.compare;
  if (condition === CONDITION.firm) {
    hit(report, compared ? SQL.looseBoolean : SQL.booleanNumber, at, to);
  } else if (condition === CONDITION.bare) {
    if (before === TOKEN.number && kindAt(readTo) === TOKEN.lineComment) {
      hit(report, SQL.booleanNumber, at, to + 1);
    }
  } else if (condition === CONDITION.loose && isWord(leaf, at)) {
    hit(report, SQL.looseBoolean, at, to);
  }
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

function searchQuote(leaf: Leaf, at: number, report: Report): void {
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
  if (kind === TOKEN.connect) searchCondition(leaf, at, after, odd, report);
  else if (kind === TOKEN.lineComment || (odd && text.startsWith('/*', start + 1))) {
    if (odd && endsQuery(text, at, after)) hit(report, SQL.commentTail, at, after);
  } else if (kind === TOKEN.semicolon && kindAt(after + 1) === TOKEN.lineComment) {
    if (odd && endsQuery(text, at, after + 1)) hit(report, SQL.commentTail, at, after + 1);
  } else if (odd && statementAt(leaf, after) === 2) hit(report, SQL.stacked, at, after + 3);
  else searchOperator(at, after, odd, report);
  if (odd) searchCut(leaf, at, after, report);
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
  if (condition === CONDITION.firm) hit(to, SQL.boolean, quote, end);
  else if (condition === CONDITION.bare) {
    if (odd && (word || kindAt(readTo) === TOKEN.lineComment)) hit(to, SQL.boolean, quote, end);
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

function isServerVariable(at: number): boolean {
  return kindAt(at) === TOKEN.variable && tokens.end[at]! - tokens.start[at]! > 3;
}

function searchOrder(at: number, report: Report): void {
  const before = kindAt(at - 1);
  const closes = before === TOKEN.quote || before === TOKEN.close || before === TOKEN.number;
  if (tokens.kind[at] === TOKEN.having) {
    const condition = readCondition(at + 1);
    if (condition === CONDITION.firm) hit(report, SQL.orderBy, at, readTo - 1);
    return;
  }
  if (!closes || kindAt(at + 1) !== TOKEN.by || kindAt(at + 2) !== TOKEN.number) return;
  const after = kindAt(at + 3);
  const ends = after === TOKEN.none || after === TOKEN.lineComment || after === TOKEN.semicolon;
  const list = after === TOKEN.comma && kindAt(at + 4) === TOKEN.number;
  if (ends || list) hit(report, SQL.orderBy, at - 1, at + 3);
}

function sleepsInSql(at: number): boolean {
  if (kindAt(at + 2) !== TOKEN.number && kindAt(at + 2) !== TOKEN.open) return false;
  let before = at - 1;
  for (let count = 0; count < 8 && kindAt(before) === TOKEN.open; count++) before--;
  const farther = kindAt(before - 1);
  switch (kindAt(before)) {
    case TOKEN.select:
    case TOKEN.thenWord:
    case TOKEN.having:
    case TOKEN.where:
    case TOKEN.by:
    case TOKEN.compareWord:
      return true;
    case TOKEN.connect:
    case TOKEN.arithmetic:
      return (
        farther === TOKEN.quote ||
        farther === TOKEN.number ||
        farther === TOKEN.close ||
        (tokens.end[before]! - tokens.start[before]! > 2 && kindAt(at + 4) !== TOKEN.semicolon)
      );
    case TOKEN.comma:
      for (let far = before; far > before - 10; far--) {
        if (kindAt(far) === TOKEN.ifWord) return true;
      }
      return false;
    default:
      return false;
  }
}

function searchFunction(at: number, report: Report): void {
  const next = kindAt(at + 1);
  const before = kindAt(at - 1);
  if (next === TOKEN.dot && kindAt(at + 2) === TOKEN.attackFunction) {
    hit(report, SQL.attackFunction, at, at + 2);
    return;
  }
  const executes = before === TOKEN.execute || before === TOKEN.dot;
  if (next === TOKEN.quote && executes) hit(report, SQL.attackFunction, at - 1, at + 1);
  if (next !== TOKEN.open) return;
  let inside = at + 2;
  for (let count = 0; count < 4 && kindAt(inside) === TOKEN.open; count++) inside++;
  const kind = kindAt(inside);
  if (tokens.kind[at] === TOKEN.geometry) {
    if (kind === TOKEN.select) hit(report, SQL.attackFunction, at, inside);
    return;
  }
  if (kind === TOKEN.name || kind === TOKEN.other || kind === TOKEN.close) return;
  if (kind !== TOKEN.none) hit(report, SQL.attackFunction, at, inside);
}

function searchMeta(leaf: Leaf, at: number, report: Report): void {
  const word = leaf.text.slice(tokens.start[at]!, tokens.end[at]!).toLowerCase();
  const dotted = kindAt(at + 1) === TOKEN.dot;
  if ((word === 'mysql' || word === 'information_schema' || word === 'pg_catalog') && !dotted) {
    return;
  }
  hit(report, SQL.meta, at, at + (dotted ? 2 : 0));
}

function searchLoadFile(at: number, report: Report): void {
  if (kindAt(at + 1) !== TOKEN.open) return;
  const inside = kindAt(at + 2);
  if (inside === TOKEN.quote || inside === TOKEN.number || inside === TOKEN.valueFunction) {
    hit(report, SQL.files, at, at + 2);
  }
}

function searchCopy(leaf: Leaf, at: number, report: Report): void {
  for (let from = at + 2; from < at + 12; from++) {
    if (kindAt(from) !== TOKEN.from || kindAt(from + 2) !== TOKEN.quote) continue;
    const word = leaf.text.slice(tokens.start[from + 1], tokens.end[from + 1]);
    if (word.toLowerCase() === 'program') hit(report, SQL.files, at, from + 2);
    return;
  }
}

function searchConditional(at: number, report: Report): void {
  if (tokens.kind[at] === TOKEN.ifWord) {
    if (kindAt(at + 1) !== TOKEN.open) return;
    const condition = readCondition(at + 2);
    const end = readTo;
    if (condition === CONDITION.firm && kindAt(end) === TOKEN.comma) {
      hit(report, SQL.conditional, at, end);
    }
    return;
  }
  for (let when = at + 1; when < at + 6; when++) {
    if (kindAt(when) !== TOKEN.when) continue;
    if (readCondition(when + 1) === CONDITION.firm) {
      if (kindAt(readTo) === TOKEN.thenWord || kindAt(readTo) === TOKEN.none) {
        hit(report, SQL.conditional, at, readTo);
      }
    }
    return;
  }
}

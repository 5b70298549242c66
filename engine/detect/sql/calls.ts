/** Shapes of calls: functions that wait, read files or describe the database, and conditionals. */

import type { Leaf, Report } from '../detector.ts';
import { SQL } from './facts.table.ts';
import { CONDITION, hit, kindAt, readCondition, readTo, tokens } from './operands.ts';
import { TOKEN } from './words.ts';

/** A call with a number, and a comment that ends the query: `sleep(5)#`. */
export function endsInComment(at: number): boolean {
  let end = at + 3;
  if (kindAt(at + 2) !== TOKEN.number || kindAt(end) !== TOKEN.close) return false;
  for (let count = 0; count < 8 && kindAt(end) === TOKEN.close; count++) end++;
  if (kindAt(end) !== TOKEN.lineComment) return false;
  // A blank before a comment is the style of programs.
  const alone = at === 0 && tokens.start[end] === tokens.end[end - 1];
  return alone || kindAt(end + 2) === TOKEN.none;
}

/** A call that waits, where a query has a value. */
export function sleepsInSql(at: number): boolean {
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

/** Calls of functions that attacks use. */
export function searchFunction(leaf: Leaf, at: number, report: Report): void {
  const next = kindAt(at + 1);
  const before = kindAt(at - 1);
  if (next === TOKEN.dot && kindAt(at + 2) === TOKEN.attackFunction) {
    hit(report, SQL.attackFunction, at, at + 2);
    return;
  }
  // Packages of Oracle: `dbms_xmlgen.getxml(`.
  if (next === TOKEN.dot && kindAt(at + 3) === TOKEN.open && before !== TOKEN.dot) {
    hit(report, SQL.attackFunction, at, at + 3);
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
  // One call in another is none of a sentence: `xml2clob(xmlelement(`.
  const nested = kind === TOKEN.name && kindAt(inside + 1) === TOKEN.open;
  if (nested && isAttackAlone(leaf, at)) hit(report, SQL.attackFunction, at, inside + 1);
  if (kind === TOKEN.name || kind === TOKEN.other || kind === TOKEN.close) return;
  if (kind !== TOKEN.none) hit(report, SQL.attackFunction, at, inside);
}

/** Whether a function has a name of databases alone; those of programs measure, too. */
function isAttackAlone({ text }: Leaf, at: number): boolean {
  return !/^(?:benchmark|dblink|user_lock)$/i.test(text.slice(tokens.start[at], tokens.end[at]));
}

/** Tables that describe the database. */
export function searchMeta(leaf: Leaf, at: number, report: Report): void {
  const word = leaf.text.slice(tokens.start[at]!, tokens.end[at]!).toLowerCase();
  const dotted = kindAt(at + 1) === TOKEN.dot;
  if ((word === 'mysql' || word === 'information_schema' || word === 'pg_catalog') && !dotted) {
    return;
  }
  hit(report, SQL.meta, at, at + (dotted ? 2 : 0));
}

/** A call that reads a file. */
export function searchLoadFile(at: number, report: Report): void {
  if (kindAt(at + 1) !== TOKEN.open) return;
  const inside = kindAt(at + 2);
  if (inside === TOKEN.quote || inside === TOKEN.number || inside === TOKEN.valueFunction) {
    hit(report, SQL.files, at, at + 2);
  }
}

/** `copy ... from program` of PostgreSQL. */
export function searchCopy(leaf: Leaf, at: number, report: Report): void {
  for (let from = at + 2; from < at + 12; from++) {
    if (kindAt(from) !== TOKEN.from || kindAt(from + 2) !== TOKEN.quote) continue;
    const word = leaf.text.slice(tokens.start[from + 1], tokens.end[from + 1]);
    if (word.toLowerCase() === 'program') hit(report, SQL.files, at, from + 2);
    return;
  }
}

/** `if` and `case` with a condition that compares constants. */
export function searchConditional(at: number, report: Report): void {
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

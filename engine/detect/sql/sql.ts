/**
 * The family of SQL: shapes of tokens that pieces of queries have and texts have not. Chooses by
 * each token who looks at what follows; each shape looks at a bounded number of tokens.
 */

import { SEEN } from '../bytes-seen.ts';
import type { Family, Leaf, Report } from '../detector.ts';
import { textKinds } from '../patterns.ts';
import { beginQuotes, searchConnect, searchQuote } from './breakouts.ts';
import {
  endsInComment,
  searchConditional,
  searchCopy,
  searchFunction,
  searchLoadFile,
  searchMeta,
  sleepsInSql,
} from './calls.ts';
import { searchOrder, searchProcedure, searchSelect, searchUnion } from './clauses.ts';
import { executablePattern, SQL, sqlDetectors } from './facts.table.ts';
import { hit, kindAt, tokens } from './operands.ts';
import { commandAt, endsOwnStatement, statementAt } from './statements.ts';
import { tellingWords, TOKEN } from './words.ts';

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
  literals: [tellingWords],
  marks:
    SEEN.quote |
    SEEN.doubleQuote |
    SEEN.backtick |
    SEEN.paren |
    SEEN.equals |
    SEEN.less |
    SEEN.greater |
    SEEN.semicolon |
    SEEN.pipe |
    SEEN.ampersand |
    SEEN.hash |
    SEEN.at |
    SEEN.bang |
    SEEN.star |
    SEEN.digit,
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

function searchTokens(leaf: Leaf, report: Report): void {
  beginQuotes();
  for (let at = 0; at < tokens.count; at++) {
    const kind = tokens.kind[at]!;
    if (kind === TOKEN.name) continue;
    switch (kind) {
      case TOKEN.quote:
        searchQuote(leaf, at, report);
        break;
      case TOKEN.union:
        searchUnion(leaf, at, report);
        break;
      case TOKEN.select:
        searchSelect(leaf, at, report);
        break;
      case TOKEN.semicolon:
        searchStacked(leaf, at, report);
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

/** What a semicolon adds; after a statement of the text itself, it is the next of a script. */
function searchStacked(leaf: Leaf, at: number, report: Report): void {
  const stacks = statementAt(leaf, at + 1) === 2;
  if (!stacks && !(endsValue(at) && commandAt(leaf, at + 1))) return;
  hit(report, endsOwnStatement(leaf, at) ? SQL.statement : SQL.stacked, at, at + 4);
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
      searchFunction(leaf, at, report);
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

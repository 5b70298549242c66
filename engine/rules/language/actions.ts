/** The grammar of action lists: `name`, `name:value`, `name:'quoted'`, parted by commas. */

import type { ByteString } from '../../../base/byte-string.ts';
import { seclangLimits } from '../../../base/rule-limits.ts';
import type { ActionExpression } from './ast.ts';
import { quoteForMessage, type Report } from './diagnostic.ts';
import { findClosingQuote, unescapeQuotes, wordSpan, wordToken, type Word } from './words.ts';

/**
 * Reads an action list; empty entries (a doubled or trailing comma) are passed over.
 * Errors: reported; null when any action could not be read.
 */
export function parseActions(word: Word, report: Report): ActionExpression[] | null {
  const { text } = word;
  const actions: ActionExpression[] = [];
  let failed = false;
  let at = 0;
  while (at < text.length) {
    if (/[\s,]/.test(text[at] ?? '')) {
      at += 1;
      continue;
    }
    const end = endOfAction(text, at);
    const action = end < 0 ? reportQuote(word, at, report) : parseAction(word, at, end, report);
    if (action === null) failed = true;
    else actions.push(action);
    if (end < 0 || actions.length > seclangLimits.actionsMax) break;
    at = end + 1;
  }
  if (actions.length > seclangLimits.actionsMax) {
    const message = `more than ${seclangLimits.actionsMax} actions in one list`;
    report('error', 'too-many-actions', message, wordSpan(word, 0, text.length));
    return null;
  }
  return failed ? null : actions;
}

function reportQuote(word: Word, at: number, report: Report): null {
  const message = "missing closing ' quote in an action";
  report('error', 'unterminated-quote', message, wordSpan(word, at, word.text.length));
  return null;
}

/**
 * Offset of the comma that ends the action at `start`, or the end of the text; -1 when a quote does
 * not end. A quote opens where a value or a part of one begins: after `:`, `=` or `;`.
 */
function endOfAction(text: ByteString, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== ',') {
    if (text[at] === "'" && /[:=;]/.test(text[at - 1] ?? '') && at > start) {
      at = findClosingQuote(text, at);
      if (at < 0) return -1;
    }
    at += 1;
  }
  return at;
}

function parseAction(
  word: Word,
  start: number,
  end: number,
  report: Report,
): ActionExpression | null {
  const { text } = word;
  let to = end;
  while (to > start && /\s/.test(text[to - 1] ?? '')) to -= 1;
  let nameEnd = start;
  while (nameEnd < to && /[A-Za-z0-9_-]/.test(text[nameEnd] ?? '')) nameEnd += 1;
  const span = wordSpan(word, start, to);
  const colon = nameEnd + (/^\s*/.exec(text.slice(nameEnd, to))?.[0].length ?? 0);
  if (nameEnd === start || (nameEnd < to && text[colon] !== ':')) {
    const shown = quoteForMessage(text.slice(start, to));
    report('error', 'expected-action', `expected an action, got ${shown}`, span);
    return null;
  }
  const name = wordToken(word, start, nameEnd);
  if (nameEnd === to) return { name, value: null, quoted: false, span };
  return readValue(word, name, colon + 1, to, span, report);
}

function readValue(
  word: Word,
  name: ActionExpression['name'],
  start: number,
  to: number,
  span: ActionExpression['span'],
  report: Report,
): ActionExpression | null {
  const { text } = word;
  let from = start;
  while (from < to && /\s/.test(text[from] ?? '')) from += 1;
  if (text[from] !== "'" || from >= to) {
    return { name, value: wordToken(word, from, to), quoted: false, span };
  }
  const close = findClosingQuote(text, from);
  if (close !== to - 1) {
    const rest = wordSpan(word, close < 0 ? from : close + 1, to);
    report('error', 'text-after-quote', 'expected a comma after the closing quote', rest);
    return null;
  }
  const inner = wordToken(word, from + 1, close);
  return { name, value: { ...inner, text: unescapeQuotes(inner.text) }, quoted: true, span };
}

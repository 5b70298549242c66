/**
 * The evaluation of one rule with its chain, the obvious way: every value through every
 * transformation into the operator. Never decides what a match means for the rules after it.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { matchName } from '../transaction/matching.ts';
import { pcreSearches, type Transaction } from '../transaction/transaction.ts';
import type { Rule } from '../transaction/types.ts';
import { selectCandidates, type Candidate } from './select.ts';
import { showBytes, traceLink, type Trace } from './trace.ts';

/** Captures kept in TX. */
const capturesMax = 10;

/**
 * True when the rule and all its links match. MATCHED_VAR(S), captures and the actions of each link
 * take effect at each match, whether or not the links after it match.
 */
export function evaluateRule(rule: Rule, tx: Transaction, trace: Trace): boolean {
  const { stopped } = pcreSearches;
  const matched = evaluateChain(rule, tx, trace);
  if (pcreSearches.stopped !== stopped) tx.notePcreLimit(rule.id);
  return matched;
}

function evaluateChain(rule: Rule, tx: Transaction, trace: Trace): boolean {
  tx.rule = rule;
  tx.scoreAdded = 0;
  tx.matchedVariables = [];
  for (let link: Rule | null = rule; link !== null; link = link.next) {
    traceLink(trace, link);
    const matched = evaluateLink(link, tx, trace);
    trace(4, () => `Rule returned ${Number(matched)}.`, matched ? 'link matched' : 'link failed');
    if (!matched) return false;
  }
  return true;
}

function evaluateLink(link: Rule, tx: Transaction, trace: Trace): boolean {
  if (link.operator === null) {
    for (const action of link.actions) action.run(tx, link);
    return true;
  }
  let matched = false;
  for (const target of link.targets) {
    for (const candidate of selectCandidates(link, target, tx)) {
      for (const value of transformedValues(link, candidate.value, trace)) {
        if (testValue(link, candidate, value, tx, trace)) matched = true;
      }
    }
  }
  return matched;
}

/** The value after all transformations; with multiMatch the original and every changed value. */
function transformedValues(link: Rule, original: ByteString, trace: Trace): ByteString[] {
  const values = [original];
  let value = original;
  for (const transformation of link.transformations) {
    const next = transformation.apply(value);
    if (next !== value) values.push(next);
    value = next;
    trace(9, () => ` T (0) t:${transformation.name}: "${showBytes(next)}"`);
  }
  return link.multiMatch ? values : [value];
}

function testValue(
  link: Rule,
  candidate: Candidate,
  value: ByteString,
  tx: Transaction,
  trace: Trace,
): boolean {
  const name = matchName(candidate.target, candidate.key);
  trace(9, () => `Target value: "${showBytes(value)}" (Variable: ${name.replace(/^&/, '')})`);
  const captures: ByteString[] = [];
  const found = link.operator?.evaluate(value, tx, link.capture ? captures : null) ?? true;
  if (found === link.negated) return false;
  tx.matchedVariable = value;
  tx.matchedVariableName = name;
  tx.matchedVariables.push({ key: name, value });
  if (link.capture && !link.negated) keepCaptures(link, captures, tx, trace);
  for (const action of link.actions) action.run(tx, link);
  return true;
}

/** TX.0 to TX.9; what a shorter match leaves over is removed, no capture at all changes nothing. */
function keepCaptures(
  link: Rule,
  captures: readonly ByteString[],
  tx: Transaction,
  trace: Trace,
): void {
  if (captures.length === 0) return;
  for (let i = 0; i < capturesMax; i++) {
    const text = captures[i];
    if (text === undefined) {
      tx.tx.delete(String(i));
      continue;
    }
    tx.tx.set(String(i), text);
    trace(7, () => `Added regex subexpression TX.${i}: ${showBytes(text)}`);
    trace(7, () => `Added ${link.operator?.definition.name} match TX.${i}: ${showBytes(text)}`);
  }
}

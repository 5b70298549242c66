/**
 * The exact evaluation of one rule: its targets, exclusions, transformations and operator, and
 * what a match leaves in the transaction. Candidate rules look only at the rows where the scanner
 * hit; all others look at every value.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import { nameIs } from '../transaction/ascii.ts';
import { lowerBytes } from '../transaction/macro.ts';
import { keepCaptures, noteMatch } from '../transaction/matching.ts';
import {
  isCountExcluded,
  isExcluded as isCovered,
  removedTargetsOf,
} from '../transaction/removal.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { BoundAction, Rule, Target } from '../transaction/types.ts';
import type { Entry } from '../transaction/values.ts';
import type { RulePlan } from '../plan/rule-plan.ts';
import type { Prescan } from './prescan.ts';
import { leavePossible } from './possible-locations.ts';
import { transform, transformAt, valueAt } from './transformed-values.ts';

const captures: ByteString[] = [];
const noCaptures: readonly ByteString[] = [];
const locations: number[] = [];

/**
 * Evaluates a rule that was scanned for, on the rows that were hit. True when one matched.
 * Cost: where only the last captures are read, two searches for captures whatever number of rows
 * matches, and none else where a hit is a match.
 */
export function evaluateCandidate(
  tx: Transaction,
  rule: Rule,
  targetId: number,
  scan: Prescan,
  plan: RulePlan,
): boolean {
  const hitIsMatch = plan.hitIsMatch[targetId] === 1;
  const lastCaptures = plan.lastCaptures[targetId] === 1;
  const count = scan.locationsOf(targetId, locations);
  if (hitIsMatch && plan.lastMatches[targetId] === 1 && !(rule.capture && !lastCaptures)) {
    if (count > ruleRunLimits.reportedVariablesMax) return evaluateMany(tx, rule, count);
  }
  const left = hitIsMatch ? count : leavePossible(tx, rule, locations, count);
  let matches = 0;
  for (const target of rule.targets) {
    const removed = removedTargetsOf(rule, tx);
    for (let i = 0; i < left; i++) {
      const location = locations[i]!;
      if (!covers(tx, target, location)) continue;
      const key = tx.values.key(location >> 1);
      if (!selects(target, key) || isExcluded(rule, removed, target, key)) continue;
      const captures = rule.capture && !(lastCaptures && matches > 0);
      if (hitIsMatch && !captures) {
        noteMatch(tx, rule, target, key, transformAt(tx, rule, location), noCaptures);
      } else if (!evaluateLocation(tx, rule, target, key, location, captures)) continue;
      matches++;
    }
  }
  if (lastCaptures && matches > 1) captureLast(tx, rule);
  return matches > 0;
}

const manyTargets: Target[] = [];
const manyLocations: number[] = [];

/**
 * The same for a rule where a hit is a match and only the last matches are read: of the others only
 * the actions are run. A thousand arguments may match dozens of rules each. `locations` holds
 * `count` hits.
 */
function evaluateMany(tx: Transaction, rule: Rule, count: number): boolean {
  let found = 0;
  for (const target of rule.targets) {
    const removed = removedTargetsOf(rule, tx);
    for (let i = 0; i < count; i++) {
      const location = locations[i]!;
      if (!covers(tx, target, location)) continue;
      const key = tx.values.key(location >> 1);
      if (!selects(target, key) || isExcluded(rule, removed, target, key)) continue;
      manyTargets[found] = target;
      manyLocations[found++] = location;
    }
  }
  const shownFrom = found - ruleRunLimits.reportedVariablesMax;
  let matches = 0;
  for (let i = 0; i < found; i++) {
    const captures = rule.capture && matches === 0;
    if (i < shownFrom && !captures) {
      if (repeatsItself(rule)) {
        for (const action of rule.actions) action.runTimes!(tx, rule, shownFrom - i);
        matches += shownFrom - i;
        i = shownFrom - 1;
        continue;
      }
      for (const action of rule.actions) action.run(tx, rule);
    } else {
      const target = manyTargets[i]!;
      const key = tx.values.key(manyLocations[i]! >> 1);
      const location = manyLocations[i]!;
      if (!captures) {
        noteMatch(tx, rule, target, key, transformAt(tx, rule, location), noCaptures);
      } else if (!evaluateLocation(tx, rule, target, key, location, true)) continue;
    }
    matches++;
  }
  if (rule.capture && matches > 1) captureLast(tx, rule);
  return matches > 0;
}

const repeating = new WeakMap<Rule, boolean>();

/** Whether runs of its actions at many matches come to one of each with their number. */
function repeatsItself(rule: Rule): boolean {
  let answer = repeating.get(rule);
  if (answer === undefined) repeating.set(rule, (answer = areApart(rule.actions)));
  return answer;
}

/** All can be run many times at once, and none reads or writes what another one writes. */
function areApart(actions: readonly BoundAction[]): boolean {
  const written = actions.map(({ effect }) =>
    effect?.kind === 'setTx' ? effect.name.literal : null,
  );
  if (new Set(written).size < actions.length) return false;
  return actions.every((action) => {
    const { effect } = action;
    if (action.runTimes === undefined || effect?.kind !== 'setTx') return false;
    return effect.value.parts.every(
      (part) => typeof part === 'string' || !written.includes(part.key),
    );
  });
}

/** Searches the value that matched last once more, for what it captures. */
function captureLast(tx: Transaction, rule: Rule): void {
  tx.spend();
  if (captures.length > 0) captures.length = 0;
  rule.operator!.evaluate(tx.matchedVariable, tx, captures);
  keepCaptures(tx, captures);
}

/** Evaluates a rule or chain link on every value of its targets. True when one matched. */
export function evaluateTargets(tx: Transaction, rule: Rule): boolean {
  if (rule.operator === null) {
    noteMatch(tx, rule, null, '', '', noCaptures);
    return true;
  }
  let matched = false;
  for (const target of rule.targets) {
    if (evaluateTarget(tx, rule, target)) matched = true;
  }
  return matched;
}

function evaluateTarget(tx: Transaction, rule: Rule, target: Target): boolean {
  const { variable, selector } = target;
  // Read once a target: what its own matches remove shows at the next one.
  const removed = removedTargetsOf(rule, tx);
  if (target.count) {
    if (isCountExcluded(rule.exclusions, target) || isCountExcluded(removed, target)) return false;
    return evaluateValue(tx, rule, target, '', String(countOf(tx, rule, target)));
  }
  if (variable.rows && selector?.kind !== 'xpath') return evaluateRows(tx, rule, target, removed);
  let matched = false;
  for (const { key, value } of entriesOf(tx, rule, target)) {
    if (!selects(target, key) || isExcluded(rule, removed, target, key)) continue;
    if (evaluateValue(tx, rule, target, key, value)) matched = true;
  }
  return matched;
}

function evaluateRows(
  tx: Transaction,
  rule: Rule,
  target: Target,
  removed: readonly Target[],
): boolean {
  const { sources, rowPart } = target.variable.rows!;
  const { values } = tx;
  const wanted = target.selector?.kind === 'key' ? target.selector.key : null;
  let matched = false;
  for (const source of sources) {
    const rows = values.rowsOf(source);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      const { slab, keyStart, keyEnd } = values;
      if (wanted !== null && !nameIs(slab, keyStart[row]!, keyEnd[row]!, wanted)) continue;
      const key = values.key(row);
      if (!selects(target, key) || isExcluded(rule, removed, target, key)) continue;
      const location = 2 * row + (rowPart === 'key' ? 1 : 0);
      if (evaluateLocation(tx, rule, target, key, location, rule.capture)) matched = true;
    }
  }
  return matched;
}

/** The number of entries; exclusions do not change it. */
function countOf(tx: Transaction, rule: Rule, target: Target): number {
  const { variable, selector } = target;
  if (selector === null && variable.count) return variable.count(tx);
  if (selector === null) return variable.entries(tx).length;
  let count = 0;
  for (const { key } of entriesOf(tx, rule, target)) if (selects(target, key)) count++;
  return count;
}

function entriesOf(tx: Transaction, rule: Rule, { variable, selector }: Target): readonly Entry[] {
  if (selector?.kind === 'key' && variable.lookup) return variable.lookup(tx, selector.key);
  if (selector?.kind === 'xpath' && variable.select) {
    return variable.select(tx, selector.text, rule.namespaces);
  }
  if (selector?.kind === 'regex' && variable.name === 'TX') return tx.tx.matching(selector.regex);
  return variable.entries(tx);
}

function evaluateLocation(
  tx: Transaction,
  rule: Rule,
  target: Target,
  key: ByteString,
  location: number,
  capture: boolean,
): boolean {
  if (rule.multiMatch) {
    return evaluateStages(tx, rule, target, key, valueAt(tx, location), capture);
  }
  return evaluateOne(tx, rule, target, key, transformAt(tx, rule, location), capture);
}

function evaluateValue(
  tx: Transaction,
  rule: Rule,
  target: Target,
  key: ByteString,
  value: ByteString,
): boolean {
  const { capture } = rule;
  if (rule.multiMatch) return evaluateStages(tx, rule, target, key, value, capture);
  return evaluateOne(tx, rule, target, key, transform(rule, value), capture);
}

/**
 * multiMatch: the value itself and every transformation result that differs from the one before.
 */
function evaluateStages(
  tx: Transaction,
  rule: Rule,
  target: Target,
  key: ByteString,
  value: ByteString,
  capture: boolean,
): boolean {
  let matched = evaluateOne(tx, rule, target, key, value, capture);
  let current = value;
  for (const transformation of rule.transformations) {
    const next = transformation.apply(current);
    if (next === current) continue;
    current = next;
    if (evaluateOne(tx, rule, target, key, current, capture)) matched = true;
  }
  return matched;
}

function evaluateOne(
  tx: Transaction,
  rule: Rule,
  target: Target,
  key: ByteString,
  value: ByteString,
  capture: boolean,
): boolean {
  tx.spend();
  if (captures.length > 0) captures.length = 0;
  const hit = rule.operator!.evaluate(value, tx, capture ? captures : null);
  if (hit === rule.negated) return false;
  noteMatch(tx, rule, target, key, value, captures);
  return true;
}

function covers(tx: Transaction, target: Target, location: number): boolean {
  const { sources, rowPart } = target.variable.rows!;
  if ((rowPart === 'key') !== ((location & 1) === 1)) return false;
  return sources.includes(tx.values.source[location >> 1] as (typeof sources)[number]);
}

function selects(target: Target, key: ByteString): boolean {
  const { selector } = target;
  if (selector === null || selector.kind === 'xpath') return true;
  if (selector.kind === 'regex') return selector.regex.test(key);
  return selector.key.length === key.length && selector.key === lowerBytes(key);
}

function isExcluded(
  rule: Rule,
  removed: readonly Target[],
  target: Target,
  key: ByteString,
): boolean {
  if (rule.exclusions.length > 0 && isCovered(rule.exclusions, target, key)) return true;
  return removed.length > 0 && isCovered(removed, target, key);
}

/**
 * Specialized evaluators for links that need one simple thing (a scalar, a TX variable, a count,
 * nothing), as most rules do that run in every transaction. Each answers as the general evaluation
 * in evaluate.ts; what is not simple goes there.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { nameIs } from '../transaction/ascii.ts';
import { keepCaptures, noteMatch } from '../transaction/matching.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { Rule, Target } from '../transaction/types.ts';
import { evaluateTargets } from './evaluate.ts';

/** Evaluates one link on all its targets. True when one matched. */
export type LinkEvaluator = (tx: Transaction) => boolean;

/**
 * The evaluator of a link. `unobserved`: no rule reads MATCHED_* of this rule, so that they need
 * not be kept. Cost of a call: no allocation in specialized evaluators of unobserved links.
 */
export function linkEvaluator(link: Rule, unobserved: boolean): LinkEvaluator {
  const general: LinkEvaluator = (tx) => evaluateTargets(tx, link);
  const { operator, targets, exclusions, multiMatch, transformations } = link;
  if (operator === null)
    return unobserved && !link.capture ? (tx) => runActions(link, tx) : general;
  const [target] = targets;
  if (targets.length !== 1 || exclusions.length > 0 || multiMatch || !target) return general;
  const read = readerOf(target) ?? (transformations.length === 0 ? scalarReader(target) : null);
  if (read === null) return general;
  const ask = asker(link, target, unobserved);
  return (tx) => {
    if (tx.control.removedTargets.length > 0 && concernsVariable(tx, target)) return general(tx);
    const value = read(tx);
    return value !== undefined && ask(tx, value);
  };
}

/** How the target's only value is found; null where there may be more. */
function readerOf(target: Target): ((tx: Transaction) => ByteString | undefined) | null {
  const { variable, selector, count } = target;
  if (selector?.kind !== 'key') return null;
  const { key } = selector;
  if (variable.name === 'TX') {
    return count ? (tx) => (tx.tx.get(key) === undefined ? '0' : '1') : (tx) => tx.tx.get(key);
  }
  if (!count || !variable.rows) return null;
  const { sources } = variable.rows;
  return (tx) => String(countRows(tx, sources, key));
}

/** The same of a scalar; its transformed values may be known to the general evaluation. */
function scalarReader(target: Target): ((tx: Transaction) => ByteString | undefined) | null {
  const { variable, selector, count } = target;
  if (variable.read === undefined || selector !== null || count) return null;
  return (tx) => variable.read?.(tx) ?? undefined;
}

function countRows(tx: Transaction, sources: readonly number[], key: ByteString): number {
  const { values } = tx;
  let found = 0;
  for (let s = 0; s < sources.length; s++) {
    const rows = values.rowsOf(sources[s] as Parameters<typeof values.rowsOf>[0]);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      if (nameIs(values.slab, values.keyStart[row]!, values.keyEnd[row]!, key)) found++;
    }
  }
  return found;
}

function asker(
  link: Rule,
  target: Target,
  unobserved: boolean,
): (tx: Transaction, value: ByteString) => boolean {
  const { negated, capture, transformations } = link;
  const operator = link.operator!;
  const captures: ByteString[] = [];
  const key = target.selector?.kind === 'key' && !target.count ? target.selector.key : '';
  return (tx, value) => {
    tx.spend();
    let current = value;
    for (let i = 0; i < transformations.length; i++) current = transformations[i]!.apply(current);
    if (capture && captures.length > 0) captures.length = 0;
    const hit = operator.evaluate(current, tx, capture ? captures : null);
    if (hit === negated) return false;
    if (!unobserved) {
      noteMatch(tx, link, target, key, current, captures);
      return true;
    }
    if (capture) keepCaptures(tx, captures);
    return runActions(link, tx);
  };
}

function runActions(link: Rule, tx: Transaction): true {
  const { actions } = link;
  for (let i = 0; i < actions.length; i++) actions[i]!.run(tx, link);
  return true;
}

function concernsVariable(tx: Transaction, target: Target): boolean {
  const { removedTargets } = tx.control;
  for (let i = 0; i < removedTargets.length; i++) {
    if (removedTargets[i]!.target.variable.name === target.variable.name) return true;
  }
  return false;
}

/**
 * Rules of built-in policies that look at every argument are searched for, all at once: a pattern
 * that the scanner refuses is tried on each value of each request instead, at a third of the cost
 * of a form and half of that of a JSON document.
 */

import { describe, expect, test } from 'vitest';
import type { RulePlan } from '../../engine/rules/plan/rule-plan.ts';
import type { Rule } from '../../engine/rules/transaction/types.ts';
import { rulesetFolders, templateEngine } from './policy-in-process.ts';

const timeoutMs = 10 * 60_000;

/** Rules that are visited in every request. */
function visitedAlways({ phases }: RulePlan): Rule[] {
  return phases.flatMap(({ items, always }) =>
    items.filter((item, at): item is Rule => {
      return item.kind === 'rule' && ((always[at >>> 5]! >>> (at & 31)) & 1) === 1;
    }),
  );
}

/** Whether it looks at as many values as the client sends. */
function looksAtMany({ targets }: Rule): boolean {
  return targets.some(({ variable, selector, count }) => {
    return variable.name.startsWith('ARGS') && variable.rows && selector === null && !count;
  });
}

describe.each(rulesetFolders)('$name', ({ folder }) => {
  test.each(['Light', 'Standard'])(
    '%s tries no rule on every argument of every request',
    async (template) => {
      const engine = await templateEngine(template, folder);
      const rules = visitedAlways(engine.plan);
      expect(rules.length).toBeGreaterThan(5);
      expect(rules.filter(looksAtMany).map(({ id }) => id)).toEqual([]);
      engine.retire();
    },
    timeoutMs,
  );
});

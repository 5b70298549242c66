/**
 * Makes a plan and attaches it in the same thread, by the same way on which plans go to others.
 */

import { runAtOnce } from '../../../base/steps.ts';
import { SharedRules } from '../program/shared-rules.ts';
import type { Program } from '../transaction/types.ts';
import { attachPlan } from './attach-plan.ts';
import { makePlan, type PlanOptions } from './make-plan.ts';
import { readPlanImage, writePlanImage } from './plan-image.ts';
import type { RulePlan } from './rule-plan.ts';

/** Builds the plan of `program`. Cost: seconds when databases are not cached, else some 100 ms. */
export function buildPlan(program: Program, options: PlanOptions): RulePlan {
  const { image, groups } = runAtOnce(makePlan(program, options));
  const texts = new Map(
    program.rules.flatMap(({ dataFiles }) => dataFiles.map(({ name, text }) => [name, text])),
  );
  const attached = attachPlan(readPlanImage(writePlanImage(image)), {
    rules: new SharedRules(),
    tiersOf: (key) => groups.get(key)?.tiers ?? null,
    readDataFile: (name) => texts.get(name) ?? null,
  });
  return runAtOnce(attached);
}

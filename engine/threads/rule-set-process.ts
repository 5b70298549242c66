/**
 * Composition root of the process that measures all rules of a policy's own together: builds them,
 * runs usual requests, reports what the costliest takes, and ends. The process that started it
 * bounds its time.
 */

import { writeFileSync } from 'node:fs';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import type { PolicySource } from '../contract/policy.ts';
import { buildEngine, PolicyError } from '../policies/policy-build.ts';
import type { RuleSetAnswer } from '../rollout/rule-set-trial.ts';
import { measureRuleSet } from '../simulate/rule-set-cost.ts';

try {
  // Where memory runs out, this process goes, not one that serves.
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Only Linux has it, and the time stays bounded without.
}

process.once('message', (source: PolicySource) => {
  process.send!(measure(source));
  process.disconnect();
});

function measure(source: PolicySource): RuleSetAnswer {
  try {
    const engine = buildEngine(source, {
      cache: { get: () => null, put: () => undefined },
      log: silentLogger,
      ports: { clock: systemClock, collections: null, geo: null, rbl: null, env: new Map() },
    });
    return { kind: 'measured', ...measureRuleSet(engine) };
  } catch (thrown) {
    // The policy as a whole was linked before: its rules need those of the ruleset.
    if (thrown instanceof PolicyError) return { kind: 'unlinked' };
    throw thrown;
  }
}

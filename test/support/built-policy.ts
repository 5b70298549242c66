/**
 * Policies that run in the test's own process. What linking and planning them came to is kept with
 * the compiled databases, under the hash of the policy and of the code that plans, as in a node.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createLogger } from '../../base/log.ts';
import { runAtOnce } from '../../base/steps.ts';
import type { PolicySource } from '../../engine/contract/policy.ts';
import { planName, type SharedPlan } from '../../engine/contract/shared-images.ts';
import { addonFile } from '../../engine/match/scan.ts';
import { policyKey } from '../../engine/policies/keyed-policies.ts';
import {
  buildEngineInSteps,
  faultOf,
  keptPolicy,
  planPolicy,
  PolicyError,
} from '../../engine/policies/policy-build.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { DatabaseFiles } from '../../engine/state/database-files.ts';
import { compileAlone, databaseFolder } from './databases.ts';
import { root } from './product.ts';
import { rulePorts } from './rule-ports.ts';

const log = createLogger('test', 'error');
const files = new DatabaseFiles(databaseFolder, log);
/** Names by hashes all compiled code that it needs. */
const planner = path.join(root, '.build', 'engine', 'threads', 'planner-thread.js');
const build = createHash('sha256')
  .update(readFileSync(planner))
  .update(readFileSync(addonFile))
  .digest('hex');

/**
 * The engine of a policy. Files that plan for the first time in the same `turn` do so one after the
 * other. Ownership: the caller retires it. Errors: PolicyError.
 */
export async function builtPolicy(source: PolicySource, turn = source.name): Promise<PolicyEngine> {
  const key = policyKey(source);
  const options = { cache: files, log, ports: rulePorts, build };
  const { diagnostics, shared } =
    keptPolicy(key, options) ??
    (await compileAlone(turn, () => planPolicy({ key, source }, options)));
  if (shared === null) throw new PolicyError([faultOf(source, diagnostics)]);
  const { plan } = shared.get(planName(key)) as SharedPlan;
  const cache = {
    get: (name: string) => files.get(name),
    put: (name: string, bytes: Uint8Array) => files.put(name, bytes),
    shared: (name: string) => {
      const image = shared.get(name);
      return image !== undefined && 'tiers' in image ? image : null;
    },
  };
  return runAtOnce(buildEngineInSteps(source, { ...options, cache }, plan));
}

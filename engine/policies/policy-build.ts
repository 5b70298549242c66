/**
 * Owns the way from a policy's text and files to a running policy engine: reads Includes and data
 * files out of the policy itself, links, plans. Never touches the disk but through the cache port.
 */

import { encodeUtf8, toByteString } from '../base/byte-string.ts';
import { AppError } from '../base/errors.ts';
import { linkLimits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { policyInvalidCode, writePolicyFaults, type PolicyFault } from '../base/policy-faults.ts';
import { runAtOnce, type Steps } from '../base/steps.ts';
import { policyEntryFile } from '../contract/policy.ts';
import type { PolicySource } from '../contract/policy.ts';
import { fullCatalog } from '../rules/features/full-catalog.ts';
import type { RulePorts } from '../rules/transaction/ports.ts';
import type { Diagnostic } from '../rules/language/diagnostic.ts';
import { createFileSet } from '../rules/language/file-set.ts';
import { loadInSteps } from '../rules/language/include.ts';
import type { DatabaseCache } from '../rules/plan/databases.ts';
import { buildPlanInSteps } from '../rules/plan/rule-plan.ts';
import { buildProgramInSteps } from '../rules/program/build-program.ts';
import type { BuildResult } from '../rules/program/build-program.ts';
import { PolicyEngine } from '../rules/run/policy-engine.ts';

/** What building a policy needs from outside. */
export interface BuildOptions {
  readonly cache: DatabaseCache;
  readonly log: Logger;
  readonly ports: RulePorts;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Policies that do not link; `faults` says where and why. */
export class PolicyError extends AppError {
  readonly faults: readonly PolicyFault[];

  constructor(faults: readonly PolicyFault[]) {
    super(policyInvalidCode, writePolicyFaults(faults, linkLimits.findingsMax), {
      source: 'config',
    });
    this.faults = faults;
  }
}

/** What is wrong with a policy, from what linking it found. */
export function faultOf(policy: PolicySource, diagnostics: readonly Diagnostic[]): PolicyFault {
  const errors = diagnostics.filter((one) => one.severity === 'error');
  return {
    id: policy.id,
    name: policy.name,
    errors: errors.length,
    findings: errors
      .slice(0, linkLimits.findingsMax)
      .map(({ span, message }) => `${span.file}:${span.line}:${span.column}: ${message}`),
  };
}

/** Links a policy; with any error the program is null. Cost: tens of milliseconds for CRS. */
export function linkPolicy(policy: PolicySource): BuildResult {
  return runAtOnce(linkInSteps(policy));
}

function* linkInSteps(policy: PolicySource): Steps<BuildResult> {
  const entry = { path: policyEntryFile, text: encodeUtf8(policy.seclangEntry) };
  const files = createFileSet(
    [...policy.files].map(([path, bytes]) => ({ path, text: toByteString(bytes) })),
  );
  const source = yield* loadInSteps([entry], files.readFiles);
  return yield* buildProgramInSteps(source, fullCatalog, files.readDataFile);
}

/** Builds the engine of a policy. Errors: PolicyError. */
export function buildEngine(policy: PolicySource, options: BuildOptions): PolicyEngine {
  return runAtOnce(buildEngineInSteps(policy, options));
}

/** As `buildEngine`, in steps of some milliseconds at most, for threads that serve meanwhile. */
export function* buildEngineInSteps(
  policy: PolicySource,
  options: BuildOptions,
): Steps<PolicyEngine> {
  const { program, diagnostics } = yield* linkInSteps(policy);
  if (program === null) throw new PolicyError([faultOf(policy, diagnostics)]);
  const plan = yield* buildPlanInSteps(program, options);
  const components = program.settings.componentSignatures.join(', ');
  // Each thread builds it: at the usual level the engine says once what serves.
  options.log.debug('policy is ready', { policy: policy.id, components, ...plan.facts });
  return new PolicyEngine(plan, options.ports);
}

/**
 * The way from a policy's text and files to a running policy engine: reads Includes and data files
 * out of the policy itself, links, plans. Never touches the disk but through the cache port.
 */

import { encodeUtf8, toByteString } from '../../base/byte-string.ts';
import { AppError } from '../../base/errors.ts';
import { linkLimits } from '../base/observation-limits.ts';
import type { Logger } from '../../base/log.ts';
import {
  policyInvalidCode,
  writePolicyFaults,
  type PolicyFault,
} from '../../base/policy-faults.ts';
import { runAtOnce, type Steps } from '../../base/steps.ts';
import { policyEntryFile } from '../contract/policy.ts';
import type { KeyedPolicy, PolicySource } from '../contract/policy.ts';
import { planName, type SharedImage, type SharedImages } from '../contract/shared-images.ts';
import { detectorFile, detectorRules } from '../detect/detector-rules.ts';
import { detectionWith } from './detection.ts';
import { fullCatalog } from '../rules/features/full-catalog.ts';
import type { RulePorts } from '../rules/transaction/ports.ts';
import type { Diagnostic } from '../rules/language/diagnostic.ts';
import { createFileSet, type FileSet } from '../rules/language/file-set.ts';
import { loadInSteps } from '../rules/language/include.ts';
import { attachPlan, databasesMissing } from '../rules/plan/attach-plan.ts';
import { findShared, findTiers, shareGroup, type DatabaseCache } from '../rules/plan/databases.ts';
import { makePlan, type MadePlan } from '../rules/plan/make-plan.ts';
import { planEntryKey, readPlanEntry, writePlanEntry } from '../rules/plan/plan-entry.ts';
import type { PlanEntry } from '../rules/plan/plan-entry.ts';
import { readPlanImage, writePlanImage, type PlanImage } from '../rules/plan/plan-image.ts';
import { buildProgramInSteps, closeProgram } from '../rules/program/build-program.ts';
import type { BuildResult } from '../rules/program/build-program.ts';
import { SharedRules } from '../rules/program/shared-rules.ts';
import type { IdleTransactions } from '../rules/run/idle-transactions.ts';
import { PolicyEngine } from '../rules/run/policy-engine.ts';

/** What building a policy needs from outside. */
export interface BuildOptions {
  readonly cache: DatabaseCache;
  readonly log: Logger;
  readonly ports: RulePorts;
  /** Rules that the policies of a thread share; by default a policy has its own. */
  readonly rules?: SharedRules;
  /** Transactions that the policies of a thread take in turn; by default a policy has its own. */
  readonly transactions?: IdleTransactions;
  readonly onProgress?: (done: number, total: number) => void;
  /** Stands for the code that plans; with it, plans are kept in the cache for later starts. */
  readonly build?: string;
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
  const files = filesOf(policy);
  const source = yield* loadInSteps([entry], files.readFiles);
  return yield* buildProgramInSteps(source, fullCatalog, files.readDataFile);
}

/** A policy's plan, and its databases, in memory that threads share. Errors: PolicyError. */
export interface PlannedPolicy {
  readonly diagnostics: readonly Diagnostic[];
  readonly rules: number;
  /** The plan and its databases by their keys; null where the policy does not link. */
  readonly shared: SharedImages | null;
}

/**
 * Links a policy, unless it is `linked`, and plans it, once for all threads. Ownership: takes the
 * program. Cost: seconds where nothing is cached.
 */
export function planPolicy(
  { key, source }: KeyedPolicy,
  options: BuildOptions,
  linked: BuildResult | null = null,
): PlannedPolicy {
  const { program, diagnostics } = linked ?? linkPolicy(source);
  if (program === null) return { diagnostics, rules: 0, shared: null };
  try {
    const { image, groups } = runAtOnce(makePlan(program, options));
    const shared: [string, SharedImage][] = [...groups].map(([name, group]) => {
      return [name, shareGroup(group)];
    });
    const plan = writePlanImage(image);
    shared.push([planName(key), { plan }]);
    if (options.build !== undefined) {
      const entry = planEntryKey(options.build, key);
      options.cache.put(entry, writePlanEntry(entry, { diagnostics, plan }));
    }
    return { diagnostics, rules: image.facts.rules, shared: new Map(shared) };
  } finally {
    closeProgram(program);
  }
}

/**
 * A policy as this build planned it before, from the cache; null where that, or a database of it,
 * is not there. Cost: reading its databases; nothing is linked.
 */
export function keptPolicy(key: string, options: BuildOptions): PlannedPolicy | null {
  const kept = keptPlan(key, options);
  if (kept === null) return null;
  const { diagnostics, plan, image } = kept;
  const shared: [string, SharedImage][] = [[planName(key), { plan }]];
  for (const { key: group, owners } of image.scan.groups) {
    const found = findShared(group, owners.length, options.cache);
    if (found === null) return null;
    shared.push([group, found]);
  }
  return { diagnostics, rules: image.facts.rules, shared: new Map(shared) };
}

/** What linking a policy found when this build planned it; null where no plan of it is kept. */
export function keptFindings(
  key: string,
  options: BuildOptions,
): Pick<PlannedPolicy, 'diagnostics' | 'rules'> | null {
  const kept = keptPlan(key, options);
  return kept && { diagnostics: kept.diagnostics, rules: kept.image.facts.rules };
}

/** The plan of a policy that this build planned before, from the cache; null where none is kept. */
export function keptPlanOf(key: string, options: BuildOptions): SharedArrayBuffer | null {
  return keptPlan(key, options)?.plan ?? null;
}

function keptPlan(
  key: string,
  { build, cache, log }: BuildOptions,
): (PlanEntry & { readonly image: PlanImage }) | null {
  if (build === undefined) return null;
  const name = planEntryKey(build, key);
  const bytes = cache.get(name);
  if (bytes === null) return null;
  const entry = readPlanEntry(name, bytes);
  if (entry === null) {
    log.warn('a kept plan is damaged or foreign; planning the policy again', { key: name });
  }
  return entry && { ...entry, image: readPlanImage(entry.plan) };
}

/** The files of a policy; each becomes text when it is read. */
function filesOf({ files }: PolicySource): FileSet {
  const sources = [...files].map(([path, bytes]) => {
    return {
      path,
      get text() {
        return toByteString(bytes);
      },
    };
  });
  // The program's own; a policy that asks for no score does not include it.
  return createFileSet([...sources, { path: detectorFile, text: detectorRules }]);
}

/** Builds the engine of a policy. Errors: PolicyError. */
export function buildEngine(policy: PolicySource, options: BuildOptions): PolicyEngine {
  return runAtOnce(buildEngineInSteps(policy, options, null));
}

/**
 * As `buildEngine`, in steps of some milliseconds at most, for threads that serve meanwhile.
 * Where `plan` is given and its databases are at hand, nothing is linked here.
 */
export function* buildEngineInSteps(
  policy: PolicySource,
  options: BuildOptions,
  plan: SharedArrayBuffer | null,
): Steps<PolicyEngine> {
  if (plan !== null) {
    try {
      return yield* engineOf(policy, options, plan, new Map());
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== databasesMissing) throw thrown;
      options.log.warn('databases of a plan are gone; making them again', { policy: policy.id });
    }
  }
  const { program, diagnostics } = yield* linkInSteps(policy);
  if (program === null) throw new PolicyError([faultOf(policy, diagnostics)]);
  const { image, groups } = yield* makePlan(program, options);
  closeProgram(program);
  return yield* engineOf(policy, options, writePlanImage(image), groups);
}

/** `groups` are databases that were made just now. */
function* engineOf(
  policy: PolicySource,
  { rules = new SharedRules(), transactions, ports, cache, log }: BuildOptions,
  plan: SharedArrayBuffer,
  groups: MadePlan['groups'],
): Steps<PolicyEngine> {
  const attached = yield* attachPlan(readPlanImage(plan), {
    rules,
    tiersOf: (key) => groups.get(key)?.tiers ?? findTiers(key, cache),
    readDataFile: filesOf(policy).readDataFile,
  });
  const components = attached.settings.componentSignatures.join(', ');
  // Each thread builds it: at the usual level the engine says once what serves.
  log.debug('policy is ready', { policy: policy.id, components, ...attached.facts });
  const { decision, scoreWeights } = attached.settings;
  const detection = decision === 'crs' ? null : detectionWith(scoreWeights);
  return new PolicyEngine(attached, ports, transactions, detection);
}

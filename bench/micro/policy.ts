/** The policy that micro benchmarks run: CRS with the text of the whole-proxy benchmark. */

import { mkdirSync } from 'node:fs';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import type { PolicySource } from '../../engine/contract/policy.ts';
import { buildEngine, type BuildOptions } from '../../engine/policies/policy-build.ts';
import type { RulePorts } from '../../engine/rules/transaction/ports.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { DatabaseFiles } from '../../engine/state/database-files.ts';
import { policyFiles, policyText, type Ruleset } from '../e2e/ruleset.ts';

/** Ports that answer nothing: persistence and country data are measured elsewhere. */
export const emptyPorts: RulePorts = {
  clock: systemClock,
  collections: null,
  geo: null,
  rbl: null,
  env: new Map(),
};

/** The policy with all files that it includes, under the paths that its text names. */
export function policySource(ruleset: Ruleset): PolicySource {
  const { name, title } = ruleset;
  const seclangEntry = policyText(ruleset, '/tmp');
  return { id: name, name: title, revision: '1', seclangEntry, files: policyFiles(ruleset) };
}

/** What building needs; compiled databases stay in `cacheFolder`. */
export function buildOptions(cacheFolder: string): BuildOptions {
  mkdirSync(cacheFolder, { recursive: true });
  const log = createLogger('bench', 'error');
  return { cache: new DatabaseFiles(cacheFolder, log), log, ports: emptyPorts };
}

/** Builds the engine of a rule set. Cost: a minute when nothing is cached. */
export function buildPolicy(ruleset: Ruleset, cacheFolder: string): PolicyEngine {
  return buildEngine(policySource(ruleset), buildOptions(cacheFolder));
}

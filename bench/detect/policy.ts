/** The policies that the bench judges: a built-in template on a ruleset, deciding by score. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import {
  builtInCrsFolder,
  readRulesetFolder,
} from '../../control/publish/rulesets/ruleset-folder.ts';
import { buildEngine } from '../../engine/policies/policy-build.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { buildOptions } from '../micro/policy.ts';

/** Rulesets by the names of their weights. */
export const rulesetNames = ['crs4', 'crs3', 'none'] as const;

/** One of them. */
export type RulesetName = (typeof rulesetNames)[number];

/** What a policy is made of. */
export interface PolicyChoice {
  /** For example `Light`. */
  readonly template: string;
  readonly ruleset: RulesetName;
  /** An unpacked CRS 4 release. */
  readonly crs4: string;
  readonly cacheFolder: string;
}

/** A built policy and the version of its ruleset; '' for none. */
export interface JudgedPolicy {
  readonly engine: PolicyEngine;
  readonly version: string;
}

/** Builds it. Errors: no such template, no such ruleset. Cost: a minute when nothing is cached. */
export function buildJudgedPolicy(choice: PolicyChoice): JudgedPolicy {
  const { template, ruleset, crs4, cacheFolder } = choice;
  const base = builtInTemplates.find(({ name }) => name === template);
  if (base === undefined) {
    const names = builtInTemplates.map(({ name }) => name).join(', ');
    throw new Error(`--template ${template}: expected one of ${names}`);
  }
  const policy = { ...base, crsCore: { ...base.crsCore, decision: 'DECISION_SCORE' as const } };
  const folder = ruleset === 'none' ? null : ruleset === 'crs4' ? crs4 : builtInCrsFolder;
  if (folder !== null && !existsSync(folder)) throw new Error(`no ruleset in ${folder}`);
  const read = folder === null ? null : readRulesetFolder(folder);
  const { seclang } = renderPolicy(
    policy,
    read === null ? null : { version: read.version, includes: read.includes },
  );
  const files = new Map((read?.files ?? []).map((file) => [file.path, file.content]));
  const source = { id: ruleset, name: template, revision: '1', seclangEntry: seclang, files };
  const engine = buildEngine(source, buildOptions(join(cacheFolder, 'bench-databases')));
  return { engine, version: read?.version ?? '' };
}

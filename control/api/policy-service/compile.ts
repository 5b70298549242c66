/** Asks the engine whether a policy can serve before it is kept. */

import { create } from '@bufbuild/protobuf';
import {
  RuntimePolicySchema,
  type RuntimePolicy,
} from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { encodeUtf8, toByteString } from '../../../base/byte-string.ts';
import { AppError } from '../../../base/errors.ts';
import type { PluginFiles } from '../../domain/policy/crs-plugin-files.ts';
import { renderCustomRule } from '../../domain/policy/custom-rules.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { seclangProblem } from '../../domain/policy/pattern-size.ts';
import type { CustomRuleRecord, PolicyRecord } from '../../domain/records.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { toRuntimePolicy, toRuntimeRuleset } from '../../publish/build-bundle.ts';
import { listFiles } from '../../publish/parts/policy-lists.ts';
import { policyVariant, type PolicyDraft } from '../../publish/parts/policy-variant.ts';
import type { RulesetFile } from '../../publish/rulesets/ruleset-folder.ts';
import { loadRuleset } from '../../publish/rulesets/stored-rulesets.ts';
import type { Uses } from '../context.ts';
import type { PolicyForEngine } from '../engine-client.ts';

const diagnosticsShown = 5;

/** A policy as the engine takes it, with what a site changes in it and what is not kept yet. */
export function forEngine(
  parts: Uses<'store'>,
  policy: PolicyRecord,
  siteId = '',
  draft: PolicyDraft = {},
): PolicyForEngine {
  const ruleset = loadRuleset(parts.store, policy.crsRulesetId);
  const variant = policyVariant(parts.store, policy, siteId, ruleset, draft);
  return {
    policy: toRuntimePolicy(variant),
    ruleset: ruleset === null ? null : toRuntimeRuleset(ruleset),
  };
}

/**
 * Errors: invalid_argument with the first diagnostics when the engine cannot compile the policy.
 * Without an engine the check is left out: the publication reports what it finds.
 */
export function refuseUncompiled(
  parts: Uses<'store' | 'logger' | 'engine'>,
  policy: PolicyRecord,
  field: string,
  draft: PolicyDraft = {},
  siteId = '',
): Promise<void> {
  return refuseSent(parts, forEngine(parts, policy, siteId, draft), field);
}

/**
 * The same for a custom rule: alone, so that its own lines are named, then with all others of its
 * policy. `others` are the rules that stay as they are.
 */
export async function refuseUncompiledRule(
  parts: Uses<'store' | 'logger' | 'engine'>,
  policy: PolicyRecord,
  rule: CustomRuleRecord,
  others: readonly CustomRuleRecord[],
): Promise<void> {
  const field = rule.visualSpec === undefined ? 'rule.seclang' : 'rule.visualSpec';
  const added = { beforeCrs: renderCustomRule({ ...rule, enabled: true }) };
  const files = listFiles(parts.store, [rule]);
  const alone = { id: policy.id, revision: policy.revision, policy, ruleset: null, added, files };
  const sent = toRuntimePolicy(alone);
  const own = sent.seclang.split(added.beforeCrs, 1)[0]?.split('\n').length ?? 1;
  await refuseSent(parts, { policy: sent, ruleset: null }, field, own - 1);
  const draft = { customRules: [...others, { ...rule, enabled: true }] };
  await refuseUncompiled(parts, policy, field, draft, rule.siteId);
}

/** The same for the files of a plugin: compiled alone. */
export function refuseUncompiledFiles(
  parts: Uses<'logger' | 'engine'>,
  id: string,
  plugins: readonly PluginFiles[],
  files: readonly RulesetFile[],
  field: string,
): Promise<void> {
  const paths = (['configs', 'befores', 'afters'] as const).flatMap((place) =>
    plugins.flatMap((plugin) => plugin[place]),
  );
  const seclang = `SecRuleEngine On\n${paths.map((path) => `Include ${path}\n`).join('')}`;
  const policy = create(RuntimePolicySchema, {
    id: `plugin-${id}`,
    name: id,
    revision: 1n,
    seclang,
    files: [...files],
  });
  return refuseSent(parts, { policy, ruleset: null }, field);
}

/**
 * The same for what is sent as it is. `linesBefore`: lines of the policy's own text before those
 * that the caller wrote, which are then named by themselves. `tryRuleset` is for a ruleset that is
 * new here: its patterns are built and searched on trial, as those of custom rules are.
 */
export async function refuseSent(
  parts: Uses<'logger' | 'engine'>,
  policy: PolicyForEngine,
  field: string,
  linesBefore = 0,
  ask: 'compile' | 'tryRuleset' = 'compile',
): Promise<void> {
  const ofRuleset = ask === 'tryRuleset' ? (policy.ruleset?.files ?? []) : [];
  refusePatterns(policy.policy, ofRuleset, field, linesBefore);
  try {
    const { ok, diagnostics } = await parts.engine[ask](policy);
    if (ok) return;
    const errors = diagnostics.filter(({ error }) => error);
    const slow = errors.find(({ code }) => code === 'rules-slow');
    if (slow !== undefined) throw invalidField(field, slow.message);
    const shown = errors
      .slice(0, diagnosticsShown)
      .map((one) => placeOf(one, linesBefore))
      .join('; ');
    throw refusal('invalid_argument', `${field}: the rules do not compile: ${shown}`);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') {
      await refuseUnfinished(parts, field);
      parts.logger.warn('a policy was kept without compiling it: no engine answers');
      return;
    }
    throw error;
  }
}

/** Errors: unavailable when an engine is there that only did not end in time. */
async function refuseUnfinished(parts: Uses<'engine'>, field: string): Promise<void> {
  try {
    await parts.engine.status();
  } catch {
    // No engine at all: the publication reports what it finds.
    return;
  }
  const problem = 'the engine did not finish building the rules in time; nothing was kept';
  throw refusal('unavailable', `${field}: ${problem}`);
}

/** The bound that holds without an engine, too, and keeps the worst away from it. */
function refusePatterns(
  policy: RuntimePolicy,
  ofRuleset: readonly RulesetFile[],
  field: string,
  linesBefore: number,
): void {
  const problem = seclangProblem(encodeUtf8(policy.seclang), linesBefore);
  if (problem !== null) throw invalidField(field, problem);
  for (const { path, content } of [...policy.files, ...ofRuleset]) {
    if (!path.endsWith('.conf')) continue;
    const found = seclangProblem(toByteString(content));
    if (found !== null) throw invalidField(field, `${path}: ${found}`);
  }
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** What is shown of a message: it may quote the caller's own rule; it is cut and printable. */
export function diagnosticText(message: string): string {
  return message.replaceAll(/[^ -~]+/g, ' ').slice(0, resourceLimits.diagnosticCharactersMax);
}

function placeOf({ file, line, column, message }: Place, linesBefore: number): string {
  const text = diagnosticText(message);
  if (linesBefore === 0 || line <= linesBefore) return `${file}:${line}:${column}: ${text}`;
  return `line ${line - linesBefore}, column ${column}: ${text}`;
}

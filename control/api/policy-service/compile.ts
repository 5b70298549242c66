/** Owns asking the engine whether a policy can serve before it is kept. */

import { AppError } from '../../../engine/base/errors.ts';
import { renderCustomRule } from '../../domain/custom-rules.ts';
import { refusal } from '../../domain/errors.ts';
import type { CustomRuleRecord, PolicyRecord } from '../../domain/records.ts';
import { toRuntimePolicy, toRuntimeRuleset } from '../../publish/build-bundle.ts';
import { bundlePolicy } from '../../publish/publisher.ts';
import type { ApiParts } from '../context.ts';
import type { PolicyForEngine } from '../engine-client.ts';

const diagnosticsShown = 5;

/** A policy as the engine takes it, with what a site changes in it. */
export function forEngine(parts: ApiParts, policy: PolicyRecord, siteId = ''): PolicyForEngine {
  const bundled = bundlePolicy(parts.store, policy, siteId);
  return {
    policy: toRuntimePolicy(bundled),
    ruleset: bundled.ruleset === null ? null : toRuntimeRuleset(bundled.ruleset),
  };
}

/**
 * Errors: invalid_argument with the first diagnostics when the engine cannot compile the policy.
 * Without an engine the check is left out: the publication reports what it finds.
 */
export function refuseUncompiled(
  parts: ApiParts,
  policy: PolicyRecord,
  field: string,
): Promise<void> {
  return refuse(parts, forEngine(parts, policy), field);
}

/** The same for a custom rule: compiled alone, in front of the settings of its policy. */
export function refuseUncompiledRule(
  parts: ApiParts,
  policy: PolicyRecord,
  rule: CustomRuleRecord,
): Promise<void> {
  const added = { beforeCrs: renderCustomRule({ ...rule, enabled: true }) };
  const alone = { id: policy.id, revision: policy.revision, policy, ruleset: null, added };
  return refuse(parts, { policy: toRuntimePolicy(alone), ruleset: null }, 'rule.seclang');
}

async function refuse(parts: ApiParts, policy: PolicyForEngine, field: string): Promise<void> {
  try {
    const { ok, diagnostics } = await parts.engine.compile(policy);
    if (ok) return;
    const shown = diagnostics
      .filter(({ error }) => error)
      .slice(0, diagnosticsShown)
      .map(({ file, line, column, code }) => `${file}:${line}:${column} ${code}`)
      .join('; ');
    throw refusal('invalid_argument', `${field}: the rules do not compile: ${shown}`);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') {
      parts.logger.warn('a policy was kept without compiling it: no engine answers');
      return;
    }
    throw error;
  }
}

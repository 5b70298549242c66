/** Owns asking the engine whether a policy can serve before it is kept. */

import { AppError } from '../../../engine/base/errors.ts';
import { refusal } from '../../domain/errors.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { toRuntimePolicy, toRuntimeRuleset } from '../../publish/build-bundle.ts';
import { bundlePolicy } from '../../publish/publisher.ts';
import type { ApiParts } from '../context.ts';
import type { PolicyForEngine } from '../engine-client.ts';

const diagnosticsShown = 5;

/** A policy as the engine takes it. */
export function forEngine(parts: ApiParts, policy: PolicyRecord): PolicyForEngine {
  const bundled = bundlePolicy(parts.store, policy);
  return {
    policy: toRuntimePolicy(bundled),
    ruleset: bundled.ruleset === null ? null : toRuntimeRuleset(bundled.ruleset),
  };
}

/**
 * Errors: invalid_argument with the first diagnostics when the engine cannot compile the policy.
 * Without an engine the check is left out: the publication reports what it finds.
 */
export async function refuseUncompiled(
  parts: ApiParts,
  policy: PolicyRecord,
  field: string,
): Promise<void> {
  try {
    const { ok, diagnostics } = await parts.engine.compile(forEngine(parts, policy));
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

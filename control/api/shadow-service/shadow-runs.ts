/** ShadowService/StartShadowRun, GetShadowRun and StopShadowRun. */

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  GetShadowRunResponseSchema,
  ShadowExampleSchema,
  ShadowRunSchema,
  StartShadowRunResponseSchema,
  StopShadowRunResponseSchema,
  type ShadowRun,
  type ShadowService,
} from '../../../proto/gen/waf/shadow/v1/shadow_pb.ts';
import { invalidField, notFound } from '../../domain/errors.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { isPublished, type ShadowRunRecord } from '../../domain/policy/shadow-runs.ts';
import { rulesets, shadowRuns } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { refuseUncompiled } from '../policy-service/compile.ts';
import { policyKind, refuseTemplate, storedPolicy } from '../policy-service/stored-policy.ts';
import { noteAction } from '../resource/owned.ts';

/** The run of a policy, in audit rows. */
const runKind = { ...policyKind, audit: 'shadow_run' };

/** Begins a run in place of an earlier one. */
export function startShadowRun(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine' | 'counters'>,
): Method<typeof ShadowService, 'startShadowRun'> {
  return async ({ policyId, crsRulesetId, durationSeconds, sharePercent }, context) => {
    const caller = callerOf(context);
    const policy = storedPolicy(parts.store, caller, policyId, 'policyId');
    refuseTemplate(policy);
    if (parts.store.get(rulesets, crsRulesetId) === undefined) {
      throw invalidField('crsRulesetId', 'does not exist');
    }
    if (policy.crsRulesetId === crsRulesetId) {
      throw invalidField('crsRulesetId', 'is the ruleset that the policy has already');
    }
    await refuseUncompiled(parts, { ...policy, crsRulesetId }, 'crsRulesetId');
    const nowMs = parts.clock.nowMs();
    const run = await parts.store.write((tx) => {
      const current = storedPolicy(tx, caller, policyId, 'policyId');
      const record: ShadowRunRecord = {
        id: current.id,
        runId: randomUUID(),
        tenantId: current.tenantId,
        currentRulesetId: current.crsRulesetId,
        crsRulesetId,
        startedAt: new Date(nowMs).toISOString(),
        endsAt: new Date(nowMs + durationSeconds * 1000).toISOString(),
        sharePercent: sharePercent || 100,
        stopped: false,
      };
      tx.put(shadowRuns, record);
      noteAction(tx, caller, runKind, current, 'start', { after: record });
      return record;
    });
    await parts.counters.forgetLearned();
    return create(StartShadowRunResponseSchema, { run: show(parts, policy, run) });
  };
}

/** The last run of a policy. Errors: not_found where none began. */
export function getShadowRun(
  parts: Uses<'store' | 'clock' | 'counters'>,
): Method<typeof ShadowService, 'getShadowRun'> {
  return ({ policyId }, context) => {
    const policy = storedPolicy(parts.store, callerOf(context), policyId, 'policyId');
    const run = parts.store.get(shadowRuns, policy.id);
    if (run === undefined) throw notFound('shadow run', policyId);
    return create(GetShadowRunResponseSchema, { run: show(parts, policy, run) });
  };
}

/** Ends a run; one that is over stays as it is. */
export function stopShadowRun(
  parts: Uses<'store' | 'clock' | 'counters'>,
): Method<typeof ShadowService, 'stopShadowRun'> {
  return async ({ policyId }, context) => {
    const caller = callerOf(context);
    const policy = storedPolicy(parts.store, caller, policyId, 'policyId');
    const now = new Date(parts.clock.nowMs()).toISOString();
    const run = await parts.store.write((tx) => {
      const before = tx.get(shadowRuns, policy.id);
      if (before === undefined) throw notFound('shadow run', policyId);
      if (before.stopped) return before;
      const endsAt = before.endsAt < now ? before.endsAt : now;
      const after = { ...before, endsAt, stopped: true };
      tx.put(shadowRuns, after);
      noteAction(tx, caller, runKind, policy, 'stop', { before, after });
      return after;
    });
    return create(StopShadowRunResponseSchema, { run: show(parts, policy, run) });
  };
}

function show(
  { clock, counters }: Uses<'clock' | 'counters'>,
  policy: PolicyRecord,
  run: ShadowRunRecord,
): ShadowRun {
  const { counts, examples } = counters.shadow(run.runId);
  const countOf = (outcome: string): bigint => BigInt(counts[outcome] ?? 0);
  return create(ShadowRunSchema, {
    id: run.runId,
    policyId: policy.id,
    currentRulesetId: run.currentRulesetId,
    crsRulesetId: run.crsRulesetId,
    startedAt: timestampFromDate(new Date(run.startedAt)),
    endsAt: timestampFromDate(new Date(run.endsAt)),
    running: isPublished(run, policy) && Date.parse(run.endsAt) > clock.nowMs(),
    bothPassed: countOf('both_passed'),
    bothBlocked: countOf('both_blocked'),
    onlyCurrent: countOf('only_current'),
    onlyNew: countOf('only_new'),
    notCompared: countOf('not_compared'),
    sharePercent: run.sharePercent ?? 100,
    notSelected: countOf('not_selected'),
    examples: examples.map(({ outcome, requestId, method, path, ruleIds }) =>
      create(ShadowExampleSchema, {
        onlyNew: outcome === 'only_new',
        ...{ requestId, method, path, ruleIds: [...ruleIds] },
      }),
    ),
  });
}

/** Owns PolicyService/TestPolicy. */

import type { EvaluateResponse } from '../../../proto/gen/waf/runtime/v1/engine_pb.ts';
import type { PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { makeTestRequest } from '../../domain/test-request.ts';
import { severityName } from '../../observe/security-event.ts';
import { callerOf, type ApiParts } from '../context.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { forEngine } from './compile.ts';
import { storedPolicy } from './stored-policy.ts';

/** What a severity is worth under the usual scores; a reference, not what a rule added. */
const scoreOfSeverity: Readonly<Record<number, number>> = { 0: 5, 1: 5, 2: 5, 3: 4, 4: 3, 5: 2 };

/** Runs one request against a policy, in the engine that serves traffic. */
export function testPolicy(parts: ApiParts): Method<typeof PolicyService, 'testPolicy'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const policy = storedPolicy(parts.store, caller, request.policyId, 'policyId');
    let observed = false;
    if (request.siteId !== '') {
      const site = storedSite(parts.store, caller, request.siteId, 'siteId');
      if (site.waf?.enabled !== true || (site.waf.policyId ?? '') !== policy.id) {
        throw invalidField('siteId', 'must name a site with the WAF enabled and this policy');
      }
      observed = site.waf.mode === 'WAF_MODE_DETECTION';
    }
    const made = makeTestRequest(request);
    const asked = forEngine(parts, observed ? recordingOnly(policy) : policy, request.siteId);
    const answer = await parts.engine.evaluate(asked, {
      ...made,
      siteId: request.siteId,
    });
    if (answer.diagnostics.some(({ error }) => error)) {
      throw refusal('failed_precondition', 'policyId: the rules of this policy do not compile');
    }
    return toResult(answer);
  };
}

/** The policy as a site in detection mode runs it. */
function recordingOnly(policy: PolicyRecord): PolicyRecord {
  const acts = (policy.engineState ?? 'ENGINE_STATE_ON') === 'ENGINE_STATE_ON';
  return acts ? { ...policy, engineState: 'ENGINE_STATE_DETECTION_ONLY' } : policy;
}

function toResult(answer: EvaluateResponse) {
  const refused = answer.refusal !== '';
  const matchedRules = answer.matches
    .map((match) => ({
      ruleId: match.ruleId,
      phase: match.phase,
      message: match.message,
      severity: severityName(match.severity),
      tags: match.tags,
      severityScore: scoreOfSeverity[match.severity] ?? 0,
      disruptive: match.ruleId === answer.ruleId,
      file: match.file,
      line: match.line,
    }))
    .sort((left, right) => left.phase - right.phase || left.ruleId - right.ruleId);
  const ids = new Set(matchedRules.map(({ ruleId }) => ruleId));
  return {
    blocked: answer.blocked || refused,
    status: answer.blocked || refused ? answer.status : 200,
    matchedRuleIds: [...ids].sort((left, right) => left - right),
    matchedRules,
    totalInboundScore: answer.inboundScore,
    transaction: {
      phase: answer.phase,
      ruleId: answer.ruleId,
      inboundScore: answer.inboundScore,
      outboundScore: answer.outboundScore,
      detectionOnly: answer.detectionOnly,
      inspectionUs: Number(answer.inspectionUs),
      refusal: answer.refusal,
    },
  };
}

/** PolicyService/TestPolicy. */

import { isIP } from 'node:net';
import type {
  EvaluateResponse,
  GuardStep,
  SecurityMatch,
  SiteAnswer,
} from '../../../proto/gen/waf/runtime/v1/engine_pb.ts';
import type { PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { PolicyRecord, SiteRecord } from '../../domain/records.ts';
import { makeTestRequest, standInClients } from '../../domain/policy/test-request.ts';
import { severityName } from '../../observe/attack-types.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { forEngine } from './compile.ts';
import { storedPolicy } from './stored-policy.ts';

/** What a severity is worth under the usual scores; a reference, not what a rule added. */
const scoreOfSeverity: Readonly<Record<number, number>> = { 0: 5, 1: 5, 2: 5, 3: 4, 4: 3, 5: 2 };

/** Runs one request against a policy, in the engine that serves traffic. */
export function testPolicy(
  parts: Uses<'store' | 'engine'>,
): Method<typeof PolicyService, 'testPolicy'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const policy = storedPolicy(parts.store, caller, request.policyId, 'policyId');
    requireAddress(request.clientIp, 'clientIp');
    requireAddress(request.peerIp, 'peerIp');
    const site = request.siteId === '' ? null : siteUnder(parts.store, caller, policy, request);
    const observed = site?.waf?.mode === 'WAF_MODE_DETECTION';
    const host = site?.primaryHost.replace('*', 'www');
    const described = host === undefined ? request : { ...request, host };
    const asked = forEngine(parts, observed ? recordingOnly(policy) : policy, request.siteId);
    // Where no address is given, none that a list of the site decides about.
    const addresses = request.clientIp === '' ? standInClients : [request.clientIp];
    for (const [at, clientIp] of addresses.entries()) {
      const made = makeTestRequest({ ...described, clientIp });
      const answer = await parts.engine.evaluate(asked, { ...made, siteId: request.siteId });
      if (answer.diagnostics.some(({ error }) => error)) {
        throw refusal('failed_precondition', 'policyId: the rules of this policy do not compile');
      }
      const isLast = at === addresses.length - 1;
      if (isLast || !answer.guards.some(byList)) return toResult(answer, clientIp, site !== null);
    }
    throw new Error('no address to test with');
  };
}

/** Decided because a list holds the client's address. */
function byList({ guard, action, detail }: GuardStep): boolean {
  return guard === 'ip' && action !== '' && !detail.includes(' not in list ');
}

function requireAddress(address: string, field: string): void {
  if (address === '' || isIP(address) !== 0) return;
  throw invalidField(field, 'must be an IPv4 or IPv6 address');
}

/** The site of the request. Errors: invalid_argument unless this policy inspects it. */
function siteUnder(
  store: ReadStore,
  caller: Caller,
  policy: PolicyRecord,
  { siteId }: { readonly siteId: string },
): SiteRecord {
  const site = storedSite(store, caller, siteId, 'siteId');
  const chosen = site.waf?.policyId ?? '';
  const uses = chosen === policy.id || (chosen === '' && policy.isDefault === true);
  if (site.waf?.enabled === true && uses) return site;
  throw invalidField('siteId', 'must name a site with the WAF enabled and this policy');
}

/** The policy as a site in detection mode runs it. */
function recordingOnly(policy: PolicyRecord): PolicyRecord {
  const acts = (policy.engineState ?? 'ENGINE_STATE_ON') === 'ENGINE_STATE_ON';
  return acts ? { ...policy, engineState: 'ENGINE_STATE_DETECTION_ONLY' } : policy;
}

function toResult(answer: EvaluateResponse, clientIp: string, ofSite: boolean) {
  const refused = answer.refusal !== '';
  const matchedRules = answer.matches
    .map((match) => ({
      ruleId: match.ruleId,
      phase: match.phase,
      message: match.message,
      severity: severityName(match.severity),
      tags: match.tags,
      severityScore: scoreOfSeverity[match.severity] ?? 0,
      disruptive: match.disruptive,
      file: match.file,
      line: match.line,
    }))
    .sort((left, right) => left.phase - right.phase || left.ruleId - right.ruleId);
  const ids = new Set(matchedRules.map(({ ruleId }) => ruleId));
  return {
    blocked: answer.blocked || refused,
    status: answer.siteAnswer?.status ?? (answer.blocked || refused ? answer.status : 200),
    matchedRuleIds: [...ids].sort((left, right) => left - right),
    matchedRules,
    totalInboundScore: answer.inboundScore,
    transaction: {
      clientIp,
      phase: answer.phase,
      ruleId: answer.ruleId,
      inboundScore: answer.inboundScore,
      outboundScore: answer.outboundScore,
      detectionOnly: answer.detectionOnly,
      inspectionUs: Number(answer.inspectionUs),
      refusal: answer.refusal,
      guards: answer.guards.map(showGuard),
      ...(answer.siteAnswer !== undefined && { siteAnswer: showSiteAnswer(answer.siteAnswer) }),
      notTried: [...notTried, ...(ofSite ? questionsOfSites : settingsOfSites)],
      trace: answer.matches.map(traceOf),
    },
  };
}

/** What live traffic meets beside that. */
const notTried = [
  'the connection: redirects to HTTPS, 421, proofs for certificate authorities',
  "the origin's answer: phases 3 and 4",
];
const questionsOfSites = [
  'who may enter: services are not asked, certificates of clients not seen',
];
const settingsOfSites = ['settings of a site: guards, API documents, delivery, routes'];

/** What the site answers in place of its origin. */
function showSiteAnswer({ name, status, location }: SiteAnswer) {
  return { name, status, location };
}

/** One guard before the rules: what it saw and decided. */
function showGuard({ guard, saw, action, reason, ruleId, detail, skips, skipped }: GuardStep) {
  return { guard, saw, action, reason, ruleId, detail, skips, skipped };
}

/** One step of the transaction: which rule saw what. */
function traceOf({ ruleId, phase, operator, data, matched }: SecurityMatch) {
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  const variables = matched.map(({ name, value }) => ({ name: text(name), value: text(value) }));
  return { phase, ruleId, operator, data, variables };
}

/** What is known of the rules of a security event, from the policy of its site as it is now. */

import type {
  SecurityEventJson,
  SecurityMessageJson,
  SecurityRuleLinkJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { SentNames } from '../../domain/policy/application-notes.ts';
import { explainBlock, type BlockExplanation } from '../../domain/policy/block-explanation.ts';
import { renderCustomRule } from '../../domain/policy/custom-rules.ts';
import { describeRules, type DescribedRule } from '../../domain/policy/crs-rules.ts';
import { describedOwnRule } from '../../domain/policy/own-rules.ts';
import { describedDetector } from '../../domain/policy/detectors.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { rulesOfRecord } from '../../publish/rulesets/ruleset-rules.ts';
import { customRules, policies, rulesets, sites } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { ours } from '../resource/owned.ts';

/** An event whose rules show their links, and what would have let its request through. */
export interface ExplainedEvent {
  readonly event: SecurityEventJson;
  readonly explanation: BlockExplanation;
}

/** Explains an event of the caller's tenant, with the names that its request sent. */
export function explainEvent(
  store: ReadStore,
  caller: Caller,
  event: SecurityEventJson,
  sent?: SentNames,
): ExplainedEvent {
  const policy = policyOfSite(store, caller.tenantId, event.siteId ?? '');
  const ruleset = policy === undefined ? undefined : store.get(rulesets, policy.crsRulesetId);
  const rules = ruleset === undefined ? [] : rulesOfRecord(store, ruleset).byId;
  const byId = new Map(rules.map((rule) => [rule.ruleId, rule]));
  const custom = policy === undefined ? new Map() : describedCustomRules(store, policy);
  const ruleOf = (id: number): DescribedRule | undefined =>
    byId.get(id) ?? describedDetector(id) ?? describedOwnRule(id);
  const withLinks = (message: SecurityMessageJson): SecurityMessageJson => {
    const id = Number(message.ruleId);
    const links = (custom.get(id) ?? ruleOf(id))?.links.map(showLink) ?? [];
    return links.length === 0 ? message : { ...message, links };
  };
  const messages = event.messages?.map(withLinks);
  return {
    event: messages === undefined ? event : { ...event, messages },
    explanation: explainBlock(event, {
      policyId: policy?.id ?? '',
      policy,
      ruleOf,
      isCustom: (id) => custom.has(Number(id)),
      ...(sent && { sent }),
    }),
  };
}

/** The policy that inspects a site of a tenant now. */
export function policyOfSite(
  store: ReadStore,
  tenantId: string,
  siteId: string,
): PolicyRecord | undefined {
  const site = ours(siteId === '' ? undefined : store.get(sites, siteId), { tenantId });
  if (site?.waf?.enabled !== true) return undefined;
  const chosen = site.waf.policyId ?? '';
  if (chosen !== '') return store.get(policies, chosen);
  return store.list(policies).find((one) => one.isDefault === true && one.isTemplate !== true);
}

function describedCustomRules(
  store: ReadStore,
  policy: PolicyRecord,
): ReadonlyMap<number, DescribedRule> {
  const rules = store.find(customRules, 'policy', policy.id);
  const files = rules.map((rule) => ({
    path: rule.id,
    text: Buffer.from(renderCustomRule({ ...rule, enabled: true })).toString('latin1'),
  }));
  return new Map(describeRules(files, policy.id).map((rule) => [rule.ruleId, rule]));
}

function showLink({ targets, operator, transforms }: DescribedRule['links'][number]) {
  return {
    targets: [...targets],
    operator,
    transformations: [...transforms],
  } satisfies SecurityRuleLinkJson;
}

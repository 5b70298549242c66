/** What a site has at one policy only, and so loses at another: named before it is saved. */

import { createClient } from '@connectrpc/connect';
import { CountryAccessService } from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { CustomRuleService } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { IpListService } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { RateLimitService } from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import {
  RuleOverrideService,
  type RuleOverride,
} from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { allItems } from '../parts/list.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';

const overrides = createClient(RuleOverrideService, transport);
const customRules = createClient(CustomRuleService, transport);
const limits = createClient(RateLimitService, transport);
const lists = createClient(IpListService, transport);
const countries = createClient(CountryAccessService, transport);
const namesShown = 12;

const w = pageTexts({
  leaves: [
    '{count} settings of this site at its present policy lose their effect: {list}.',
    '此站点在当前策略下的 {count} 项设置将失效：{list}。',
  ],
  more: ['and {count} more', '以及另外 {count} 个'],
  exclusion: ['exclusion of rule {id}', '规则 {id} 的排除项'],
  without: ['exclusion of rule {id} for {targets}', '规则 {id} 对 {targets} 的排除项'],
  at: ['{name} at {path}', '{path} 的{name}'],
  tagged: ['{name} ({tags})', '{name}（{tags}）'],
  rule: ['rule {name}', '规则“{name}”'],
  limit: ['rate limit', '频率限制'],
  list: ['address list {name}', '地址列表“{name}”'],
  country: ['country rule {name}', '国家/地区规则“{name}”'],
});

/** What a person has to accept before a site leaves its policy; '' for nothing. */
export async function askBeforeLosing(siteId: string, policyId: string): Promise<string> {
  const isLost = (one: { readonly siteId: string; readonly policyId: string }): boolean =>
    one.siteId === siteId && one.policyId === policyId;
  const [kept, rules, limited, bound, ruled] = await Promise.all([
    allItems((page) => overrides.listRuleOverrides({ policyId, page })),
    allItems((page) => customRules.listCustomRules({ policyId, page })),
    limits.listRateLimitEndpoints({ policyId, siteId }),
    lists.listIpListBindings({ policyId, siteId }),
    countries.listCountryAccessRules({}),
  ]);
  const names = [
    ...kept.filter(isLost).map(nameOf),
    ...rules.filter(isLost).map(({ name }) => w('rule', { name })),
    ...limited.items
      .filter(isLost)
      .map(({ pathPattern }) => w('at', { name: w('limit'), path: pathPattern })),
    ...bound.items
      .filter(isLost)
      .map(({ ipListName, ipListId }) => w('list', { name: ipListName || ipListId })),
    ...ruled.items
      .filter(({ targets }) => targets.some(isLost))
      .map(({ name }) => w('country', { name })),
  ];
  if (names.length === 0) return '';
  const left = names.length - namesShown;
  const shown = [...names.slice(0, namesShown), ...(left > 0 ? [w('more', { count: left })] : [])];
  return w('leaves', { count: names.length, list: shown.join(', ') });
}

/** An exclusion by its rule, what it leaves out, its path, and its labels. */
function nameOf({ crsRuleId: id, removedTargets, scope, tags }: RuleOverride): string {
  const targets = removedTargets.join(' ');
  const name = w(targets === '' ? 'exclusion' : 'without', { id, targets });
  const placed = scope === '' ? name : w('at', { name, path: scope });
  return tags.length === 0 ? placed : w('tagged', { name: placed, tags: tags.join(' ') });
}

/** Every group of rows of the chain, in the order of the specification. */

import type { ChainGroup } from './chain-row.ts';
import { accessGroup } from './rows-access.ts';
import { answerGroup } from './rows-answers.ts';
import { countryGroup } from './rows-countries.ts';
import { httpPolicyGroup } from './rows-http-policy.ts';
import { limitGroup } from './rows-limits.ts';
import { messageGroup } from './rows-messages.ts';
import { policyGroup } from './rows-policy.ts';
import { poolGroup } from './rows-pools.ts';
import { ruleGroup } from './rows-rules.ts';
import { siteGroup } from './rows-sites.ts';
import { trustGroup } from './rows-trust.ts';
import { visitorGroup } from './rows-visitors.ts';

/** Groups by what they are about. */
export const chainGroups: Readonly<Record<string, ChainGroup>> = {
  sites: siteGroup,
  pools: poolGroup,
  access: accessGroup,
  countries: countryGroup,
  trust: trustGroup,
  limits: limitGroup,
  'HTTP policy': httpPolicyGroup,
  rules: ruleGroup,
  policy: policyGroup,
  visitors: visitorGroup,
  answers: answerGroup,
  messages: messageGroup,
};

/** Every group of rows of the chain, in the order of the specification. */

import type { ChainGroup } from './chain-row.ts';
import { accessGroup } from './rows-access.ts';
import { httpPolicyGroup } from './rows-http-policy.ts';
import { limitGroup } from './rows-limits.ts';
import { messageGroup } from './rows-messages.ts';
import { ruleGroup } from './rows-rules.ts';
import { siteGroup } from './rows-sites.ts';
import { visitorGroup } from './rows-visitors.ts';

/** Groups by what they are about. */
export const chainGroups: Readonly<Record<string, ChainGroup>> = {
  sites: siteGroup,
  access: accessGroup,
  limits: limitGroup,
  'HTTP policy': httpPolicyGroup,
  rules: ruleGroup,
  visitors: visitorGroup,
  messages: messageGroup,
};

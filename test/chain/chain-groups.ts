/** Every group of rows of the chain, in the order of the specification. */

import type { ChainGroup } from './chain-row.ts';
import { accessGroup } from './rows-access.ts';
import { answerGroup } from './rows-answers.ts';
import { bodyGroup } from './rows-bodies.ts';
import { countryGroup } from './rows-countries.ts';
import { compressionGroup } from './rows-compression.ts';
import { deliveryGroup } from './rows-delivery.ts';
import { edgeGroup } from './rows-edge.ts';
import { entryGroup } from './rows-entry.ts';
import { fieldGroup } from './rows-fields.ts';
import { healthGroup } from './rows-health.ts';
import { httpPolicyGroup } from './rows-http-policy.ts';
import { limitGroup } from './rows-limits.ts';
import { messageGroup } from './rows-messages.ts';
import { pairAnswerGroup } from './rows-pairs-answers.ts';
import { pairEntryGroup } from './rows-pairs-entry.ts';
import { pairGroup } from './rows-pairs.ts';
import { patchGroup } from './rows-patches.ts';
import { policyGroup } from './rows-policy.ts';
import { poolGroup } from './rows-pools.ts';
import { proxiedGroup } from './rows-proxied.ts';
import { rateGroup } from './rows-rates.ts';
import { ruleGroup } from './rows-rules.ts';
import { siteGroup } from './rows-sites.ts';
import { socketGroup } from './rows-sockets.ts';
import { standingGroup } from './rows-standing.ts';
import { canaryGroup } from './rows-canary.ts';
import { stickyGroup } from './rows-sticky.ts';
import { streamGroup } from './rows-streams.ts';
import { timeGroup } from './rows-times.ts';
import { trustGroup } from './rows-trust.ts';
import { visitorGroup } from './rows-visitors.ts';
import { wordingGroups } from './rows-wording.ts';

/** Groups by what they are about. */
export const chainGroups: Readonly<Record<string, ChainGroup>> = {
  sites: siteGroup,
  delivery: deliveryGroup,
  edge: edgeGroup,
  entry: entryGroup,
  fields: fieldGroup,
  compression: compressionGroup,
  pools: poolGroup,
  'sticky sessions': stickyGroup,
  canary: canaryGroup,
  times: timeGroup,
  pairs: pairGroup,
  'pairs at the entry': pairEntryGroup,
  'pairs in answers': pairAnswerGroup,
  health: healthGroup,
  access: accessGroup,
  countries: countryGroup,
  trust: trustGroup,
  'PROXY protocol': proxiedGroup,
  limits: limitGroup,
  'HTTP policy': httpPolicyGroup,
  rules: ruleGroup,
  policy: policyGroup,
  patches: patchGroup,
  bodies: bodyGroup,
  visitors: visitorGroup,
  rates: rateGroup,
  'rate standing': standingGroup,
  answers: answerGroup,
  messages: messageGroup,
  streams: streamGroup,
  sockets: socketGroup,
  // The last: what they set, they set for all sites.
  ...wordingGroups,
};

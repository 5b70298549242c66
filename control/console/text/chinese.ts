/** What the API says, in Chinese. */

import { apiSentences } from './api-sentences.table.ts';
import { areaRefusals } from './area-refusals.table.ts';
import { catalogOf } from './catalog.ts';
import { documentRefusals } from './document-refusals.table.ts';
import { ownRuleMessages } from './own-rules.table.ts';
import { refusals } from './refusals.table.ts';
import { ruleMessages } from './rule-messages.table.ts';
import { siteRefusals } from './site-refusals.table.ts';

/** All that is translated. */
export const chinese = catalogOf(
  ruleMessages,
  ownRuleMessages,
  apiSentences,
  refusals,
  areaRefusals,
  documentRefusals,
  siteRefusals,
);

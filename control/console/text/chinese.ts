/** What the API says, in Chinese. */

import { absentThings } from './absent-things.table.ts';
import { apiSentences } from './api-sentences.table.ts';
import { areaRefusals } from './area-refusals.table.ts';
import { attackKinds } from './attack-kinds.table.ts';
import { catalogOf } from './catalog.ts';
import { documentRefusals } from './document-refusals.table.ts';
import { operationSentences } from './operation-sentences.table.ts';
import { ownRuleMessages } from './own-rules.table.ts';
import { refusals } from './refusals.table.ts';
import { resourceRefusals } from './resource-refusals.table.ts';
import { ruleMessages } from './rule-messages.table.ts';
import { siteRefusals } from './site-refusals.table.ts';

/** Chinese texts by what the API says. */
export const chineseTexts: Readonly<Record<string, string>> = {
  ...attackKinds,
  ...ruleMessages,
  ...ownRuleMessages,
  ...apiSentences,
  ...operationSentences,
  ...refusals,
  ...resourceRefusals,
  ...areaRefusals,
  ...absentThings,
  ...documentRefusals,
  ...siteRefusals,
};

/** All that is translated. */
export const chinese = catalogOf(chineseTexts);

/** `waf log hits`: how often rules of guards decided about requests. */

import type { CommandDefinition } from '../command.ts';
import { showMessage, timeText } from '../show.ts';

/** The command. */
export const logHitsCommand: CommandDefinition = {
  path: ['log', 'hits'],
  summary: 'Show how often bindings of IP lists, country rules and rate limits decided',
  help:
    'Ids are in the first column of waf ip-list bindings, country list and rate-limit list.\n' +
    'Example: waf log hits RULE',
  arguments: [{ name: '<rule...>', summary: 'ids of bindings, country rules or rate limits' }],
  run: async (context, ruleIds) => {
    const response = await (await context.api()).guards.listRuleHits({ ruleIds: [...ruleIds] });
    return showMessage(context, response, {
      columns: ['RULE', 'HITS', 'LAST HIT'],
      rows: response.items.map(({ ruleId, hits, lastHitAt }) => [
        ruleId,
        String(hits),
        timeText(lastHitAt) || 'never',
      ]),
    });
  },
};

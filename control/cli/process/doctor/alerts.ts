/** The check for channels of alerts through which nothing arrives. */

import { allPages } from '../../all-pages.ts';
import { note, ok, warning, type Check } from './finding.ts';

const name = 'alert channels';

/** Channels whose last attempts failed, and rules that nobody hears of. */
export const alertsCheck: Check = {
  name,
  look: async ({ running, context }) => {
    if (!running) return [];
    const { alerts } = await context.api();
    const channels = await allPages((page) => alerts.listAlertChannels({ page }));
    const rules = await allPages((page) => alerts.listAlertRules({ page }));
    const failing = channels.filter(({ enabled, health }) => {
      return enabled && (health?.failuresInRow ?? 0) > 0;
    });
    const findings = failing.map(({ name: channel, health }) => {
      const waiting = `${health?.waitingCount ?? 0n} messages wait`;
      const text = `${channel} fails: ${health?.lastError ?? ''}; ${waiting}`;
      return warning(name, text, `mend it, then try it: waf alert test "${channel}"`);
    });
    const working = new Set(channels.filter(({ enabled }) => enabled).map(({ id }) => id));
    const unheard = rules.filter(({ enabled, channelIds }) => {
      return enabled && !channelIds.some((id) => working.has(id));
    });
    if (unheard.length > 0) {
      const text = `rules without an enabled channel: ${unheard.length}`;
      findings.push(note(name, text, 'bind one: waf alert rule-set --id RULE --channel CHANNEL'));
    }
    return findings.length > 0 ? findings : [ok(name, 'no channel fails')];
  },
};

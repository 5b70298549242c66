/** PagerDuty, Events API v2: an alert is one incident, which a recovery resolves. */

import { textOf, type SendMessage } from './message.ts';
import { post, requireSuccess } from './post.ts';

/** Where PagerDuty takes events. */
export const pagerDutyUrl = 'https://events.pagerduty.com/v2/enqueue';

/** Sends to PagerDuty. */
export const sendPagerDuty: SendMessage = async (
  message,
  { config, bounds, pagerDutyUrl: url },
) => {
  const { event, text, alert, nowMs } = message;
  const { id, ruleId, siteId, agentId, severity, kind, openedAt } = alert;
  const ends = event === 'resolved';
  const body = {
    routing_key: textOf(config, 'routingKey'),
    event_action: ends ? 'resolve' : 'trigger',
    // Repeats belong to the incident; a test is an incident of its own.
    dedup_key: event === 'test' ? message.id : id,
    payload: {
      summary: text.title,
      source: siteId || agentId || 'waf',
      severity,
      timestamp: openedAt || new Date(nowMs).toISOString(),
      class: kind,
      custom_details: { message: text.message, alertId: id, ruleId, siteId, agentId },
    },
    client: 'waf',
  };
  requireSuccess(await post(url, {}, JSON.stringify(body), bounds));
};

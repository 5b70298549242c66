/**
 * Webhooks: JSON as the API documents it, signed with HMAC-SHA256 over time and body. A receiver
 * checks `waf-signature: t=SECONDS,v1=HEX`, where HEX is over `SECONDS.BODY`, and refuses old ones.
 */

import { createHmac } from 'node:crypto';
import { textOf, type OutgoingMessage, type SendMessage } from './message.ts';
import { post, requireSuccess } from './post.ts';

/** Sends through a webhook. */
export const sendWebhook: SendMessage = async (message, { config, bounds }) => {
  const body = JSON.stringify(webhookBody(message));
  const secret = textOf(config, 'secret');
  const seconds = Math.floor(message.nowMs / 1000);
  const headers = {
    ...(config['headers'] as Readonly<Record<string, string>> | undefined),
    'waf-delivery': message.id,
    'waf-event': message.event,
    ...(secret === '' ? {} : { 'waf-signature': signature(secret, seconds, body) }),
  };
  requireSuccess(await post(textOf(config, 'url'), headers, body, bounds));
};

/** The signature of a body. */
function signature(secret: string, seconds: number, body: string): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${digest}`;
}

function webhookBody({ event, text, alert, nowMs }: OutgoingMessage) {
  const { id, ruleId, siteId, agentId, severity, status, title, message } = alert;
  const { openedAt, resolvedAt } = alert;
  return {
    version: '1',
    event,
    alert: {
      ...{ id, ruleId, siteId, agentId, severity, status, title, message, openedAt },
      resolvedAt: resolvedAt === '' ? null : resolvedAt,
    },
    ...text,
    sentAt: new Date(nowMs).toISOString(),
  };
}

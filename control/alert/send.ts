/** The list of kinds of channels and how each sends. */

import type { AlertChannelKindJson } from '../../proto/gen/waf/v1/alert_pb.ts';
import { sendFeishu, sendSlack, sendWecom } from './chat.ts';
import { sendEmail } from './email.ts';
import type { OutgoingMessage, SendContext, SendMessage } from './message.ts';
import { sendPagerDuty } from './pagerduty.ts';
import { SendError } from './post.ts';
import { sendWebhook } from './webhook.ts';

const drivers: Readonly<Partial<Record<AlertChannelKindJson, SendMessage>>> = {
  ALERT_CHANNEL_KIND_EMAIL: sendEmail,
  ALERT_CHANNEL_KIND_WEBHOOK: sendWebhook,
  ALERT_CHANNEL_KIND_SLACK: sendSlack,
  ALERT_CHANNEL_KIND_PAGERDUTY: sendPagerDuty,
  ALERT_CHANNEL_KIND_FEISHU: sendFeishu,
  ALERT_CHANNEL_KIND_WECOM: sendWecom,
};

/** Sends through a channel of a kind. Errors: SendError. */
export async function send(
  kind: AlertChannelKindJson,
  message: OutgoingMessage,
  context: SendContext,
): Promise<void> {
  const driver = drivers[kind];
  if (driver === undefined) throw new SendError('its kind is not known', false);
  await driver(message, context);
}

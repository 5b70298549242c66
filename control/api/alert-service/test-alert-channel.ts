/** AlertService/TestAlertChannel: sends a test message through a channel as it was sent. */

import { randomUUID } from 'node:crypto';
import {
  AlertChannelSchema,
  type AlertChannelJson,
  type AlertService,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import type { OutgoingMessage } from '../../alert/message.ts';
import { SendError } from '../../alert/post.ts';
import { styleOf } from '../../domain/alert/alert-channel.ts';
import { alertFacts } from '../../domain/alert/alert-message.ts';
import { invalidField } from '../../domain/errors.ts';
import { callerOf, type Uses } from '../context.ts';
import { toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { noteOf, stored } from '../resource/owned.ts';
import { refuseTaken } from '../resource/resource.ts';
import { channelKind, checkChannel } from './channel.ts';
import { sampleAlert } from './sample-alert.ts';

/** Sends a test message; the channel need not be kept, nor enabled. */
export function testAlertChannel(
  parts: Uses<'store' | 'clock' | 'deliveries'>,
): Method<typeof AlertService, 'testAlertChannel'> {
  return async ({ channel }, context) => {
    const caller = callerOf(context);
    if (channel === undefined) throw invalidField('channel', 'is required');
    const { store, clock, deliveries } = parts;
    const asked = toRecord<AlertChannelJson>(AlertChannelSchema, channel);
    const before =
      channel.id === '' ? null : stored(store, caller, channelKind, channel.id, 'channel.id');
    const checked = checkChannel(store, asked, before);
    const now = new Date(clock.nowMs()).toISOString();
    const record = {
      ...checked.channel,
      id: channel.id || 'tested',
      tenantId: caller.tenantId,
      createdAt: now,
      updatedAt: now,
    };
    refuseTaken(store, channelKind, record);
    const failure = await deliveries
      .sendNow(record, checked.secrets, testMessage(parts, record.config))
      .then(() => null, asFailure);
    await store.write((tx) => {
      const note = noteOf(caller, channelKind, record);
      tx.audit({ ...note, action: 'test', metadata: { success: String(failure === null) } });
    });
    const message = failure === null ? 'the test message was accepted' : failure.message;
    return { success: failure === null, message };
  };
}

function asFailure(error: unknown): SendError {
  if (error instanceof SendError) return error;
  throw error;
}

const texts = {
  'en-US': ['Test message', 'This channel receives messages about alerts.'],
  'zh-CN': ['测试消息', '此渠道可以接收告警消息。'],
} as const;

function testMessage(
  { clock }: Uses<'clock'>,
  config: Readonly<Record<string, unknown>>,
): OutgoingMessage {
  const [title, message] = texts[styleOf(config).locale];
  const text = { title, message, markdown: `**${title}**\n\n${message}` };
  const nowMs = clock.nowMs();
  const alert = alertFacts(sampleAlert(nowMs), text);
  return { id: `test-${randomUUID()}`, event: 'test', text, alert, nowMs };
}

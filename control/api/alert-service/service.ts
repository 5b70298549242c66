/** AlertService. */

import type { AlertService } from '../../../proto/gen/waf/v1/alert_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { serve, serveRecords } from '../resource/serve.ts';
import { ackAlert, listAlertNotes, listAlerts, resolveAlert } from './alerts.ts';
import { applyAlertChannelToRules } from './apply-alert-channel-to-rules.ts';
import { channelKind } from './channel.ts';
import { previewAlertRuleNotification } from './preview-alert-rule-notification.ts';
import { replayAlertRule } from './replay-alert-rule.ts';
import { ruleKind } from './rule.ts';
import { createAlertSilence, listAlertSilences, previewAlertSilence } from './silences.ts';
import { alertKind, silenceKind } from './stored.ts';
import { testAlertChannel } from './test-alert-channel.ts';

/** AlertService. */
export function alertService(
  parts: Uses<'store' | 'clock' | 'counters' | 'deliveries'>,
): Built<typeof AlertService> {
  const rules = serve(parts, ruleKind);
  const channels = serve(parts, channelKind);
  return {
    listAlerts: listAlerts(parts),
    getAlert: (request, context) => ({
      alert: serveRecords(parts, alertKind).get(request, context),
    }),
    ackAlert: ackAlert(parts),
    resolveAlert: resolveAlert(parts),
    listAlertRules: rules.list,
    getAlertRule: (request, context) => ({ rule: rules.get(request, context) }),
    upsertAlertRule: async (request, context) => ({
      rule: rules.show(await rules.upsert(rules.asked(request.rule), request, context)),
    }),
    replayAlertRule: replayAlertRule(parts),
    deleteAlertRule: rules.remove,
    listAlertChannels: channels.list,
    getAlertChannel: (request, context) => ({ channel: channels.get(request, context) }),
    upsertAlertChannel: async (request, context) => ({
      channel: channels.show(
        await channels.upsert(channels.asked(request.channel), request, context),
      ),
    }),
    deleteAlertChannel: channels.remove,
    testAlertChannel: testAlertChannel(parts),
    previewAlertRuleNotification: previewAlertRuleNotification(parts),
    applyAlertChannelToRules: applyAlertChannelToRules(parts),
    listAlertNotes: listAlertNotes(parts),
    listAlertSilences: listAlertSilences(parts),
    createAlertSilence: createAlertSilence(parts),
    deleteAlertSilence: serveRecords(parts, silenceKind).remove,
    previewAlertSilence: previewAlertSilence(parts),
  };
}

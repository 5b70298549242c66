/** Owns which methods of AlertService are built. */

import type { AlertService } from '../../../proto/gen/waf/v1/alert_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { ackAlert, getAlert, listAlertNotes, listAlerts, resolveAlert } from './alerts.ts';
import { applyAlertChannelToRules } from './apply-alert-channel-to-rules.ts';
import {
  deleteAlertChannel,
  getAlertChannel,
  listAlertChannels,
  upsertAlertChannel,
} from './channels.ts';
import { previewAlertRuleNotification } from './preview-alert-rule-notification.ts';
import { replayAlertRule } from './replay-alert-rule.ts';
import { deleteAlertRule, getAlertRule, listAlertRules, upsertAlertRule } from './rules.ts';
import {
  createAlertSilence,
  deleteAlertSilence,
  listAlertSilences,
  previewAlertSilence,
} from './silences.ts';
import { testAlertChannel } from './test-alert-channel.ts';

/** AlertService. */
export function alertService(parts: ApiParts): Built<typeof AlertService> {
  return {
    listAlerts: listAlerts(parts),
    getAlert: getAlert(parts),
    ackAlert: ackAlert(parts),
    resolveAlert: resolveAlert(parts),
    listAlertRules: listAlertRules(parts),
    getAlertRule: getAlertRule(parts),
    upsertAlertRule: upsertAlertRule(parts),
    replayAlertRule: replayAlertRule(parts),
    deleteAlertRule: deleteAlertRule(parts),
    listAlertChannels: listAlertChannels(parts),
    getAlertChannel: getAlertChannel(parts),
    upsertAlertChannel: upsertAlertChannel(parts),
    deleteAlertChannel: deleteAlertChannel(parts),
    testAlertChannel: testAlertChannel(parts),
    previewAlertRuleNotification: previewAlertRuleNotification(parts),
    applyAlertChannelToRules: applyAlertChannelToRules(parts),
    listAlertNotes: listAlertNotes(parts),
    listAlertSilences: listAlertSilences(parts),
    createAlertSilence: createAlertSilence(parts),
    deleteAlertSilence: deleteAlertSilence(parts),
    previewAlertSilence: previewAlertSilence(parts),
  };
}

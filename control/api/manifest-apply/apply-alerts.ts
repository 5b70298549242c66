/** Owns applying AlertChannel and AlertRule documents. */

import { AppError } from '../../../base/errors.ts';
import { secretsOf } from '../../alert/deliver.ts';
import { checkChannelConfig, missingSecrets } from '../../domain/alert/alert-channel.ts';
import type { AlertChannelRecord, AlertRuleRecord } from '../../domain/alert/alert-records.ts';
import {
  alertChannelSpec,
  alertRuleSpec,
  readAlertChannelSpec,
  readAlertRuleSpec,
} from '../../publish/manifests/manifest-alerts.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import { alertChannels, alertRules } from '../../store/collections.ts';
import { checkRule } from '../alert-service/check-rule.ts';
import {
  checkChannel,
  keepChannelSecrets,
  refuseMoreChannels,
} from '../alert-service/keep-channel.ts';
import { moveAlerts, refuseMoreRules } from '../alert-service/keep-rule.ts';
import { alertNote } from '../alert-service/stored.ts';
import type { NamedKind } from './apply-named.ts';
import type { ApplyRun } from './context.ts';

/** Channels of alerts; what is secret in them is written only. */
export const channelKind: NamedKind<AlertChannelRecord> = {
  reference: 'alert channel',
  collection: alertChannels,
  prefix: 'alert-channel',
  permission: 'alert:write',
  nameOf: ({ name }) => name,
  specOf: alertChannelSpec,
  settle: (run, document, before, base) => {
    const { tx, caller } = run;
    if (before === null) refuseMoreChannels(tx);
    const asked = readAlertChannelSpec(document);
    const { channel, secrets } = inSpec('channel', () =>
      checkChannel(tx, caller, asked, before ?? undefined, true),
    );
    for (const path of missingSecrets({ config: channel.config, secrets })) {
      run.warn(
        `${document.where}: spec.config.${path}: is a secret that no manifest holds; messages ` +
          'through this channel fail until it is set: waf alert channel-set',
      );
    }
    return { ...base, ...channel };
  },
  bringsMore: (document) => {
    const { kind, config = {} } = readAlertChannelSpec(document);
    const { secrets } = inSpec('channel', () => checkChannelConfig(kind, config, null, true));
    return Object.keys(secrets).length > 0;
  },
  keepMore: (run, record, before, document) => {
    keepChannelSecrets(run.tx, record.id, secretsAfter(run, before, document));
  },
  noteOf: ({ caller }, record) => alertNote(caller, 'alert_channel', record),
};

/** The secrets that the document brings, and the kept ones that it leaves. */
function secretsAfter(
  { tx }: ApplyRun,
  before: AlertChannelRecord | null,
  document: ManifestDocument,
): Readonly<Record<string, string>> {
  const { kind, config = {} } = readAlertChannelSpec(document);
  const known =
    before === null
      ? null
      : { kind: before.kind, config: before.config, secrets: secretsOf(tx, before.id) };
  return inSpec('channel', () => checkChannelConfig(kind, config, known, true)).secrets;
}

/** Rules of alerts; a change of a condition ends the alerts of the earlier one. */
export const ruleKind: NamedKind<AlertRuleRecord> = {
  reference: 'alert rule',
  collection: alertRules,
  prefix: 'alert-rule',
  permission: 'alert:write',
  nameOf: ({ name }) => name,
  specOf: (rule, { references }) => alertRuleSpec(rule, references),
  settle: ({ tx, caller, references }, document, before, base) => {
    if (before === null) refuseMoreRules(tx);
    const asked = readAlertRuleSpec(document, references);
    return { ...base, ...inSpec('rule', () => checkRule(tx, caller, asked, before?.id ?? '')) };
  },
  keepMore: ({ tx, nowMs }, record, before) => {
    if (before !== null) moveAlerts(tx, before, record, nowMs);
  },
  noteOf: ({ caller }, record) => alertNote(caller, 'alert_rule', record),
};

/** Runs a check whose errors begin with `from`, and names the field of the document. */
function inSpec<T>(from: 'channel' | 'rule', check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const text = error.message
      .replace(`${from}.name:`, 'metadata.name:')
      .replace(/^rule\.expression/, 'spec.condition')
      .replace(/^rule\.channelIds/, 'spec.channels')
      .replace(new RegExp(`^${from}\\.`), 'spec.');
    throw new AppError(error.code, text, { source: error.source, cause: error });
  }
}

/** The help on a channel's configuration names exactly the fields that are accepted. */

import { expect, test } from 'vitest';
import type { AlertChannelKindJson } from '../../../proto/gen/waf/v1/alert_pb.ts';
import { channelKinds, checkChannelConfig } from '../../domain/alert/alert-channel.ts';
import { channelFieldHelp, channelFields, commonChannelFields } from './channel-fields.ts';

const refusalOf = (kind: AlertChannelKindJson, config: object): string => {
  try {
    checkChannelConfig(kind, config as Record<string, unknown>, null);
    return '';
  } catch (error) {
    return String((error as Error).message);
  }
};

test.each(channelKinds)('the help names the fields of %s', (kind) => {
  const word = kind.slice('ALERT_CHANNEL_KIND_'.length).toLowerCase();
  const fields = channelFields[word]!.split(', ');
  const names = [...commonChannelFields.split(', '), ...fields.map((one) => one.replace('*', ''))];
  expect(refusalOf(kind, { unknown: 1 })).toContain(`Allowed: ${names.join(', ')}`);
  const missing = refusalOf(kind, {});
  expect(fields.filter((one) => one.endsWith('*')).map((one) => one.slice(0, -1))).toContain(
    /config\.(\w+)/.exec(missing)![1],
  );
  expect(channelFieldHelp).toContain(`${word}: ${channelFields[word]}`);
});

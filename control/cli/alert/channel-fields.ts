/** What the configuration of a channel takes, for the help; a test holds it to what is checked. */

/** Fields by kind; `*` stands after what is required. */
export const channelFields: Readonly<Record<string, string>> = {
  email: 'host*, port, username, password, from*, to*, tls',
  webhook: 'url*, headers, secret',
  slack: 'webhookUrl*',
  pagerduty: 'routingKey*',
  feishu: 'webhookUrl*, secret',
  wecom: 'webhookUrl*',
};

/** Fields of every kind. */
export const commonChannelFields = 'locale, timezone, minSeverity';

/** The help on them. */
export const channelFieldHelp = [
  'Fields by kind (* is required):',
  ...Object.entries(channelFields).map(([kind, fields]) => `  ${kind}: ${fields}`),
  `  each: ${commonChannelFields}`,
  'to is a list of addresses, headers an object, tls one of starttls, tls, none; locale en-US or',
  'zh-CN, timezone as UTC or Asia/Shanghai, minSeverity info, warning or critical.',
].join('\n');

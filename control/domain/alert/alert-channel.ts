/**
 * What the configuration of a channel may be, by kind, and which parts of it are secrets: those are
 * write-only, shown as `configured`, and kept only while they go where they were given for. Pure.
 */

import type { AlertChannelKindJson } from '../../../proto/gen/waf/v1/alert_pb.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import type { MessageStyle } from './alert-message.ts';
import { alertSeverities, severityNamed } from './alert-silence.ts';
import { alertLocales } from './alert-texts.ts';
import { invalidField } from '../errors.ts';
import { isSecretHeader } from '../site/header-secrets.ts';
import { secretShown } from '../setting-fields.ts';
import { checkSourceUrl } from '../access/ip-list-source.ts';

type Config = Readonly<Record<string, unknown>>;

/** A configuration and its secrets by path. */
export interface CheckedChannel {
  /** Secrets stand as `configured`. */
  readonly config: Config;
  readonly secrets: Readonly<Record<string, string>>;
}

interface KindFields {
  readonly fields: readonly string[];
  readonly required: readonly string[];
  readonly secrets: readonly string[];
  /** Where secrets go: they are given anew when this changes. */
  readonly target: (config: Config, secrets: Config) => string;
}

const common = ['locale', 'timezone', 'minSeverity'];
const originOf = (value: unknown): string => {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url === null ? '' : url.origin;
};
const toItself = (): string => '';

/** What each kind knows. */
const kinds: Readonly<Partial<Record<AlertChannelKindJson, KindFields>>> = {
  ALERT_CHANNEL_KIND_EMAIL: {
    fields: ['host', 'port', 'username', 'password', 'from', 'to', 'tls'],
    required: ['host', 'from', 'to'],
    secrets: ['password'],
    target: ({ host, port, tls }) => JSON.stringify([host, port, tls]),
  },
  ALERT_CHANNEL_KIND_WEBHOOK: {
    fields: ['url', 'headers', 'secret'],
    required: ['url'],
    secrets: ['secret'],
    target: ({ url }) => originOf(url),
  },
  ALERT_CHANNEL_KIND_SLACK: {
    ...{ fields: ['webhookUrl'], required: ['webhookUrl'], secrets: ['webhookUrl'] },
    target: toItself,
  },
  ALERT_CHANNEL_KIND_PAGERDUTY: {
    ...{ fields: ['routingKey'], required: ['routingKey'], secrets: ['routingKey'] },
    target: toItself,
  },
  ALERT_CHANNEL_KIND_FEISHU: {
    ...{ fields: ['webhookUrl', 'secret'], required: ['webhookUrl'] },
    secrets: ['webhookUrl', 'secret'],
    // The signing secret never leaves; only what it signs does.
    target: toItself,
  },
  ALERT_CHANNEL_KIND_WECOM: {
    ...{ fields: ['webhookUrl'], required: ['webhookUrl'], secrets: ['webhookUrl'] },
    target: toItself,
  },
};

/** Kinds of channels. */
export const channelKinds = Object.keys(kinds) as AlertChannelKindJson[];

/** Names that are secrets in some kind, and never anything else. */
const secretNames = [...new Set(Object.values(kinds).flatMap(({ secrets }) => secrets))];

/**
 * Checks a configuration and takes its secrets out. `configured` keeps the secret of `before`,
 * also one that is missing there. A manifest holds no secrets: `mayMiss` accepts `configured` for
 * what is not kept yet, and sending fails until it is. Errors: invalid_argument under
 * `channel.config`.
 */
export function checkChannelConfig(
  kind: AlertChannelKindJson | undefined,
  config: Config,
  before: (CheckedChannel & { readonly kind: AlertChannelKindJson }) | null,
  mayMiss = false,
): CheckedChannel {
  const known = kind === undefined ? undefined : kinds[kind];
  if (known === undefined) {
    throw invalidField('channel.kind', `must be one of ${channelKinds.join(', ')}`);
  }
  const at = 'channel.config';
  const fields = [...common, ...known.fields];
  if (!Object.keys(config).every((name) => fields.includes(name))) {
    throw invalidField(at, `holds an unknown field. Allowed: ${fields.join(', ')}`);
  }
  const checked: Record<string, unknown> = {};
  const stated = Object.entries(config).filter(([, value]) => value !== '' && value !== null);
  for (const [name, value] of stated) {
    const isKept = known.secrets.includes(name) && value === secretShown;
    checked[name] = isKept ? value : checks[name]!(value, `${at}.${name}`);
  }
  const same = before?.kind === kind ? before : null;
  const moved = same !== null && known.target(same.config, {}) !== known.target(checked, {});
  const taken = takeSecrets(checked, known.secrets, same, { moved, mayMiss });
  for (const name of known.required) {
    if (checked[name] === undefined) throw invalidField(`${at}.${name}`, 'is required');
  }
  if (checked['password'] !== undefined && checked['username'] === undefined) {
    throw invalidField(`${at}.username`, 'is required where there is a password');
  }
  if (checked['password'] !== undefined && checked['tls'] === 'none') {
    throw invalidField(`${at}.tls`, 'must be starttls or tls where there is a password');
  }
  return taken;
}

function takeSecrets(
  checked: Config,
  names: readonly string[],
  before: CheckedChannel | null,
  { moved, mayMiss }: { readonly moved: boolean; readonly mayMiss: boolean },
): CheckedChannel {
  const missing = new Set(before === null ? [] : missingSecrets(before));
  const config: Record<string, unknown> = { ...checked };
  const secrets: Record<string, string> = {};
  const take = (path: string, value: string): string => {
    const isKept = value === secretShown;
    const known = before?.secrets[path] !== undefined;
    if (isKept && !known && (mayMiss || missing.has(path))) return secretShown;
    secrets[path] = isKept ? keptSecret(path, before, moved) : value;
    return secretShown;
  };
  for (const name of names) {
    const value = checked[name];
    if (typeof value === 'string') config[name] = take(name, value);
  }
  const headers = checked['headers'] as Readonly<Record<string, string>> | undefined;
  if (headers !== undefined) {
    config['headers'] = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => {
        const secret = value === secretShown || isSecretHeader(name, value);
        return [name, secret ? take(`headers.${name}`, value) : value];
      }),
    );
  }
  return { config, secrets };
}

function keptSecret(path: string, before: CheckedChannel | null, moved: boolean): string {
  const at = `channel.config.${path}`;
  const kept = before?.secrets[path];
  if (kept === undefined) throw invalidField(at, `no value is kept: ${secretShown} keeps none`);
  // A secret belongs to the server that it was given for.
  if (moved) throw invalidField(at, 'state the value anew for another server');
  return kept;
}

/** Paths of secrets that the configuration shows and nothing is kept for. */
export function missingSecrets({ config, secrets }: CheckedChannel): readonly string[] {
  const headers = (config['headers'] ?? {}) as Config;
  const paths = [
    ...secretNames.map((name) => [name, config[name]] as const),
    ...Object.entries(headers).map(([name, value]) => [`headers.${name}`, value] as const),
  ];
  return paths
    .filter(([path, value]) => value === secretShown && secrets[path] === undefined)
    .map(([path]) => path);
}

/** The configuration with its secrets in place; only to send. */
export function withSecrets({ config, secrets }: CheckedChannel): Config {
  const whole: Record<string, unknown> = { ...config };
  const headers: Record<string, unknown> = { ...(config['headers'] as object | undefined) };
  for (const [path, value] of Object.entries(secrets)) {
    if (path.startsWith('headers.')) headers[path.slice('headers.'.length)] = value;
    else whole[path] = value;
  }
  return config['headers'] === undefined ? whole : { ...whole, headers };
}

/** How a channel wants its messages. */
export function styleOf(config: Config): MessageStyle {
  const locale = alertLocales.find((one) => one === config['locale']) ?? alertLocales[0];
  const { timezone } = config;
  return { locale, timezone: typeof timezone === 'string' ? timezone : 'UTC' };
}

/** Whether a channel wants alerts of a severity. */
export function wantsSeverity(config: Config, severity: string): boolean {
  const names: readonly string[] = alertSeverities;
  const { minSeverity = '' } = config as { readonly minSeverity?: string };
  return names.indexOf(severity) >= names.indexOf(minSeverity);
}

type Check = (value: unknown, at: string) => unknown;

const printable =
  (charsMax: number): Check =>
  (value, at) => {
    if (typeof value === 'string' && value.length <= charsMax && /^[\x20-\x7e]+$/.test(value)) {
      return value;
    }
    throw invalidField(at, `must be 1 to ${charsMax} printable characters`);
  };

const address: Check = (value, at) => {
  // A mailbox and nothing else: no list, no display name, no line of its own.
  const pattern = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}$/;
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw invalidField(at, 'must be an address such as ops@shop.example');
};

const hostName: Check = (value, at) => {
  if (typeof value === 'string' && /^(?:[A-Za-z0-9.-]{1,253}|[0-9A-Fa-f:.]{2,45})$/.test(value)) {
    return value;
  }
  throw invalidField(at, 'must be the name or address of a mail server');
};

const checks: Readonly<Record<string, Check>> = {
  locale: (value, at) => oneOf(value, alertLocales, at),
  timezone: (value, at) => {
    const name = printable(64)(value, at) as string;
    try {
      new Intl.DateTimeFormat('en-US', { timeZone: name });
    } catch {
      throw invalidField(at, 'must be a time zone such as UTC or Asia/Shanghai');
    }
    return name;
  },
  minSeverity: (value, at) => {
    const severity = typeof value === 'string' ? severityNamed(value) : null;
    if (severity !== null) return severity;
    throw invalidField(at, `must be one of ${alertSeverities.join(', ')}`);
  },
  url: (value, at) => checkSourceUrl(typeof value === 'string' ? value : '', at),
  webhookUrl: (value, at) => checkSourceUrl(typeof value === 'string' ? value : '', at),
  secret: printable(alertLimits.secretCharsMax),
  password: printable(alertLimits.secretCharsMax),
  username: printable(256),
  routingKey: (value, at) => {
    if (typeof value === 'string' && /^[A-Za-z0-9]{16,64}$/.test(value)) return value;
    throw invalidField(at, 'must be an integration key of 16 to 64 letters and digits');
  },
  headers: checkHeaders,
  host: hostName,
  port: (value, at) => {
    if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536) {
      return value;
    }
    throw invalidField(at, 'must be a port from 1 to 65535');
  },
  from: address,
  to: (value, at) => {
    if (!Array.isArray(value) || value.length < 1 || value.length > alertLimits.recipientsMax) {
      throw invalidField(at, `needs 1 to ${alertLimits.recipientsMax} addresses`);
    }
    return value.map((one, index) => address(one, `${at}[${index}]`));
  },
  tls: (value, at) => oneOf(value, ['starttls', 'tls', 'none'], at),
};

function oneOf(value: unknown, choices: readonly string[], at: string): string {
  const found = choices.find((one) => one === value);
  if (found !== undefined) return found;
  throw invalidField(at, `must be one of ${choices.join(', ')}`);
}

/** Headers that are the connection's or ours. */
const ownHeaders = new RegExp(
  '^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|' +
    'proxy-.*|waf-.*)$',
);

function checkHeaders(value: unknown, at: string): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidField(at, 'must be an object of names and values');
  }
  const entries = Object.entries(value as Config);
  if (entries.length > alertLimits.headersMax) {
    throw invalidField(at, `has at most ${alertLimits.headersMax} entries`);
  }
  const names = new Set<string>();
  for (const [name, text] of entries) {
    const lower = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(lower) || ownHeaders.test(lower)) {
      throw invalidField(at, 'must hold request headers that sending does not set itself');
    }
    if (names.has(lower)) throw invalidField(`${at}.${name}`, 'is there twice');
    names.add(lower);
    printable(alertLimits.secretCharsMax)(text, `${at}.${name}`);
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

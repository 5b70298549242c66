/**
 * Renders messages about alerts from templates: only the listed variables, no code. Values lose
 * their control characters, so that none can end a line or a header of a mail. Pure.
 */

import type {
  AlertNotificationJson,
  AlertNotificationLocaleJson,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import type { AlertKind } from './alert-condition.ts';
import type { AlertFacts, AlertRecord, AlertText } from './alert-records.ts';
import { severityWord } from './alert-silence.ts';
import { shownState, type AlertEvent } from './alert-states.ts';
import {
  alertEvents,
  alertLocales,
  chineseWords,
  factNames,
  resolvedTexts,
  standardTexts,
  standardTitles,
  type AlertLocale,
} from './alert-texts.ts';
import { invalidField } from '../errors.ts';

/** What a template can name; `custom.` and a custom field beside them. */
const variables = [
  ...['event', 'time', 'rule.id', 'rule.name', 'alert.id', 'alert.kind', 'alert.severity'],
  ...['alert.status', 'alert.subject', 'alert.siteId', 'alert.agentId', 'alert.openedAt'],
  ...['alert.firingAt', 'alert.resolvedAt', 'alert.reason', 'alert.count', 'alert.threshold'],
  ...['alert.windowSeconds', 'alert.lastSeenAt', 'alert.revision', 'alert.error'],
  ...['alert.notAfter', 'alert.daysLeft', 'alert.availableBytes', 'alert.coverage'],
] as const;

const variablePattern = /\{\{\s*([A-Za-z0-9._-]{1,80})\s*\}\}/g;
const customName = /^[A-Za-z0-9_-]{1,64}$/;

/** Checks the texts of a rule. Errors: invalid_argument under `at`. */
export function checkNotification(
  notification: AlertNotificationJson,
  at: string,
): AlertNotificationJson {
  for (const [locale, texts] of Object.entries(notification.locales ?? {})) {
    if (!(alertLocales as readonly string[]).includes(locale)) {
      throw invalidField(`${at}.locales`, `has an unknown language: ${allowed(alertLocales)}`);
    }
    checkLocale(texts, `${at}.locales.${locale}`);
  }
  return notification;
}

function allowed(names: readonly string[]): string {
  return `allowed are ${names.join(', ')}`;
}

function checkLocale(texts: AlertNotificationLocaleJson, at: string): void {
  const custom = Object.entries(texts.customFields ?? {});
  if (custom.length > alertLimits.customFieldsMax) {
    throw invalidField(`${at}.customFields`, `has at most ${alertLimits.customFieldsMax} entries`);
  }
  for (const [name, value] of custom) {
    if (!customName.test(name)) {
      throw invalidField(`${at}.customFields`, 'has names of 1 to 64 letters, digits, _ and -');
    }
    if (value.length > alertLimits.noteCharsMax) {
      const problem = `has at most ${alertLimits.noteCharsMax} characters`;
      throw invalidField(`${at}.customFields.${name}`, problem);
    }
  }
  const known = new Set<string>([...variables, ...custom.map(([name]) => `custom.${name}`)]);
  for (const [event, template] of Object.entries(texts.templates ?? {})) {
    if (!(alertEvents as readonly string[]).includes(event)) {
      throw invalidField(`${at}.templates`, `has an unknown event: ${allowed(alertEvents)}`);
    }
    checkTemplate(template.title ?? '', known, `${at}.templates.${event}.title`);
    checkTemplate(template.message ?? '', known, `${at}.templates.${event}.message`);
  }
}

function checkTemplate(template: string, known: ReadonlySet<string>, at: string): void {
  if (template.length > alertLimits.templateCharsMax) {
    throw invalidField(at, `has at most ${alertLimits.templateCharsMax} characters`);
  }
  for (const [, name = ''] of template.matchAll(variablePattern)) {
    if (known.has(name)) continue;
    throw invalidField(at, `names an unknown variable; ${allowed([...known])}`);
  }
  if (/\{\{|\}\}/.test(template.replace(variablePattern, ''))) {
    throw invalidField(at, 'has a {{ or }} that belongs to no variable');
  }
}

/** How a channel wants its messages. */
export interface MessageStyle {
  readonly locale: AlertLocale;
  /** IANA name. */
  readonly timezone: string;
}

/** The standard style. */
export const standardStyle: MessageStyle = { locale: 'en-US', timezone: 'UTC' };

/** The message about an alert. */
export function renderMessage(
  alert: AlertRecord,
  notification: AlertNotificationJson,
  event: AlertEvent,
  style: MessageStyle,
  nowMs: number,
): AlertText {
  const { locale } = style;
  const own = notification.locales?.[locale];
  const template = own?.templates?.[event];
  const values = valuesOf(alert, event, own?.customFields ?? {}, style, nowMs);
  const kind = alert.kind as AlertKind;
  const text = standardTexts[locale][kind];
  const standard = event === 'resolved' ? `${resolvedTexts[locale]}${text}` : text;
  const title = oneLine(fill(template?.title || standardTitles[locale][event], values));
  const message = fill(template?.message || standard, values).trim();
  const shown = {
    title: cut(title, alertLimits.titleCharsMax),
    message: cut(message, alertLimits.messageCharsMax),
  };
  return { ...shown, markdown: markdownOf(shown, values, locale) };
}

type Values = ReadonlyMap<string, string>;

function valuesOf(
  alert: AlertRecord,
  event: AlertEvent,
  custom: Readonly<Record<string, string>>,
  { locale, timezone }: MessageStyle,
  nowMs: number,
): Values {
  const time = (text: unknown): string => timeText(text, locale, timezone);
  const word = (text: string): string => (locale === 'zh-CN' ? (chineseWords[text] ?? text) : text);
  const { payload } = alert;
  const own: Record<string, unknown> = {
    event,
    time: time(new Date(nowMs).toISOString()),
    'rule.id': alert.ruleId,
    'rule.name': alert.ruleName,
    'alert.severity': word(severityWord(alert.severity)),
    'alert.status': statusWord(alert),
    'alert.reason': word(alert.closedReason).replaceAll('_', ' '),
  };
  for (const name of ['id', 'kind', 'subject', 'siteId', 'agentId'] as const) {
    own[`alert.${name}`] = alert[name];
  }
  for (const name of ['openedAt', 'firingAt', 'resolvedAt'] as const) {
    own[`alert.${name}`] = time(alert[name]);
  }
  for (const name of ['lastSeenAt', 'notAfter']) own[`alert.${name}`] = time(payload[name]);
  const values = new Map<string, string>();
  for (const name of variables) {
    const value = own[name] ?? payload[name.slice('alert.'.length)] ?? '';
    values.set(name, plain(typeof value === 'number' ? String(value) : value));
  }
  for (const [name, value] of Object.entries(custom)) values.set(`custom.${name}`, plain(value));
  return values;
}

/** The status of an alert as messages spell it. */
function statusWord({ state }: AlertRecord): string {
  return shownState(state).status.slice('ALERT_STATUS_'.length).toLowerCase();
}

function timeText(text: unknown, locale: AlertLocale, timeZone: string): string {
  if (typeof text !== 'string' || text === '') return '';
  const style = { dateStyle: 'medium', timeStyle: 'long', timeZone } as const;
  return new Intl.DateTimeFormat(locale, style).format(new Date(text));
}

function plain(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  // Not between the halves of a character.
  return `${text.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Once over the template: what values hold is never taken for a variable. */
function fill(template: string, values: Values): string {
  return template.replace(variablePattern, (_, name: string) => values.get(name) ?? '');
}

function markdownOf(
  { title, message }: { readonly title: string; readonly message: string },
  values: Values,
  locale: AlertLocale,
): string {
  const names = factNames[locale];
  const facts = [
    [names['severity'], values.get('alert.severity')],
    [names['openedAt'], values.get('alert.openedAt')],
    [names['rule'], values.get('rule.name')],
    [names['alert'], values.get('alert.id')],
  ].filter(([, value]) => value !== '');
  const list = facts.map(([name = '', value = '']) => `- ${name}: ${escapeMarkdown(value)}`);
  return [`**${escapeMarkdown(title)}**`, escapeMarkdown(message), list.join('\n')].join('\n\n');
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>#|~]/g, '\\$&');
}

/** What an alert is called. */
export function alertTitle({ ruleName, subject }: AlertRecord): string {
  return oneLine(plain(`${ruleName}: ${subject}`));
}

/** What a message tells of its alert beside its texts. */
export function alertFacts(alert: AlertRecord, { message }: AlertText): AlertFacts {
  const { id, ruleId, siteId, agentId, kind, openedAt, resolvedAt } = alert;
  const severity = severityWord(alert.severity);
  const status = statusWord(alert);
  const title = alertTitle(alert);
  return {
    ...{ id, ruleId, siteId, agentId, kind, severity, status },
    ...{ title, message, openedAt, resolvedAt },
  };
}

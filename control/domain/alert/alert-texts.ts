/** The standard texts of messages, in English and Chinese: by language, event and kind. */

import type { AlertKind } from './alert-condition.ts';
import type { AlertEvent } from './alert-states.ts';

/** Languages of messages; the first one is the standard. */
export const alertLocales = ['en-US', 'zh-CN'] as const;
/** One of them. */
export type AlertLocale = (typeof alertLocales)[number];

/** Messages about an alert, in the order in which they come. */
export const alertEvents = ['firing', 'repeat', 'resolved'] as const satisfies AlertEvent[];

/** Title by event. */
export const standardTitles: Readonly<Record<AlertLocale, Readonly<Record<AlertEvent, string>>>> = {
  'en-US': {
    firing: '[{{alert.severity}}] {{rule.name}}: {{alert.subject}}',
    repeat: '[{{alert.severity}}] still firing: {{rule.name}}: {{alert.subject}}',
    resolved: '[resolved] {{rule.name}}: {{alert.subject}}',
  },
  'zh-CN': {
    firing: '[{{alert.severity}}] {{rule.name}}：{{alert.subject}}',
    repeat: '[{{alert.severity}}] 仍在告警：{{rule.name}}：{{alert.subject}}',
    resolved: '[已恢复] {{rule.name}}：{{alert.subject}}',
  },
};

/** What holds, by kind. */
export const standardTexts: Readonly<Record<AlertLocale, Readonly<Record<AlertKind, string>>>> = {
  'en-US': {
    security_threshold:
      '{{alert.count}} security events in {{alert.windowSeconds}} s for {{alert.subject}}; ' +
      'the threshold is {{alert.threshold}}.',
    node_offline: 'Node {{alert.subject}} is offline. Last seen: {{alert.lastSeenAt}}.',
    config_not_applied:
      'Node {{alert.subject}} is online and does not serve the latest configuration.',
    config_apply_failed:
      'Node {{alert.subject}} refused configuration {{alert.revision}}: {{alert.error}}',
    cert_expiring:
      'Certificate {{alert.subject}} ends at {{alert.notAfter}}; days left: {{alert.daysLeft}}.',
    origin_down: 'Origin {{alert.subject}} fails its health check. {{alert.error}}',
    log_storage:
      'Log storage is {{alert.subject}}: {{alert.availableBytes}} bytes are free on its disk.',
  },
  'zh-CN': {
    security_threshold:
      '{{alert.subject}} 在 {{alert.windowSeconds}} 秒内发生 {{alert.count}} 个安全事件，' +
      '阈值为 {{alert.threshold}}。',
    node_offline: '节点 {{alert.subject}} 离线，最后在线时间：{{alert.lastSeenAt}}。',
    config_not_applied: '节点 {{alert.subject}} 在线，但未应用最新配置。',
    config_apply_failed: '节点 {{alert.subject}} 拒绝了配置 {{alert.revision}}：{{alert.error}}',
    cert_expiring:
      '证书 {{alert.subject}} 将于 {{alert.notAfter}} 到期，剩余 {{alert.daysLeft}} 天。',
    origin_down: '源站 {{alert.subject}} 健康检查失败。{{alert.error}}',
    log_storage: '日志存储状态为 {{alert.subject}}，磁盘剩余 {{alert.availableBytes}} 字节。',
  },
};

/** What precedes the text of a message that an alert ended. */
export const resolvedTexts: Readonly<Record<AlertLocale, string>> = {
  'en-US': 'Ended at {{alert.resolvedAt}}: {{alert.reason}}. It was: ',
  'zh-CN': '已于 {{alert.resolvedAt}} 结束（{{alert.reason}}）。原告警：',
};

/** Why an alert ended, and severities, in Chinese; in English they are their own words. */
export const chineseWords: Readonly<Record<string, string>> = {
  condition_cleared: '条件已解除',
  operator: '由操作员处理',
  rule_changed: '规则已修改',
  rule_disabled: '规则已停用',
  rule_deleted: '规则已删除',
  critical: '严重',
  warning: '警告',
  info: '信息',
};

/** Names of what a message lists, by language. */
export const factNames: Readonly<Record<AlertLocale, Readonly<Record<string, string>>>> = {
  'en-US': { severity: 'Severity', openedAt: 'Opened', rule: 'Rule', alert: 'Alert' },
  'zh-CN': { severity: '级别', openedAt: '开始时间', rule: '规则', alert: '告警' },
};

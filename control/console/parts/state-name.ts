/** The words for states and kinds that the API names by a word of its own. */

import { language } from '../text/text.ts';

/** In Chinese; in English the API's word is shown with a capital. */
const chinese: Readonly<Record<string, string>> = {
  active: '启用',
  disabled: '停用',
  draft: '草稿',
  archived: '已归档',
  local: '本机',
  remote: '远程',
  online: '在线',
  connected: '已连接',
  built_in: '内置',
  offline: '离线',
  healthy: '健康',
  degraded: '降级',
  unhealthy: '异常',
  draining: '排空中',
  stale: '过期',
  success: '成功',
  failed: '失败',
  failure: '失败',
  stopped: '已停止',
  pending: '等待中',
  applied: '已应用',
  country: '国家/地区',
  city: '城市',
  asn: '自治系统',
  allow: '允许',
  deny: '拒绝',
  monitor: '仅记录',
  config_receipts_complete: '已在所有节点生效',
  config_pending: '等待发布',
  config_applying: '正在生效',
  config_failed: '未能生效',
  not_in_use: '未使用',
  unverified: '未确认（节点未连接）',
  store: '存储',
  engine: '引擎',
  configuration: '配置',
  origins: '源站',
  overload: '过载',
  observations: '观测数据',
  error: '错误',
  warn: '警告',
  upstream: '源站',
  http: 'HTTP',
  inspection: '检测',
  siem: 'SIEM',
  controllers: '控制器',
};

/** Words of the API that say too little in English. */
const english: Readonly<Record<string, string>> = {
  config_receipts_complete: 'in force on all nodes',
  config_pending: 'waits to be published',
  config_applying: 'is being applied',
  config_failed: 'could not be applied',
  not_in_use: 'not in use',
  unverified: 'not known: the node is not connected',
  siem: 'SIEM',
  http: 'HTTP',
  warn: 'warning',
  upstream: 'origin',
};

/** The word in the language that is shown; one that is not known here stays as it is. */
export function stateName(word: string): string {
  const plain = word.toLowerCase();
  const known = chinese[plain];
  if (known === undefined) return word;
  return language.value === 'en' ? capitalized(english[plain] ?? plain) : known;
}

/** As values of tables begin. */
export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

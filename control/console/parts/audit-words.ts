/** The words for actions and kinds of records that the audit trail names by a word of its own. */

import { language } from '../text/text.ts';
import { capitalized } from './state-name.ts';

/** In Chinese. */
const chinese: Readonly<Record<string, string>> = {
  ...{ create: '创建', update: '修改', upsert: '保存', delete: '删除', read: '读取' },
  ...{ add: '添加', set: '设置', reset: '重置', apply: '应用', publish: '发布' },
  ...{ upload: '上传', download: '下载', import: '导入', export: '导出', test: '测试' },
  ...{ login: '登录', logout: '退出登录', login_failed: '登录失败', session_ended: '会话结束' },
  ...{ change_password: '修改密码', reset_password: '重置密码', reset_mfa: '重置第二因素' },
  ...{ add_passkey: '添加通行密钥', rename_passkey: '重命名通行密钥' },
  ...{ remove_passkey: '移除通行密钥' },
  ...{ assign_roles: '分配角色', rotate: '轮换', order: '申请', cancel: '取消', sync: '同步' },
  ...{ add_entries: '添加条目', remove_entries: '移除条目', replace_entries: '替换条目' },
  ...{ expire_entries: '条目到期', pause: '暂停', resume: '恢复', replay: '重放', block: '拦截' },
  ...{ renew_certificate: '续期证书', retry_config: '重发配置', stage: '暂存', reject: '拒绝' },
  ...{ user: '用户', role: '角色', session: '会话', api_token: '令牌', site: '站点' },
  ...{ policy: '策略', rule_override: '排除项', custom_rule: '自定义规则', node: '节点' },
  ...{ rate_limit: '速率限制', ip_list: '地址列表', ip_list_binding: '地址列表绑定' },
  ...{ country_rule: '国家/地区规则', country_access_rule: '国家/地区规则', agent: '节点' },
  ...{ alert_channel: '告警通道', alert_rule: '告警规则', alert_silence: '告警静默' },
  ...{ certificate: '证书', cert: '证书', dns_provider: 'DNS 提供方', upstream: '源站池' },
  ...{ system_settings: '系统设置', log_policy: '日志策略', request_evidence: '请求证据' },
  ...{ agent_group: '节点组', enrollment_token: '注册令牌', trust_profile: '信任配置' },
  ...{ issue_enrollment_token: '签发注册令牌', link_identity: '关联身份', export_key: '导出密钥' },
  ...{ accept_held_update: '接受待确认的更新', discard_held_update: '放弃待确认的更新' },
  ...{ start: '启动', stop: '停止', verify: '校验', unchanged: '无变化', profile: '性能分析' },
  ...{
    rollback_effective: '回滚',
    site_routing: '站点路由',
    alert: '告警',
    geo_database: '地理数据库',
  },
  ...{ ai_proposal: '建议', ai: '语言模型', ai_secret: '语言模型密钥', api_asset: 'API 资产' },
  ...{ crs_ruleset: '规则集', crs_exclusion_plugin: '排除插件', evidence_key: '证据密钥' },
  ...{ policy_exclusion_plugin: '策略的排除插件', client_ip_analysis: '客户端地址分析' },
  ...{ detection_learning: '检测学习', schema_learning: 'API 学习', shadow_run: '影子运行' },
  ...{ operation_control: '操作控制', log_emergency: '日志应急' },
  ...{ binary_release: '程序版本', upgrade_run: '升级任务', publication: '发布', process: '进程' },
};

/** Words of the audit trail that say too little in English. */
const english: Readonly<Record<string, string>> = {
  upsert: 'save',
  login: 'sign in',
  logout: 'sign out',
  login_failed: 'failed sign-in',
  reset_mfa: 'reset the second factor',
};

/** The word in the language that is shown; in English as values of tables begin. */
export function auditWord(word: string): string {
  const known = language.value === 'en' ? english[word] : chinese[word];
  const text = known ?? word.replaceAll('_', ' ').replace(/\b(?:ip|api|ai|dns|crs)\b/g, upper);
  return capitalized(text);
}

const upper = (word: string): string => word.toUpperCase();

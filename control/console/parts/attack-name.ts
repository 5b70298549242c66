/** What people call the kinds of attack that the rules name by a word of their own. */

import { pageTexts } from '../text/text.ts';

const names = {
  sqli: ['SQL injection', 'SQL 注入'],
  xss: ['Cross-site scripting', '跨站脚本'],
  rce: ['Command execution', '命令执行'],
  lfi: ['Reading of files', '文件读取'],
  rfi: ['Inclusion of remote files', '远程文件包含'],
  ssrf: ['Requests forged by the server', '服务器端请求伪造'],
  ssti: ['Template injection', '模板注入'],
  ldap: ['LDAP injection', 'LDAP 注入'],
  dos: ['Denial of service', '拒绝服务'],
  fixation: ['Session fixation', '会话固定'],
  protocol: ['Broken protocol', '协议违规'],
  disclosure: ['Leaked information', '信息泄露'],
  'injection-php': ['PHP injection', 'PHP 注入'],
  'injection-java': ['Java injection', 'Java 注入'],
  'injection-generic': ['Code injection', '代码注入'],
  'reputation-ip': ['Client of bad repute', '信誉不良的客户端'],
  'reputation-scanner': ['Scanner', '扫描器'],
  'reputation-crawler': ['Crawler', '爬虫'],
  'reputation-scripting': ['Scripted client', '脚本客户端'],
} as const;

const w = pageTexts(names);
const isKnown = (kind: string): kind is keyof typeof names => Object.hasOwn(names, kind);

/** The name; '' for a kind that is not known here. */
export const attackName = (kind: string): string => (isKnown(kind) ? w(kind) : '');

/** What people call the kinds of attack that the rules name by a word of their own. */

import { pageTexts } from '../text/text.ts';

const names = {
  sqli: ['SQL injection', 'SQL 注入'],
  xss: ['cross-site scripting', '跨站脚本'],
  rce: ['command execution', '命令执行'],
  lfi: ['reading of files', '文件读取'],
  rfi: ['inclusion of remote files', '远程文件包含'],
  ssrf: ['requests forged by the server', '服务器端请求伪造'],
  ssti: ['template injection', '模板注入'],
  ldap: ['LDAP injection', 'LDAP 注入'],
  dos: ['denial of service', '拒绝服务'],
  fixation: ['session fixation', '会话固定'],
  protocol: ['broken protocol', '协议违规'],
  disclosure: ['leaked information', '信息泄露'],
  'injection-php': ['PHP injection', 'PHP 注入'],
  'injection-java': ['Java injection', 'Java 注入'],
  'injection-generic': ['code injection', '代码注入'],
  'reputation-ip': ['client of bad repute', '信誉不良的客户端'],
  'reputation-scanner': ['scanner', '扫描器'],
  'reputation-crawler': ['crawler', '爬虫'],
  'reputation-scripting': ['scripted client', '脚本客户端'],
} as const;

const w = pageTexts(names);
const isKnown = (kind: string): kind is keyof typeof names => Object.hasOwn(names, kind);

/** The name; '' for a kind that is not known here. */
export const attackName = (kind: string): string => (isKnown(kind) ? w(kind) : '');

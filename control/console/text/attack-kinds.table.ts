/** Chinese names of the kinds of attack that rankings show. */

/** By their English names. */
export const attackKinds: Readonly<Record<string, string>> = {
  'SQL injection': 'SQL 注入',
  'Cross-site scripting': '跨站脚本',
  'Command execution': '命令执行',
  'Reading of files': '文件读取',
  'Inclusion of remote files': '远程文件包含',
  'Requests forged by the server': '服务器端请求伪造',
  'Template injection': '模板注入',
  'LDAP injection': 'LDAP 注入',
  'Denial of service': '拒绝服务',
  'Session fixation': '会话固定',
  'Broken protocol': '协议违规',
  'Leaked information': '信息泄露',
  'PHP injection': 'PHP 注入',
  'Java injection': 'Java 注入',
  'Code injection': '代码注入',
  'Client of bad repute': '信誉不良的客户端',
  Scanner: '扫描器',
  Crawler: '爬虫',
  'Scripted client': '脚本客户端',
};

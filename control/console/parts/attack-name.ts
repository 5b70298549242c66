/** What people call the kinds of attack that the rules name by a word of their own. */

import { said } from '../text/sentences.ts';

const names: Readonly<Record<string, string>> = {
  sqli: 'SQL injection',
  xss: 'Cross-site scripting',
  rce: 'Command execution',
  lfi: 'Reading of files',
  rfi: 'Inclusion of remote files',
  ssrf: 'Requests forged by the server',
  ssti: 'Template injection',
  ldap: 'LDAP injection',
  dos: 'Denial of service',
  fixation: 'Session fixation',
  protocol: 'Broken protocol',
  disclosure: 'Leaked information',
  'injection-php': 'PHP injection',
  'injection-java': 'Java injection',
  'injection-generic': 'Code injection',
  'reputation-ip': 'Client of bad repute',
  'reputation-scanner': 'Scanner',
  'reputation-crawler': 'Crawler',
  'reputation-scripting': 'Scripted client',
};

/** The name; '' for a kind that is not known here. */
export const attackName = (kind: string): string =>
  Object.hasOwn(names, kind) ? said(names[kind]!) : '';

/** The words for actions and kinds of records that the audit trail names by a word of its own. */

import { chineseAuditWords } from '../text/audit-words.table.ts';
import { language } from '../text/text.ts';
import { capitalized } from './state-name.ts';

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
  const known = language.value === 'en' ? english[word] : chineseAuditWords[word];
  const text = known ?? word.replaceAll('_', ' ').replace(/\b(?:ip|api|ai|dns|crs)\b/g, upper);
  return capitalized(text);
}

const upper = (word: string): string => word.toUpperCase();

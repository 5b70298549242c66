/** `waf rate-limit fields`: whether answers of a site tell clients what rate limits leave them. */

import type { CommandDefinition } from '../command.ts';
import { siteOptionCommand } from '../site/site-option.ts';
import { curlOf } from '../try-lines.ts';

/** The command. */
export const rateLimitFieldsCommand: CommandDefinition = siteOptionCommand({
  path: ['rate-limit', 'fields'],
  option: { key: 'rate_limit.fields', choices: ['off', 'on'] },
  summary: 'Show or change whether answers of a site have RateLimit fields',
  help:
    'Without a flag it shows the setting. RateLimit and RateLimit-Policy name each limit that\n' +
    'applies to the request and is enforced, with what is left of it.\n' +
    'Example: waf rate-limit fields shop --answers on',
  flag: 'answers',
  flagSummary: 'whether answers have the fields',
  tryLine: (site, choice) => {
    const answer = choice === 'on' ? 'with RateLimit where a limit applies' : 'without RateLimit';
    return `Try: ${curlOf(site)}/ answers ${answer}`;
  },
});

/** `waf site array-names`: how the origin of a site reads names such as `n[]`. */

import { curlOf } from '../try-lines.ts';
import type { CommandDefinition } from '../command.ts';
import { siteOptionCommand } from './site-option.ts';

/** The command. */
export const siteArrayNamesCommand: CommandDefinition = siteOptionCommand({
  path: ['site', 'array-names'],
  option: { key: 'api.array_names', choices: ['none', 'php', 'qs'] },
  summary: "Show or change how a site's origin reads names such as n[], for API checks",
  help:
    'Without a flag it shows the setting. With php or qs (Express), checks of API documents take\n' +
    'n[], n[0] and n for one name, as the origin does: a list is checked as the parameter n, and a\n' +
    'list or map in place of a single value is a violation. With none each is a name of its own.\n' +
    'Example: waf site array-names shop --names php',
  flag: 'names',
  flagSummary: 'how the origin reads such names',
  tryLine: (site, choice) => {
    const answer =
      choice === 'none'
        ? 'is checked as the parameter "ids[]"'
        : 'is checked as a list, the parameter "ids" of your API document';
    return `Try: ${curlOf(site, "-G -d 'ids[]=1' -d 'ids[]=2' ")}/ ${answer}`;
  },
});

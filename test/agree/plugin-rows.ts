/** What exclusion plugins leave out, for the whole site and under a path. */

import { packArchive } from '../../control/publish/rulesets/ruleset-pack.ts';
import type { EffectRow, Expected, RowCall, RowRequest } from './effect-row.ts';

/** Matches 942100 and nothing else under both rulesets. */
const sqli = '1%27%20OR%20%271%27=%271';
const attack: RowRequest = { url: `/shop?id=${sqli}` };
const blocked: Expected = { status: 403, with: [942_100], score: 5 };
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

const login = (path: string): RowRequest => ({
  url: path,
  method: 'POST',
  headers: form,
  body: `log=a&pwd=${sqli}`,
});

function exclusion(pluginSlug: string, pathPrefix: string): RowCall {
  const binding = { policyId: '$policy', pluginSlug, enabled: true, pathPrefix };
  return { rpc: 'CrsService/UpsertPolicyExclusionPlugin', body: { binding } };
}

/** As the CRS project writes them: a switch, then exclusions in a range of numbers. */
const pluginRules = `SecRule &TX:own-plugin_enabled "@eq 0" \\
  "id:9599010,phase:1,pass,nolog,setvar:'tx.own-plugin_enabled=1'"
SecRule TX:own-plugin_enabled "@eq 0" \\
  "id:9599099,phase:1,pass,nolog,ctl:ruleRemoveById=9599100-9599199"
SecRule REQUEST_FILENAME "@endsWith /login.php" \\
  "id:9599100,phase:1,pass,nolog,ctl:ruleRemoveTargetById=942100;ARGS:pwd"
`;
const pluginArchive = packArchive([
  { path: 'own/plugins/own-before.conf', content: Buffer.from(pluginRules) },
]).toString('base64');

/** Plugins of the ruleset, and one that is imported. */
export const pluginRows: readonly EffectRow[] = [
  {
    name: 'an exclusion plugin that the ruleset holds',
    only: 'CRS 3.3.4',
    changes: [exclusion('wordpress-rule-exclusions', '')],
    request: login('/wp-login.php'),
    before: blocked,
    after: { status: 200, without: [942_100] },
    other: { ...attack, expected: blocked },
  },
  {
    name: 'an exclusion plugin that the ruleset holds, under a path',
    only: 'CRS 3.3.4',
    changes: [exclusion('wordpress-rule-exclusions', '/blog')],
    request: login('/blog/wp-login.php'),
    before: blocked,
    after: { status: 200, without: [942_100] },
    other: { ...login('/wp-login.php'), expected: blocked },
  },
  {
    name: 'an exclusion plugin that was imported, under a path',
    only: 'CRS 4.28.0',
    changes: [
      {
        rpc: 'CrsService/ImportCrsExclusionPlugin',
        body: { idOrSlug: 'own', archive: pluginArchive },
      },
      exclusion('own', '/app'),
    ],
    request: login('/app/login.php'),
    before: blocked,
    after: { status: 200, without: [942_100] },
    other: { ...login('/other/login.php'), expected: blocked },
  },
];

/** A ruleset of one rule, with a plugin, and with the exclusions of WordPress. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the ruleset below `folder` and returns its place. */
export function writeSmallRuleset(folder: string): string {
  const rules = join(folder, 'crs', 'rules');
  const plugins = join(folder, 'crs', 'plugins');
  mkdirSync(rules, { recursive: true });
  mkdirSync(plugins, { recursive: true });
  const rule = `SecRule ARGS "@contains evil" "id:942999,phase:2,deny,ver:'OWASP_CRS/3.9.1'"\n`;
  writeFileSync(join(rules, 'REQUEST-942.conf'), rule);
  const exclusions = 'REQUEST-903.9002-WORDPRESS-EXCLUSION-RULES.conf';
  writeFileSync(join(rules, exclusions), 'SecAction "id:9002000,phase:1,pass,nolog"\n');
  const action = (id: number, set: string): string =>
    `SecAction "id:${id},phase:1,pass,nolog,setvar:'tx.${set}'"\n`;
  writeFileSync(join(plugins, 'shop-config.conf'), action(9_500_010, 'shop-plugin_level=1'));
  writeFileSync(join(plugins, 'shop-before.conf'), action(9_500_100, 'shop-plugin_ran=1'));
  return join(folder, 'crs');
}

/**
 * The rules that every WAF of a run gets: one text for all of them, so that only the engines
 * differ. Never holds rules itself; it points to installed or given rule folders.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import { readRulesetFolder } from '../../control/publish/rulesets/ruleset-folder.ts';

/** A rule set at one paranoia level. */
export interface Ruleset {
  /** Short name that targets carry. */
  readonly name: string;
  readonly title: string;
  readonly setupFile: string;
  readonly rulesFolder: string;
  readonly paranoiaLevel: number;
  /** CRS 3 and CRS 4 read the level from different variables. */
  readonly levelVariables: readonly string[];
  /** The built-in template whose policy it is, as control publishes it, levels and all. */
  readonly template?: string;
}

/** Where the rule folders are; null for those that are not there. */
export interface RulesetFolders {
  readonly debianRules: string;
  readonly debianSetup: string;
  readonly crs4: string | null;
}

/** The usual places. `crs4`: an unpacked CRS 4 release. */
export function locateRulesets(crs4: string | null): RulesetFolders {
  const found = crs4 !== null && existsSync(join(crs4, 'rules')) ? crs4 : null;
  return {
    debianRules: '/usr/share/modsecurity-crs/rules',
    debianSetup: '/etc/modsecurity/crs/crs-setup.conf',
    crs4: found,
  };
}

/** Every rule set that can be measured here. */
export function availableRulesets(folders: RulesetFolders): Ruleset[] {
  const sets: Ruleset[] = [];
  if (existsSync(folders.debianSetup) && existsSync(folders.debianRules)) {
    sets.push({
      name: 'crs3-pl1',
      title: 'CRS 3.3.4 PL1',
      setupFile: folders.debianSetup,
      rulesFolder: folders.debianRules,
      paranoiaLevel: 1,
      levelVariables: ['paranoia_level', 'executing_paranoia_level'],
    });
  }
  if (folders.crs4 !== null) {
    for (const level of [1, 2]) sets.push(crs4Ruleset(folders.crs4, level));
  }
  return sets;
}

/** The policies of built-in templates on CRS 4; only this proxy runs them. */
export function templateRulesets({ crs4 }: RulesetFolders): Ruleset[] {
  if (crs4 === null) return [];
  const onCrs4 = crs4Ruleset(crs4, 1);
  return ['Light', 'Standard'].map((template) => {
    const title = `${template} template, CRS 4`;
    return { ...onCrs4, name: template.toLowerCase(), title, template };
  });
}

function crs4Ruleset(folder: string, level: number): Ruleset {
  const setup = ['crs-setup.conf', 'crs-setup.conf.example'].map((name) => join(folder, name));
  return {
    name: `crs4-pl${level}`,
    title: `CRS 4 PL${level}`,
    setupFile: setup.find((file) => existsSync(file)) ?? setup[1]!,
    rulesFolder: join(folder, 'rules'),
    paranoiaLevel: level,
    levelVariables: ['blocking_paranoia_level', 'detection_paranoia_level'],
  };
}

/** The rule files in the order in which they are included. */
export function ruleFiles(ruleset: Ruleset): string[] {
  return readdirSync(ruleset.rulesFolder)
    .filter((name) => name.endsWith('.conf'))
    .sort()
    .map((name) => join(ruleset.rulesFolder, name));
}

/** Every file that the policy's text may include, by the path that the text names. */
export function policyFiles(ruleset: Ruleset): Map<string, Uint8Array> {
  if (ruleset.template !== undefined) {
    const { files: read } = readRulesetFolder(dirname(ruleset.rulesFolder));
    return new Map(read.map((file) => [file.path, file.content]));
  }
  const files = new Map<string, Uint8Array>();
  for (const folder of new Set([ruleset.rulesFolder, dirname(ruleset.setupFile)])) {
    for (const name of readdirSync(folder)) {
      if (!/\.(conf|data|example)$/.test(name)) continue;
      const path = join(folder, name);
      files.set(path, readFileSync(path));
    }
  }
  return files;
}

/**
 * The policy of a run: blocking, request bodies inspected, response bodies not, no audit log; the
 * limits and rules 200000-200005 that ModSecurity recommends. `folder` takes temporary files. Of a
 * template its own text.
 */
export function policyText(ruleset: Ruleset, folder: string): string {
  if (ruleset.template !== undefined) return templateText(ruleset, ruleset.template);
  const level = ruleset.levelVariables
    .map((name) => `setvar:tx.${name}=${ruleset.paranoiaLevel}`)
    .join(',');
  return [
    ...engineText(folder),
    `Include ${ruleset.setupFile}`,
    `SecAction "id:900000,phase:1,pass,t:none,nolog,${level}"`,
    ...ruleFiles(ruleset).map((file) => `Include ${file}`),
    '',
  ].join('\n');
}

function templateText({ rulesFolder }: Ruleset, name: string): string {
  const template = builtInTemplates.find((one) => one.name === name);
  if (template === undefined) throw new Error(`no built-in template ${name}`);
  const { version, includes } = readRulesetFolder(dirname(rulesFolder));
  return renderPolicy(template, { version, includes }).seclang;
}

function engineText(folder: string): string[] {
  return [
    'SecRuleEngine On',
    'SecRequestBodyAccess On',
    'SecResponseBodyAccess Off',
    'SecRequestBodyLimit 13107200',
    'SecRequestBodyNoFilesLimit 131072',
    'SecRequestBodyLimitAction Reject',
    'SecPcreMatchLimit 100000',
    'SecPcreMatchLimitRecursion 100000',
    'SecArgumentSeparator &',
    'SecCookieFormat 0',
    'SecAuditEngine Off',
    `SecTmpDir ${folder}`,
    `SecDataDir ${folder}`,
    'SecRule REQUEST_HEADERS:Content-Type "^(?:application(?:/soap\\+|/)|text/)xml" \\',
    '  "id:200000,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"',
    'SecRule REQUEST_HEADERS:Content-Type "^application/json" \\',
    '  "id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"',
    'SecRule REQBODY_ERROR "!@eq 0" \\',
    '  "id:200002,phase:2,t:none,log,deny,status:400,msg:\'Failed to parse request body\'"',
    'SecRule MULTIPART_STRICT_ERROR "!@eq 0" \\',
    '  "id:200003,phase:2,t:none,log,deny,status:400,msg:\'Multipart fails strict validation\'"',
    'SecRule MULTIPART_UNMATCHED_BOUNDARY "!@eq 0" \\',
    '  "id:200004,phase:2,t:none,log,deny,status:400,msg:\'Possible unmatched boundary\'"',
    'SecRule TX:/^MSC_/ "!@streq 0" \\',
    '  "id:200005,phase:2,t:none,log,deny,msg:\'Engine error flagged: %{MATCHED_VAR_NAME}\'"',
  ];
}

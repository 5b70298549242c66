/**
 * What the files of a CRS plugin say about it: which files belong together, which settings it
 * takes, which rules and which switch it has. Reads syntax only; never decides what a rule does.
 */

import { encodeUtf8 } from '../../../base/byte-string.ts';
import { parseSecLang } from '../../../engine/rules/language/parse.ts';
import { evaluationInDirective } from './evaluation-rules.ts';

/** A file of a plugin; `text` is a byte string. */
export interface PluginText {
  readonly path: string;
  readonly text: string;
}

/** Files that are one plugin. */
export interface PluginFiles {
  /** For example `wordpress-rule-exclusions`. */
  readonly name: string;
  /** `name-config.conf` and the like, by path. */
  readonly configs: readonly string[];
  readonly befores: readonly string[];
  readonly afters: readonly string[];
  /** Every file, data files included. */
  readonly all: readonly string[];
}

/** Settings of a plugin as JSON Schema. */
export interface PluginSchema {
  readonly $schema: string;
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly properties: Readonly<Record<string, PluginSetting>>;
}

/** One setting: a variable that the plugin reads. */
export interface PluginSetting {
  readonly type: 'integer' | 'string';
  readonly default: number | string;
  readonly description?: string;
}

const confName = /([^/]+)-(config|before|after)\.conf$/;
const settingsMax = 256;
const descriptionCharactersMax = 500;

/** Plugins by name; data files go with the plugin whose name they begin with, else with each. */
export function groupPlugins(paths: readonly string[]): PluginFiles[] {
  const names = [...new Set(paths.flatMap((path) => confName.exec(path)?.[1] ?? []))].sort();
  return names.map((name) => {
    const of = (place: string): string[] =>
      paths.filter((path) => path.endsWith(`/${name}-${place}.conf`));
    const data = paths.filter((path) => !confName.test(path) && belongs(path, name, names));
    const [configs, befores, afters] = [of('config'), of('before'), of('after')];
    return { name, configs, befores, afters, all: [...configs, ...befores, ...afters, ...data] };
  });
}

function belongs(path: string, name: string, names: readonly string[]): boolean {
  const file = path.slice(path.lastIndexOf('/') + 1);
  const owners = names.filter((one) => file.startsWith(one));
  return owners.length === 0 || owners.includes(name);
}

/** The settings that the configuration files set, those that are commented out included. */
export function pluginSchema(configs: readonly PluginText[]): PluginSchema {
  const properties: Record<string, PluginSetting> = {};
  for (const { text } of configs) readSettings(text, properties);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    additionalProperties: false,
    properties,
  };
}

function readSettings(text: string, into: Record<string, PluginSetting>): void {
  let remarks: string[] = [];
  for (const line of text.split('\n')) {
    const bare = line.replace(/^#+ ?/, '');
    const sets = [...bare.matchAll(/setvar:'?tx\.([\w-]+)=([^'",]*)/gi)];
    for (const [, name = '', value = ''] of sets) {
      if (Object.hasOwn(into, name) || Object.keys(into).length >= settingsMax) continue;
      into[name] = settingOf(value, remarks.join(' ').trim());
    }
    if (sets.length > 0) remarks = [];
    else if (line.trim() === '' || line.trim() === '#') remarks = [];
    else if (line.startsWith('#') && !/^\s*(?:Sec\w+|"?id:|\w+:?\S*,\\)/.test(bare)) {
      remarks.push(bare.trim());
    }
  }
}

function settingOf(value: string, remark: string): PluginSetting {
  const isNumber = /^-?\d{1,15}$/.test(value);
  return {
    type: isNumber ? 'integer' : 'string',
    default: isNumber ? Number(value) : value,
    ...(remark === '' ? {} : { description: remark.slice(0, descriptionCharactersMax) }),
  };
}

/** The variable that switches a plugin off when it is 0; '' when it has none. */
export function switchOf(texts: readonly PluginText[]): string {
  for (const { text } of texts) {
    const found = /\btx[.:]([\w-]+-plugin_enabled)\b/i.exec(text);
    if (found !== null) return found[1] ?? '';
  }
  return '';
}

/** Numbers of all rules, ascending. */
export function ruleIdsOf(texts: readonly PluginText[]): number[] {
  const ids = texts.flatMap(({ text, path }) =>
    parseSecLang(text, path).directives.flatMap((directive) =>
      directive.kind === 'SecRule' || directive.kind === 'SecAction'
        ? directive.actions
            .filter(({ name }) => name.text.toLowerCase() === 'id')
            .map(({ value }) => Number(value?.text))
        : [],
    ),
  );
  return [...new Set(ids)].filter(Number.isInteger).sort((left, right) => left - right);
}

const allowed = new Set([
  'SecRule',
  'SecAction',
  'SecMarker',
  'SecRuleRemoveById',
  'SecRuleRemoveByTag',
  'SecRuleRemoveByMsg',
  'SecRuleUpdateTargetById',
  'SecRuleUpdateTargetByTag',
  'SecRuleUpdateTargetByMsg',
  'SecRuleUpdateActionById',
]);

/** What a plugin's rules must not hold, as `file:line reason`; null when there is nothing. */
export function pluginFault(texts: readonly PluginText[]): string | null {
  for (const { path, text } of texts) {
    const file = path.slice(path.lastIndexOf('/') + 1);
    const { directives, diagnostics } = parseSecLang(text, file);
    const error = diagnostics.find(({ severity }) => severity === 'error');
    if (error !== undefined) return `${file}:${error.span.line} ${error.code}`;
    const foreign = directives.find(({ kind }) => !allowed.has(kind));
    for (const directive of directives) {
      const reason = evaluationInDirective(directive);
      if (reason !== null) return `${file}:${directive.span.line} ${reason}`;
    }
    if (foreign !== undefined) return `${file}:${foreign.span.line} is no rule`;
  }
  return null;
}

/** SecLang that sets a plugin's variables. `values` were checked against its schema. */
export function renderPluginConfig(
  ruleId: number,
  values: Readonly<Record<string, unknown>>,
): string {
  const sets = Object.entries(values).map(([name, value]) => {
    const text = typeof value === 'boolean' ? String(Number(value)) : String(value);
    return `setvar:'tx.${name}=${text}'`;
  });
  if (sets.length === 0) return '';
  return encodeUtf8(`SecAction "id:${ruleId},phase:1,pass,t:none,nolog,${sets.join(',')}"`);
}

/** Why a value does not fit a setting; null when it does. */
export function settingFault(setting: PluginSetting, value: unknown): string | null {
  if (setting.type === 'integer') {
    if (typeof value === 'boolean') return null;
    const whole = typeof value === 'number' && Number.isSafeInteger(value);
    return whole ? null : 'must be a whole number';
  }
  if (typeof value !== 'string' || value.length > 1024) return 'must be text';
  return /^[^\0-\x1f'"\\%,]*$/.test(value) ? null : 'must have no quotes, commas, % or \\';
}

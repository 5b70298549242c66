/**
 * Reads a ruleset from a folder: a CRS release, Debian's package, or plain rule files. Finds its
 * version and the order of its files; never parses a rule.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { AppError } from '../../../base/errors.ts';
import type { RulesetIncludes } from '../../domain/records.ts';

/** Rules beside an installed program, which a package of it brings. */
const packagedFolder = fileURLToPath(new URL('../../../../../crs', import.meta.url));
/** The rules of the built-in ruleset: those of this program, else of Debian's package of them. */
export const builtInCrsFolder = existsSync(join(packagedFolder, 'rules'))
  ? packagedFolder
  : '/usr/share/modsecurity-crs';
/** Where Debian keeps the best-fit table for urlDecodeUni. */
const debianUnicodeMap = '/etc/modsecurity/unicode.mapping';

/** One file of a ruleset. */
export interface RulesetFile {
  /** Path inside the ruleset, with forward slashes. */
  readonly path: string;
  readonly content: Uint8Array;
}

/** A ruleset as its folder gave it. */
export interface ReadRuleset {
  /** SHA-256 over paths and contents, hex. */
  readonly fingerprint: string;
  /** For example '3.3.4'; '' when no rule states one. */
  readonly version: string;
  readonly files: readonly RulesetFile[];
  readonly includes: RulesetIncludes;
  readonly ruleCount: number;
}

/** Reads a folder. Errors: AppError ruleset_unreadable, ruleset_empty, ruleset_too_large. */
export function readRulesetFolder(folder: string): ReadRuleset {
  const rules = existsSync(join(folder, 'rules')) ? 'rules' : '';
  const ruleNames = namesIn(join(folder, rules));
  const pluginNames = existsSync(join(folder, 'plugins')) ? namesIn(join(folder, 'plugins')) : [];
  const files = [
    ...ruleNames.map((name) => readInto(folder, rules, name, 'crs/rules')),
    ...pluginNames.map((name) => readInto(folder, 'plugins', name, 'crs/plugins')),
  ];
  const map = [join(folder, 'unicode.mapping'), debianUnicodeMap].find((path) => existsSync(path));
  if (map !== undefined) files.push({ path: 'crs/unicode.mapping', content: readBounded(map) });
  return describeRuleset(files, folder);
}

/** The number of a rule, where no comment holds it. */
const numbered = /^(?![ \t]*#).*?["',\s]id:'?\d+/gm;

/** What a set of files is as a ruleset; `from` stands in messages. Errors: as readRulesetFolder. */
export function describeRuleset(files: readonly RulesetFile[], from: string): ReadRuleset {
  if (files.length > resourceLimits.rulesetFilesMax)
    throw failure('ruleset_too_large', `${from} has too many files`);
  const confs = (start: string, end = '.conf'): string[] =>
    files
      .map(({ path }) => path)
      .filter((path) => path.startsWith(start) && path.endsWith(end))
      .sort();
  const includes: RulesetIncludes = {
    pluginConfigs: confs('crs/plugins/', '-config.conf'),
    pluginsBefore: confs('crs/plugins/', '-before.conf'),
    rules: confs('crs/rules/'),
    pluginsAfter: confs('crs/plugins/', '-after.conf'),
    unicodeMap: files.some(({ path }) => path === 'crs/unicode.mapping')
      ? 'crs/unicode.mapping'
      : '',
  };
  if (includes.rules.length === 0) {
    throw failure('ruleset_empty', `${from} holds no *.conf file, neither there nor in rules/`);
  }
  const texts = files
    .filter(({ path }) => path.endsWith('.conf'))
    .map(({ content }) => Buffer.from(content).toString('latin1'));
  const found = texts.map((text) => /ver:'OWASP_CRS\/([^']{1,32})'/.exec(text)?.[1]);
  return {
    fingerprint: fingerprintOf(files),
    version: found.find((version) => version !== undefined) ?? '',
    files,
    includes,
    // A chain is one rule and has one number.
    ruleCount: texts.reduce((sum, text) => sum + (text.match(numbered)?.length ?? 0), 0),
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /\.(?:conf|data)$/.test(name))
      .sort();
  } catch (error) {
    throw new AppError('ruleset_unreadable', `the ruleset folder ${folder} cannot be read`, {
      source: 'config',
      cause: error,
    });
  }
}

function readInto(folder: string, part: string, name: string, target: string): RulesetFile {
  return { path: `${target}/${name}`, content: readBounded(join(folder, part, name)) };
}

function readBounded(path: string): Uint8Array {
  if (statSync(path).size > resourceLimits.rulesetFileBytesMax) {
    throw failure(
      'ruleset_too_large',
      `${path} is larger than ${resourceLimits.rulesetFileBytesMax} bytes`,
    );
  }
  return new Uint8Array(readFileSync(path));
}

function fingerprintOf(files: readonly RulesetFile[]): string {
  const hash = createHash('sha256');
  for (const { path, content } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    hash.update(`${path}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

function failure(code: string, message: string): AppError {
  return new AppError(code, message, { source: 'config' });
}

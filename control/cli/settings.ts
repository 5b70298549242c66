/** Where global settings come from: flags, environment, config file, then defaults. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../base/errors.ts';
import { commandLineLimits } from '../limits/command-limits.ts';
import { logFormatVariable } from '../../base/log.ts';
import type { GlobalOptions } from './global-options.ts';
import { unreadableText } from './input.ts';

/** Global flags as the parser hands them over. */
export interface GlobalFlags {
  readonly api?: string;
  readonly token?: string;
  readonly adminSocket?: string;
  readonly caFile?: string;
  readonly insecure?: boolean;
  readonly config?: string;
  readonly logLevel?: string;
  readonly logFormat?: string;
  readonly output?: string;
  readonly data?: string;
}

const names = [
  'api',
  'token',
  'caFile',
  'adminSocket',
  'logLevel',
  'logFormat',
  'output',
  'data',
] as const;
type Name = (typeof names)[number];

/** The nearest folder upward that holds package.json. */
export function findPackageFolder(from: string = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) return from;
  }
}

/** Where sessions are kept: a folder of the person, never of the installation. */
function credentialsFile(environment: NodeJS.ProcessEnv): string {
  const folder = environment['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  return resolve(environment['WAF_CREDENTIALS'] || join(folder, 'waf', 'credentials.json'));
}

/** What a settings file says. */
export interface SettingsFile {
  readonly path: string;
  readonly settings: Readonly<Partial<Record<Name, string>>>;
  /** Flags of commands that stay in the foreground, by the command's words. */
  readonly commands: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

/** The settings file of a command line; null when none is named. Errors: AppError bad_config. */
export function readSettingsFile(
  flags: GlobalFlags,
  environment: NodeJS.ProcessEnv,
): Promise<SettingsFile> | null {
  const path = flags.config ?? environment['WAF_CONFIG'] ?? '';
  return path === '' ? null : readConfig(path);
}

/** Resolves the global settings. Errors: AppError bad_flag. */
export function resolveSettings(
  flags: GlobalFlags,
  environment: NodeJS.ProcessEnv,
  packageFolder: string,
  file: SettingsFile | null,
): GlobalOptions {
  const pick = (name: Name, variable: string): string | undefined =>
    flags[name] ?? environment[variable] ?? file?.settings[name];
  const fitting = process.stderr.isTTY ? 'text' : 'json';
  const data = resolve(pick('data', 'WAF_DATA') ?? join(packageFolder, 'var'));
  return {
    api: pick('api', 'WAF_API'),
    token: pick('token', 'WAF_TOKEN'),
    caFile: pick('caFile', 'WAF_CA_FILE'),
    insecure: flags.insecure === true,
    data,
    adminSocket: resolve(pick('adminSocket', 'WAF_ADMIN_SOCKET') ?? join(data, 'admin.sock')),
    logLevel: oneOf('--log-level', pick('logLevel', 'WAF_LOG_LEVEL') ?? 'info', logLevels),
    logFormat: oneOf('--log-format', pick('logFormat', logFormatVariable) ?? fitting, logFormats),
    output: oneOf('--output', pick('output', 'WAF_OUTPUT') ?? 'table', outputFormats),
    credentials: credentialsFile(environment),
  };
}

const outputFormats = ['table', 'json', 'yaml'] as const;
const logFormats = ['json', 'text'] as const;
const logLevels = ['debug', 'info', 'warn', 'error'] as const;

function oneOf<T extends string>(flag: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  throw new AppError('bad_flag', `${flag} wants one of: ${allowed.join(', ')}`, {
    source: 'config',
  });
}

/** Commands that a file may set flags of. */
const services = ['run', 'engine', 'agent run'];

/** Reads a YAML (or JSON) file of settings; an unknown key is an error that names it. */
async function readConfig(path: string): Promise<SettingsFile> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new AppError('bad_config', unreadableText(path, cause), { source: 'config', cause });
  }
  if (text.length > commandLineLimits.configBytesMax)
    throw badConfig(path, 'it is longer than 64 KiB');
  const { readYaml } = await import('../documents/yaml-text.ts');
  const value = readYaml(text, path)[0]?.value ?? null;
  const settings: Partial<Record<Name, string>> = {};
  const commands = new Map<string, Readonly<Record<string, unknown>>>();
  for (const [key, entry] of Object.entries(mappingOf(value ?? {}, path, 'it'))) {
    const name = names.find((one) => one === key);
    if (services.includes(key)) commands.set(key, mappingOf(entry ?? {}, path, key));
    else if (name === undefined) {
      throw badConfig(path, `unknown key ${key}; known: ${[...names, ...services].join(', ')}`);
    } else if (typeof entry !== 'string') throw badConfig(path, `${key} wants a text`);
    else settings[name] = entry;
  }
  if (settings.token !== undefined && (statSync(path).mode & 0o077) !== 0) {
    throw badConfig(path, `it holds a token and can be read by others: chmod 600 ${path}`);
  }
  return { path, settings, commands };
}

function mappingOf(value: unknown, path: string, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw badConfig(path, `${what} is no mapping`);
}

/** What is wrong with a settings file. */
export function badConfig(path: string, why: string): AppError {
  return new AppError('bad_config', `${path}: ${why}`, { source: 'config' });
}

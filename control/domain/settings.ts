/**
 * Owns the settings of the deployment: which there are, what they may be, what they are without.
 */

import { acmeKey, checkAcmeSettings } from './acme.ts';
import { aiKey, checkAiSettings, standardAiSettings } from './ai-settings.ts';
import { invalidField } from './errors.ts';
import { checkReleaseSource, releaseSourceKey, standardReleaseSource } from './crs-releases.ts';
import {
  checkGeoDigest,
  checkGeoSource,
  geoDigestKey,
  geoSourceKey,
  standardGeoSource,
} from './geo-sources.ts';
import { allowedNetworksKey, checkAllowedNetworks } from './outgoing-settings.ts';
import { checkReleaseKeys, releaseKeysKey } from './releases.ts';
import {
  checkIndexAuthority,
  checkIndexUrl,
  indexAuthorityKey,
  releaseIndexKey,
} from './release-index.ts';
import { identitySettings } from './identity-settings.ts';
import { checkSiemTargets, siemTargetsKey } from './siem-settings.ts';

/** One setting. */
interface Setting {
  readonly key: string;
  readonly standard: unknown;
  /** True when nodes have to hear of it. */
  readonly published: boolean;
  /** Errors: invalid_argument under `at`. */
  check(value: unknown, at: string): void;
}

/** Key of the block pages. */
export const responsesKey = 'security.responses.config';
const accessKey = 'auth.access_token_seconds';
const refreshKey = 'auth.refresh_token_seconds';

const templates = ['auto', 'html', 'json', 'plain', 'custom'];
const scenarios = [
  'waf_block',
  'ip_deny',
  'country_deny',
  'rate_limit',
  'bot_block',
  'service_unavailable',
];
const variables = [
  'response.status_code',
  'response.kind',
  'response.source',
  'response.title',
  'response.message',
  'request.id',
  'request.time',
];
const bodyCharactersMax = 65_536;

/** All settings. */
export const settings: readonly Setting[] = [
  { key: responsesKey, standard: {}, published: true, check: checkResponses },
  { key: accessKey, standard: 28_800, published: false, check: seconds(60, 86_400) },
  { key: refreshKey, standard: 604_800, published: false, check: seconds(300, 7_776_000) },
  { key: allowedNetworksKey, standard: [], published: false, check: checkAllowedNetworks },
  {
    key: releaseSourceKey,
    standard: standardReleaseSource,
    published: false,
    check: checkReleaseSource,
  },
  { key: geoSourceKey, standard: standardGeoSource, published: false, check: checkGeoSource },
  { key: geoDigestKey, standard: '', published: false, check: checkGeoDigest },
  { key: releaseKeysKey, standard: [], published: false, check: checkReleaseKeys },
  { key: releaseIndexKey, standard: '', published: false, check: checkIndexUrl },
  { key: indexAuthorityKey, standard: '', published: false, check: checkIndexAuthority },
  { key: acmeKey, standard: {}, published: false, check: checkAcmeSettings },
  { key: aiKey, standard: standardAiSettings, published: false, check: checkAiSettings },
  { key: siemTargetsKey, standard: [], published: true, check: checkSiemTargets },
  ...identitySettings.map((one) => ({ ...one, published: false })),
];

/** Lifetimes of sessions, milliseconds, from stored values. */
export function sessionTimesOf(values: Readonly<Record<string, unknown>>): {
  readonly accessMs: number;
  readonly refreshMs: number;
} {
  const read = (key: string): number => {
    const standard = settings.find((one) => one.key === key)?.standard;
    return Number(values[key] ?? standard) * 1000;
  };
  return { accessMs: read(accessKey), refreshMs: read(refreshKey) };
}

/** Checks given values. Errors: invalid_argument naming the key. */
export function checkSettings(values: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(values)) {
    const setting = settings.find((one) => one.key === key);
    if (setting === undefined) {
      const known = settings.map((one) => one.key).join(', ');
      throw invalidField('values', `Unknown key. Allowed: ${known}.`);
    }
    if (value !== null) setting.check(value, `values.${key}`);
  }
}

/** The block pages as the engine takes them; '' for the built-in ones. */
export function responsesJson(values: Readonly<Record<string, unknown>>): string {
  const config = record(values[responsesKey] ?? {}, responsesKey);
  if (Object.keys(config).length === 0) return '';
  const { active = 'auto', ...bodies } = record(config['templates'] ?? {}, responsesKey);
  return JSON.stringify({ active, templates: bodies, scenarios: config['scenarios'] ?? {} });
}

function checkResponses(value: unknown, at: string): void {
  const config = record(value, at);
  onlyKnown(config, ['templates', 'scenarios'], at);
  const pages = record(config['templates'] ?? {}, `${at}.templates`);
  onlyKnown(pages, ['active', 'html', 'json', 'plain', 'custom'], `${at}.templates`);
  const active = pages['active'] ?? 'auto';
  if (typeof active !== 'string' || !templates.includes(active)) {
    throw invalidField(`${at}.templates.active`, `must be one of ${templates.join(', ')}`);
  }
  if (active === 'custom' && pages['custom'] === undefined) {
    throw invalidField(`${at}.templates.custom`, 'is required when it is active');
  }
  for (const name of ['html', 'json', 'plain', 'custom']) {
    if (pages[name] !== undefined) checkTemplate(pages[name], `${at}.templates.${name}`);
  }
  const pagesByScenario = record(config['scenarios'] ?? {}, `${at}.scenarios`);
  onlyKnown(pagesByScenario, scenarios, `${at}.scenarios`);
  for (const [name, scenario] of Object.entries(pagesByScenario)) {
    checkScenario(scenario, `${at}.scenarios.${name}`);
  }
}

function checkTemplate(value: unknown, at: string): void {
  const template = record(value, at);
  onlyKnown(template, ['body', 'contentType'], at);
  const { body, contentType } = template;
  if (typeof body !== 'string' || body.length > bodyCharactersMax) {
    throw invalidField(`${at}.body`, `must be text of at most ${bodyCharactersMax} characters`);
  }
  for (const found of body.matchAll(/\{\{\s*([^}]*?)\s*\}\}/g)) {
    if (variables.includes(found[1] ?? '')) continue;
    throw invalidField(`${at}.body`, `may use only ${variables.join(', ')}`);
  }
  if (typeof contentType !== 'string' || !/^[\w.+-]+\/[\w.+-]+(?:; ?[\w=-]+)*$/.test(contentType)) {
    throw invalidField(`${at}.contentType`, 'must be a media type');
  }
}

function checkScenario(value: unknown, at: string): void {
  const scenario = record(value, at);
  onlyKnown(scenario, ['statusCode', 'title', 'message'], at);
  const { statusCode, title, message } = scenario;
  if (!Number.isInteger(statusCode) || Number(statusCode) < 400 || Number(statusCode) > 599) {
    throw invalidField(`${at}.statusCode`, 'must be between 400 and 599');
  }
  for (const [name, text] of Object.entries({ title, message })) {
    if (typeof text === 'string' && text.length <= 2000) continue;
    throw invalidField(`${at}.${name}`, 'must be text of at most 2000 characters');
  }
}

function seconds(min: number, max: number): Setting['check'] {
  return (value, at) => {
    if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return;
    throw invalidField(at, `must be a whole number of seconds between ${min} and ${max}`);
  };
}

function record(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw invalidField(at, 'must be a JSON object');
}

function onlyKnown(value: object, known: readonly string[], at: string): void {
  if (Object.keys(value).every((key) => known.includes(key))) return;
  throw invalidField(at, `Unknown key. Allowed: ${known.join(', ')}.`);
}

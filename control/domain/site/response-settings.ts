/**
 * The setting of block pages: what it may be, for the deployment and for single sites, and the form
 * in which nodes get it.
 */

import { invalidField } from '../errors.ts';
import { normalizeHost } from './hosts.ts';

/** Key of the block pages. */
export const responsesKey = 'security.responses.config';

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

const ownSitesMax = 1000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The block pages as the engine takes them; '' for the built-in ones. What a site does not state is
 * as for the deployment.
 */
export function responsesJson(values: Fields): string {
  const config = record(values[responsesKey] ?? {}, responsesKey);
  if (Object.keys(config).length === 0) return '';
  const all = pagesOf(config);
  const own = Object.entries(record(config['sites'] ?? {}, responsesKey)).map(([host, pages]) => {
    return [host, pagesOf(record(pages, responsesKey), all)] as const;
  });
  return JSON.stringify({ ...all, ...(own.length > 0 && { sites: Object.fromEntries(own) }) });
}

interface Pages {
  readonly active: unknown;
  readonly templates: Fields;
  readonly scenarios: Fields;
}

const builtIn: Pages = { active: 'auto', templates: {}, scenarios: {} };

function pagesOf(config: Fields, standard = builtIn): Pages {
  const { active = standard.active, ...bodies } = record(config['templates'] ?? {}, responsesKey);
  const scenarios = record(config['scenarios'] ?? {}, responsesKey);
  return {
    active,
    templates: { ...standard.templates, ...bodies },
    scenarios: { ...standard.scenarios, ...scenarios },
  };
}

/** Errors: invalid_argument under `at`. */
export function checkResponses(value: unknown, at: string): void {
  const { sites = {}, ...all } = record(value, at);
  onlyKnown(all, ['templates', 'scenarios'], at, ['sites']);
  checkPages(all, at, {});
  const bySite = Object.entries(record(sites, `${at}.sites`));
  if (bySite.length > ownSitesMax) {
    throw invalidField(`${at}.sites`, `must name at most ${ownSitesMax} hosts`);
  }
  for (const [host, pages] of bySite) {
    const place = `${at}.sites`;
    if (normalizeHost(host, place) !== host)
      throw invalidField(place, 'must name hosts in lower case');
    const own = record(pages, `${place}.${host}`);
    onlyKnown(own, ['templates', 'scenarios'], `${place}.${host}`);
    checkPages(own, `${place}.${host}`, record(all['templates'] ?? {}, at));
  }
}

/** `standard`: the pages of the deployment, where these are of a site. */
function checkPages(config: Fields, at: string, standard: Fields): void {
  const pages = record(config['templates'] ?? {}, `${at}.templates`);
  onlyKnown(pages, ['active', 'html', 'json', 'plain', 'custom'], `${at}.templates`);
  const active = pages['active'] ?? 'auto';
  if (typeof active !== 'string' || !templates.includes(active)) {
    throw invalidField(`${at}.templates.active`, `must be one of ${templates.join(', ')}`);
  }
  if (active === 'custom' && (pages['custom'] ?? standard['custom']) === undefined) {
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

function record(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw invalidField(at, 'must be a JSON object');
}

/** `more`: keys that were taken out before. */
function onlyKnown(
  value: object,
  known: readonly string[],
  at: string,
  more: readonly string[] = [],
): void {
  if (Object.keys(value).every((key) => known.includes(key))) return;
  throw invalidField(at, `Unknown key. Allowed: ${[...known, ...more].join(', ')}.`);
}

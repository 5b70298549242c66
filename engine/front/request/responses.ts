/**
 * The product's own answers: error and block pages as JSON for API clients and HTML for browsers.
 * They carry the request id and never a rule's details or text from the request.
 */

import { STATUS_CODES } from 'node:http';
import type {
  ResponseScenario,
  ResponseSettings,
  ResponseTemplate,
  ScenarioSettings,
  TemplateSettings,
} from '../../contract/site.ts';

/** What a page says. */
export interface PageFacts {
  readonly statusCode: number;
  /** Machine word, for example `waf_block` or `bad_request`. */
  readonly kind: string;
  /** Who answers: `waf` for enforced decisions, `proxy` for everything else. */
  readonly source: 'waf' | 'proxy';
  readonly title: string;
  readonly message: string;
  readonly requestId: string;
  readonly receivedAtMs: number;
}

/** One of the product's own pages. */
export interface Page {
  readonly contentType: string;
  readonly body: Buffer;
}

const builtInScenarios: Readonly<Record<ResponseScenario, ScenarioSettings>> = {
  waf_block: {
    statusCode: 403,
    title: 'Request blocked',
    message: 'The request was blocked by the security policy of this site.',
  },
  ip_deny: {
    statusCode: 403,
    title: 'Access denied',
    message: 'Access from your address is not allowed.',
  },
  country_deny: {
    statusCode: 403,
    title: 'Access denied',
    message: 'Access from your region is not allowed.',
  },
  rate_limit: {
    statusCode: 429,
    title: 'Too many requests',
    message: 'You have sent too many requests. Try again later.',
  },
  bot_block: {
    statusCode: 403,
    title: 'Access denied',
    message: 'Automated access is not allowed.',
  },
  service_unavailable: {
    statusCode: 503,
    title: 'Service unavailable',
    message: 'The service is temporarily unavailable. Try again later.',
  },
};

const builtInTemplates: Readonly<Record<'html' | 'json' | 'plain', TemplateSettings>> = {
  html: {
    contentType: 'text/html; charset=utf-8',
    body:
      '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">' +
      '<meta name="viewport" content="width=device-width"><title>{{response.title}}</title>' +
      '<style>body{font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:15vh auto;' +
      'padding:0 1em;color:#222}code{background:#eee;padding:.1em .3em}</style></head><body>' +
      '<h1>{{response.title}}</h1><p>{{response.message}}</p>' +
      '<p>Request id: <code>{{request.id}}</code></p></body></html>\n',
  },
  json: {
    contentType: 'application/json',
    body:
      '{"error":{"status":{{response.status_code}},"kind":"{{response.kind}}",' +
      '"title":"{{response.title}}","message":"{{response.message}}"},' +
      '"requestId":"{{request.id}}","time":"{{request.time}}"}\n',
  },
  plain: {
    contentType: 'text/plain; charset=utf-8',
    body: '{{response.title}}\n{{response.message}}\nRequest id: {{request.id}}\n',
  },
};

const defaultSettings: ResponseSettings = { active: 'auto' };

/** Wording and status of a scenario under a site's settings. */
export function scenarioOf(
  scenario: ResponseScenario,
  settings: ResponseSettings | undefined,
): ScenarioSettings {
  return settings?.scenarios?.[scenario] ?? builtInScenarios[scenario];
}

/** Renders a page; `acceptsHtml` says whether the client's Accept has text/html. */
export function renderPage(
  facts: PageFacts,
  acceptsHtml: boolean,
  settings: ResponseSettings = defaultSettings,
): Page {
  const name = chooseTemplate(settings.active, acceptsHtml);
  const template =
    settings.templates?.[name] ?? builtInTemplates[name === 'custom' ? 'plain' : name];
  const { parts, escape } = readTemplate(template);
  let text = parts[0]!;
  for (let at = 1; at < parts.length; at += 2) {
    text += escape(valueOf(facts, parts[at]!)) + parts[at + 1]!;
  }
  return { contentType: template.contentType, body: Buffer.from(text, 'utf8') };
}

/** A template read once: texts at even places, names of variables at odd ones. */
interface ReadTemplate {
  readonly parts: readonly string[];
  readonly escape: (text: string) => string;
}

const readTemplates = new WeakMap<TemplateSettings, ReadTemplate>();

function readTemplate(template: TemplateSettings): ReadTemplate {
  const known = readTemplates.get(template);
  if (known !== undefined) return known;
  const { body, contentType } = template;
  const parts = body.split(/\{\{\s*([a-z_.]+)\s*\}\}/);
  const read = { parts, escape: escaperFor(contentType) };
  readTemplates.set(template, read);
  return read;
}

function chooseTemplate(
  active: ResponseTemplate,
  acceptsHtml: boolean,
): Exclude<ResponseTemplate, 'auto'> {
  if (active !== 'auto') return active;
  return acceptsHtml ? 'html' : 'json';
}

function valueOf(facts: PageFacts, variable: string): string {
  switch (variable) {
    case 'response.status_code':
      return String(facts.statusCode);
    case 'response.kind':
      return facts.kind;
    case 'response.source':
      return facts.source;
    case 'response.title':
      return facts.title;
    case 'response.message':
      return facts.message;
    case 'request.id':
      return facts.requestId;
    case 'request.time':
      return new Date(facts.receivedAtMs).toISOString();
    default:
      return '';
  }
}

/** Operators' wording may hold any character: it is escaped for what the page is. */
function escaperFor(contentType: string): (text: string) => string {
  if (contentType.includes('json')) return escapeJson;
  if (contentType.includes('html') || contentType.includes('xml')) return escapeMarkup;
  return (text) => text;
}

const markup: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeJson(text: string): string {
  return plainJson.test(text) ? text : JSON.stringify(text).slice(1, -1);
}

/** Texts that JSON writes as they are. */
const plainJson = /^[ !#-[\]-~]*$/;

function escapeMarkup(text: string): string {
  if (!/[&<>"']/.test(text)) return text;
  return text.replace(/[&<>"']/g, (char) => markup[char] ?? char);
}

interface StatusText {
  readonly reason: string;
  readonly kind: string;
  readonly message: string;
}

const statusTexts: Readonly<Record<number, StatusText>> = {
  400: { reason: 'Bad Request', kind: 'bad_request', message: 'The request is malformed.' },
  401: { reason: 'Unauthorized', kind: 'unauthorized', message: 'Authentication is required.' },
  403: { reason: 'Forbidden', kind: 'forbidden', message: 'Access is denied.' },
  404: { reason: 'Not Found', kind: 'not_found', message: 'Unknown host or path.' },
  405: {
    reason: 'Method Not Allowed',
    kind: 'method_not_allowed',
    message: 'The method is not supported.',
  },
  408: {
    reason: 'Request Timeout',
    kind: 'request_timeout',
    message: 'The request took too long.',
  },
  413: {
    reason: 'Content Too Large',
    kind: 'content_too_large',
    message: 'The body is too large.',
  },
  414: { reason: 'URI Too Long', kind: 'uri_too_long', message: 'The address is too long.' },
  417: {
    reason: 'Expectation Failed',
    kind: 'expectation_failed',
    message: 'The expectation of the request is not known.',
  },
  421: {
    reason: 'Misdirected Request',
    kind: 'misdirected_request',
    message: 'This connection is not for the requested site.',
  },
  429: { reason: 'Too Many Requests', kind: 'too_many_requests', message: 'Try again later.' },
  431: {
    reason: 'Request Header Fields Too Large',
    kind: 'headers_too_large',
    message: 'The header is too large.',
  },
  500: { reason: 'Internal Server Error', kind: 'internal', message: 'Something went wrong.' },
  501: { reason: 'Not Implemented', kind: 'not_implemented', message: 'This is not supported.' },
  502: {
    reason: 'Bad Gateway',
    kind: 'bad_gateway',
    message: 'Could not connect to the origin, or its response is invalid.',
  },
  503: { reason: 'Service Unavailable', kind: 'service_unavailable', message: 'Try again later.' },
  504: { reason: 'Gateway Timeout', kind: 'gateway_timeout', message: 'The origin took too long.' },
  505: {
    reason: 'HTTP Version Not Supported',
    kind: 'version_not_supported',
    message: 'The protocol version is not supported.',
  },
};

const redirectStatus: StatusText = { reason: 'Redirect', kind: 'redirect', message: '' };
const otherStatus: StatusText = { reason: 'Error', kind: 'error', message: 'The request failed.' };

/** Reason phrase, kind and message for a status of our own. */
export function statusText(status: number): StatusText {
  const known = statusTexts[status];
  if (known !== undefined) return known;
  const redirects = status >= 300 && status < 400;
  const text = redirects ? redirectStatus : otherStatus;
  return { ...text, reason: STATUS_CODES[status] ?? text.reason };
}

/**
 * How well-known applications are recognized by a blocked request: by its path, its cookies and its
 * header fields, so that their exclusion plugin can be offered. A wrong guess costs a sentence:
 * nothing is switched on by it. Pure.
 */

import type {
  RequestEvidenceHeaderJson,
  SecurityEventJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import type { PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { applicationProfiles } from '../../../engine/detect/applications/profiles.ts';
import { findCurated } from './exclusion-plugins.ts';

/** An application by the paths, cookies and header fields that no other has. */
interface Application {
  /** What `waf crs exclusion-use` takes; '' where the CRS project keeps no plugin. */
  readonly plugin: string;
  readonly name: string;
  /** What stands before it is where the application lies. */
  readonly path?: RegExp;
  /** Name of a cookie. */
  readonly cookie?: RegExp;
  /** Name of a header field, in lower case. */
  readonly field?: RegExp;
  /** What stands in its pages. */
  readonly page?: RegExp;
}

/** A page as an origin answers it. */
export interface AnsweredPage {
  readonly cookieNames: readonly string[];
  readonly text: string;
}

type Recognized = Pick<Application, 'name' | 'plugin'> & { readonly prefix: string };

/** Names in a request's head and the length of its body; other values are of no interest. */
export interface SentNames {
  readonly cookies: readonly string[];
  readonly fields: readonly string[];
  /** Of Content-Length. */
  readonly bodyBytes?: number;
}

const nothingSent: SentNames = { cookies: [], fields: [] };
/** Names that are looked at. */
const namesMax = 200;

const applications: readonly Application[] = [
  {
    plugin: 'wordpress',
    name: 'WordPress',
    path: /\/(?:wp-(?:admin|json|content|includes|(?:login|comments-post|cron)\.php))(?:\/|$)/,
    cookie: /^(?:wordpress_(?:logged_in|sec|test_cookie)|wp-settings-)/,
    page: /\/wp-(?:content|includes)\/|content="WordPress[ "]/i,
    field: /^x-wp-nonce$/,
  },
  {
    plugin: 'phpmyadmin',
    name: 'phpMyAdmin',
    path: /\/(?:phpmyadmin|pma)(?:\/|$)/i,
    cookie: /^(?:phpMyAdmin(?:_https)?|pma(?:User|Auth|_lang).*)$/,
    page: /<title>phpMyAdmin/i,
  },
  {
    plugin: 'nextcloud',
    name: 'Nextcloud',
    path: /\/(?:remote\.php\/(?:web)?dav|ocs\/v[12]\.php|index\.php\/apps\/|apps\/files\/)/,
    cookie: /^(?:__Host-)?(?:nc_(?:sameSiteCookie|session_id|username|token)|oc_sessionPassphrase)/,
    page: /<title>[^<]{0,200}Nextcloud|\/core\/js\/oc\.js|content="Nextcloud"/i,
  },
  {
    plugin: 'drupal',
    name: 'Drupal',
    path: /\/(?:node\/(?:add|\d+\/edit)|admin\/(?:content|structure|config))(?:\/|$)/,
    cookie: /^S?SESS[0-9a-f]{32}$/,
    page: /content="Drupal |data-drupal-(?:selector|link)/i,
  },
  {
    plugin: 'dokuwiki',
    name: 'DokuWiki',
    path: /\/(?:doku\.php|lib\/exe\/(?:ajax|fetch|mediamanager)\.php)(?:\/|$)/,
    cookie: /^(?:DokuWiki|DW[0-9a-f]{32})$/,
    page: /content="DokuWiki|\/lib\/exe\/(?:css|js)\.php/i,
  },
  { plugin: 'cpanel', name: 'cPanel', path: /\/cpsess\d+\// },
  {
    plugin: 'xenforo',
    name: 'XenForo',
    path: /\/(?:threads\/[^/]+\/add-reply|conversations\/add|js\/xf\/)/,
    page: /<html[^>]{0,200} id="XF"/,
  },
  {
    plugin: 'phpbb',
    name: 'phpBB',
    path: /\/(?:posting|viewtopic|viewforum|ucp|mcp)\.php(?:\/|$)/,
    page: /<body id="phpbb"/,
  },
  {
    plugin: '',
    name: 'MediaWiki',
    path: /\/(?:wiki\/Special:|w\/(?:index|api|load)\.php)/,
    cookie: /^(?:mwuser-sessionId|\w*wiki\w*(?:_session|UserID|UserName))$/,
    page: /content="MediaWiki /i,
  },
  {
    plugin: '',
    name: 'Ghost',
    path: /\/ghost\/api\//,
    cookie: /^ghost-(?:admin-api-session|members-ssr)/,
    page: /content="Ghost /i,
  },
  {
    plugin: '',
    name: 'GitLab',
    path: /\/api\/v4\/projects\//,
    cookie: /^_gitlab_session/,
    page: /content="GitLab"|\bgon\.gitlab_url/,
  },
  {
    plugin: '',
    name: 'Gitea',
    cookie: /^(?:i_like_gitea|gitea_(?:incredible|awesome))$/,
    page: /content="Gitea[ "-]/,
  },
  {
    plugin: '',
    name: 'Discourse',
    cookie: /^_forum_session$/,
    field: /^discourse-/,
    page: /content="Discourse /,
  },
  { plugin: '', name: 'Node-RED', field: /^node-red-/, page: /<title>Node-RED/ },
  {
    plugin: '',
    name: 'Grafana',
    cookie: /^grafana_session/,
    field: /^x-grafana-/,
    page: /\bgrafanaBootData\b|<title>Grafana/,
  },
];

/**
 * The application that a request belongs to, and the prefix under which it lies ('' for all). A
 * path says more than a cookie, which browsers send to every application of a host.
 */
export function recognizeApplication(
  path: string,
  sent: SentNames = nothingSent,
): Recognized | null {
  for (const { name, plugin, path: pattern } of applications) {
    const found = pattern?.exec(path.slice(0, 2048)) ?? null;
    if (found === null) continue;
    const prefix = path.slice(0, found.index);
    // phpMyAdmin's own folder is part of what was found.
    const whole = plugin === 'phpmyadmin' ? prefix + found[0].replace(/\/$/, '') : prefix;
    return { name, plugin, prefix: /^(?:\/[\w.~-]+)*$/.test(whole) ? whole : '' };
  }
  const one = applications.find((candidate) => sends(candidate, sent));
  return one === undefined ? null : { name: one.name, plugin: one.plugin, prefix: '' };
}

/** The application that answers a page, by its cookies and its text; null for none. */
export function recognizePage({ cookieNames, text }: AnsweredPage): Recognized | null {
  const sent: SentNames = { cookies: cookieNames, fields: [] };
  const one = applications.find(
    (candidate) => candidate.page?.test(text) === true || sends(candidate, sent),
  );
  return one === undefined ? null : { name: one.name, plugin: one.plugin, prefix: '' };
}

function sends({ cookie, field }: Application, { cookies, fields }: SentNames): boolean {
  const has = (pattern: RegExp | undefined, names: readonly string[]): boolean =>
    pattern !== undefined && names.slice(0, namesMax).some((name) => pattern.test(name));
  return has(field, fields) || has(cookie, cookies);
}

/** The names in header fields as evidence keeps them. */
export function sentNames(headers: readonly RequestEvidenceHeaderJson[]): SentNames {
  const cookies = headers
    .filter(({ name = '' }) => name.toLowerCase() === 'cookie')
    .flatMap(({ values = [] }) => values.flatMap((value) => value.split(';')))
    .map((pair) => pair.split('=', 1)[0]!.trim());
  const fields = headers.map(({ name = '' }) => name.toLowerCase());
  const [length = ''] = headers[fields.indexOf('content-length')]?.values ?? [];
  return { cookies, fields, ...(/^\d{1,12}$/.test(length) && { bodyBytes: Number(length) }) };
}

/** What to say of a blocked request's application; nothing where none is recognized. */
export function applicationNotes(
  { path = '', messages = [], siteId = '' }: SecurityEventJson,
  policy: PolicyJson | undefined,
  sent?: SentNames,
): string[] {
  const scored = messages.some(({ ruleId = '' }) => /^(?:9[1-4]\d|198)\d{3}$/.test(ruleId));
  const found = scored ? recognizeApplication(path, sent) : null;
  return found === null ? [] : [applicationNote(found, siteId, policy)];
}

/** What keeps the editors of an application from being blocked, as a sentence with a command. */
export function applicationNote(
  { name, plugin, prefix }: Recognized,
  siteId: string,
  policy: PolicyJson | undefined,
): string {
  const profile = profileFor(name, policy);
  if (profile !== '') {
    const place = prefix === '' ? profile : `${profile}@${prefix}`;
    return (
      `This looks like ${name}: its profile keeps the score from counting what its editors send. ` +
      `waf site applications ${siteId === '' ? 'SITE' : siteId} --names ${place}`
    );
  }
  if (plugin === '') {
    return `This looks like ${name}. The CRS project keeps no exclusion plugin for it.`;
  }
  const where = prefix === '' ? '' : ` --path ${prefix}`;
  const policyName = (policy?.name ?? 'POLICY').replaceAll("'", '');
  const bundled = findCurated(plugin)?.bundledVariable !== '';
  const use = `waf crs exclusion-use '${policyName}' ${plugin}${where}`;
  const missing = bundled
    ? 'CRS 3 holds it; with CRS 4 import it first'
    : 'import it first, no ruleset holds it';
  return (
    `This looks like ${name}: its exclusion plugin keeps rules quiet there. ${use} ` +
    `(${missing}: waf crs exclusion-import ${plugin} ARCHIVE)`
  );
}

/** The profile of an application by what people call it; '' where the policy has no use for one. */
export function profileFor(title: string, policy: PolicyJson | undefined): string {
  if (policy?.crsCore?.decision !== 'DECISION_SCORE') return '';
  for (const one of applicationProfiles().values()) if (one.title === title) return one.name;
  return '';
}

/**
 * Owns how well-known applications are recognized by a blocked request, so that their exclusion
 * plugin can be offered. A wrong guess costs a sentence: nothing is switched on by it. Pure.
 */

import type { SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { findCurated } from './exclusion-plugins.ts';

/** An application by the paths that no other has. */
interface Application {
  /** What `waf crs exclusion-use` takes; '' where the CRS project keeps no plugin. */
  readonly plugin: string;
  readonly name: string;
  /** What stands before it is where the application lies. */
  readonly path: RegExp;
}

const applications: readonly Application[] = [
  {
    plugin: 'wordpress',
    name: 'WordPress',
    path: /\/(?:wp-(?:admin|json|content|includes|(?:login|comments-post|cron)\.php))(?:\/|$)/,
  },
  { plugin: 'phpmyadmin', name: 'phpMyAdmin', path: /\/(?:phpmyadmin|pma)(?:\/|$)/i },
  {
    plugin: 'nextcloud',
    name: 'Nextcloud',
    path: /\/(?:remote\.php\/(?:web)?dav|ocs\/v[12]\.php|index\.php\/apps\/|apps\/files\/)/,
  },
  {
    plugin: 'drupal',
    name: 'Drupal',
    path: /\/(?:node\/(?:add|\d+\/edit)|admin\/(?:content|structure|config))(?:\/|$)/,
  },
  {
    plugin: 'dokuwiki',
    name: 'DokuWiki',
    path: /\/(?:doku\.php|lib\/exe\/(?:ajax|fetch|mediamanager)\.php)(?:\/|$)/,
  },
  { plugin: 'cpanel', name: 'cPanel', path: /\/cpsess\d+\// },
  {
    plugin: 'xenforo',
    name: 'XenForo',
    path: /\/(?:threads\/[^/]+\/add-reply|conversations\/add|js\/xf\/)/,
  },
  {
    plugin: 'phpbb',
    name: 'phpBB',
    path: /\/(?:posting|viewtopic|viewforum|ucp|mcp)\.php(?:\/|$)/,
  },
  { plugin: '', name: 'MediaWiki', path: /\/(?:wiki\/Special:|w\/(?:index|api|load)\.php)/ },
];

/** The application that a path belongs to, and the prefix under which it lies ('' for all). */
export function recognizeApplication(
  path: string,
): { readonly name: string; readonly plugin: string; readonly prefix: string } | null {
  for (const { name, plugin, path: pattern } of applications) {
    const found = pattern.exec(path.slice(0, 2048));
    if (found === null) continue;
    const prefix = path.slice(0, found.index);
    // phpMyAdmin's own folder is part of what was found.
    const whole = plugin === 'phpmyadmin' ? prefix + found[0].replace(/\/$/, '') : prefix;
    return { name, plugin, prefix: /^(?:\/[\w.~-]+)*$/.test(whole) ? whole : '' };
  }
  return null;
}

/** What to say of a blocked request's application; nothing where none is recognized. */
export function applicationNotes(
  { path = '', messages = [] }: SecurityEventJson,
  policy: PolicyJson | undefined,
): string[] {
  const scored = messages.some(({ ruleId = '' }) => /^9[1-4]\d{4}$/.test(ruleId));
  const found = scored ? recognizeApplication(path) : null;
  if (found === null) return [];
  const { name, plugin, prefix } = found;
  if (plugin === '') {
    return [`This looks like ${name}. The CRS project keeps no exclusion plugin for it.`];
  }
  const where = prefix === '' ? '' : ` --path ${prefix}`;
  const policyName = (policy?.name ?? 'POLICY').replaceAll("'", '');
  const bundled = findCurated(plugin)?.bundledVariable !== '';
  const use = `waf crs exclusion-use '${policyName}' ${plugin}${where}`;
  const missing = bundled
    ? 'CRS 3 holds it; with CRS 4 import it first'
    : 'import it first, no ruleset holds it';
  return [
    `This looks like ${name}: its exclusion plugin keeps rules quiet there. ${use} ` +
      `(${missing}: waf crs exclusion-import ${plugin} ARCHIVE)`,
  ];
}

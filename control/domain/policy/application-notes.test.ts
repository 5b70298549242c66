/** Applications by their paths, cookies and header fields. */

import { expect, test } from 'vitest';
import {
  applicationNotes,
  recognizeApplication,
  recognizePage,
  sentNames,
} from './application-notes.ts';

test.each([
  ['/wp-json/wp/v2/posts/7', 'WordPress', ''],
  ['/blog/wp-admin/post.php', 'WordPress', '/blog'],
  ['/phpmyadmin/index.php', 'phpMyAdmin', '/phpmyadmin'],
  ['/cloud/remote.php/dav/files/ann/', 'Nextcloud', '/cloud'],
  ['/node/12/edit', 'Drupal', ''],
  ['/wiki/doku.php', 'DokuWiki', '/wiki'],
  ['/w/index.php', 'MediaWiki', ''],
  ['/threads/a-title.12/add-reply', 'XenForo', ''],
  ['/cpsess1234567890/frontend/', 'cPanel', ''],
  ['/forum/posting.php', 'phpBB', '/forum'],
])('%s belongs to %s', (path, name, prefix) => {
  expect(recognizeApplication(path)).toMatchObject({ name, prefix });
});

test.each([
  ['Cookie', 'a=1; wordpress_logged_in_0a1b=ann', 'WordPress'],
  ['X-WP-Nonce', '0a1b2c', 'WordPress'],
  ['Cookie', 'DokuWiki=abc', 'DokuWiki'],
  ['Cookie', 'DW0123456789abcdef0123456789abcdef=x', 'DokuWiki'],
  ['Cookie', 'my_wiki_session=x; my_wikiUserName=Ann', 'MediaWiki'],
  ['Cookie', 'pma_lang=de; phpMyAdmin=x', 'phpMyAdmin'],
  ['Cookie', 'SESS0123456789abcdef0123456789abcdef=x', 'Drupal'],
  ['Cookie', 'nc_session_id=x', 'Nextcloud'],
  ['Cookie', 'ghost-admin-api-session=x', 'Ghost'],
  ['Cookie', '_gitlab_session=x', 'GitLab'],
  ['Cookie', 'i_like_gitea=x', 'Gitea'],
  ['Discourse-Present', 'true', 'Discourse'],
  ['Node-RED-API-Version', 'v2', 'Node-RED'],
  ['Cookie', 'grafana_session=x', 'Grafana'],
  ['X-Grafana-Org-Id', '1', 'Grafana'],
])('%s: %s is of %s', (name, value, application) => {
  const sent = sentNames([
    { name: 'Host', values: ['a.test'] },
    { name, values: [value] },
  ]);
  expect(recognizeApplication('/save', sent)).toMatchObject({ name: application, prefix: '' });
});

test('a path counts before a cookie, and values, session ids and common names for nothing', () => {
  const sent = sentNames([{ name: 'cookie', values: ['wordpress_sec_1=x'] }]);
  expect(recognizeApplication('/forum/posting.php', sent)?.name).toBe('phpBB');
  for (const value of ['PHPSESSID=x', 'a=grafana_session', 'session=_gitlab_session; id=2', '']) {
    expect(recognizeApplication('/save', sentNames([{ name: 'Cookie', values: [value] }]))).toBe(
      null,
    );
  }
  const fields = [{ name: 'Referer', values: ['x-wp-nonce'] }, {}];
  expect(recognizeApplication('/save', sentNames(fields))).toBe(null);
});

test('the note names the command, and nothing is said of other requests', () => {
  const messages = [{ ruleId: '941180' }, { ruleId: '949110' }];
  const [note] = applicationNotes({ path: '/blog/wp-admin/post.php', messages }, { name: 'Light' });
  expect(note).toContain("waf crs exclusion-use 'Light' wordpress --path /blog");
  const [missing] = applicationNotes({ path: '/pma/', messages }, { name: 'Light' });
  expect(missing).toContain('waf crs exclusion-import phpmyadmin ARCHIVE');
  expect(applicationNotes({ path: '/shop', messages }, undefined)).toEqual([]);
  expect(applicationNotes({ path: '/wp-admin/', messages: [] }, undefined)).toEqual([]);
  const sent = sentNames([{ name: 'Cookie', values: ['wp-settings-1=x'] }]);
  const [known] = applicationNotes({ path: '/save', messages }, { name: 'Light' }, sent);
  expect(known).toContain('This looks like WordPress: its exclusion plugin');
});

test('where the score decides, the note names the profile', () => {
  const messages = [{ ruleId: '198400' }, { ruleId: '198000' }];
  const event = { path: '/blog/wp-admin/post.php', messages, siteId: 'site-1' };
  const policy = { name: 'Light', crsCore: { decision: 'DECISION_SCORE' as const } };
  expect(applicationNotes(event, policy)[0]).toContain(
    'waf site applications site-1 --names wordpress@/blog',
  );
});

test.each([
  ['<link href="/blog/wp-content/themes/a/style.css">', 'WordPress'],
  ['<meta name="generator" content="WordPress 6.5">', 'WordPress'],
  ['<title>phpMyAdmin</title>', 'phpMyAdmin'],
  ['<title>\n\tLogin – Nextcloud</title>', 'Nextcloud'],
  ['<meta name="Generator" content="Drupal 10 (https://www.drupal.org)" />', 'Drupal'],
  ['<meta name="generator" content="DokuWiki"/>', 'DokuWiki'],
  ['<html id="XF" lang="en-US"', 'XenForo'],
  ['<body id="phpbb" class="nojs">', 'phpBB'],
  ['<meta name="generator" content="MediaWiki 1.39.4"/>', 'MediaWiki'],
  ['<meta name="generator" content="Ghost 5.8">', 'Ghost'],
  ['<meta content="GitLab" property="og:site_name">', 'GitLab'],
  ['<meta name="author" content="Gitea - Git with a cup of tea">', 'Gitea'],
  ['<meta name="generator" content="Discourse 3.2.0">', 'Discourse'],
  ['<title>Node-RED</title>', 'Node-RED'],
  ['<script>window.grafanaBootData = {', 'Grafana'],
])('the page %s is of %s', (text, name) => {
  const shown = name === 'XenForo' ? `${text}>` : text;
  expect(recognizePage({ cookieNames: [], text: shown })).toMatchObject({ name, prefix: '' });
});

test('a page is recognized by its cookies, and an ordinary one not at all', () => {
  const named = recognizePage({ cookieNames: ['a', 'i_like_gitea'], text: '' });
  expect(named?.name).toBe('Gitea');
  const text = '<title>How we moved from WordPress to Ghost</title><p>wp-content, Drupal, Grafana';
  expect(recognizePage({ cookieNames: ['SESSION'], text })).toBeNull();
});

test.each([
  ['80000283', 80_000_283],
  ['0', 0],
  ['12abc', undefined],
  ['9'.repeat(40), undefined],
])('a Content-Length of %s is the length of the body', (value, bytes) => {
  expect(sentNames([{ name: 'Content-Length', values: [value] }]).bodyBytes).toBe(bytes);
  expect(sentNames([{ name: 'Host', values: [value] }]).bodyBytes).toBeUndefined();
});

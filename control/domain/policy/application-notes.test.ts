/** Applications by their paths. */

import { expect, test } from 'vitest';
import { applicationNotes, recognizeApplication } from './application-notes.ts';

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

test('the note names the command, and nothing is said of other requests', () => {
  const messages = [{ ruleId: '941180' }, { ruleId: '949110' }];
  const [note] = applicationNotes({ path: '/blog/wp-admin/post.php', messages }, { name: 'Light' });
  expect(note).toContain("waf crs exclusion-use 'Light' wordpress --path /blog");
  const [missing] = applicationNotes({ path: '/pma/', messages }, { name: 'Light' });
  expect(missing).toContain('waf crs exclusion-import phpmyadmin ARCHIVE');
  expect(applicationNotes({ path: '/shop', messages }, undefined)).toEqual([]);
  expect(applicationNotes({ path: '/wp-admin/', messages: [] }, undefined)).toEqual([]);
});

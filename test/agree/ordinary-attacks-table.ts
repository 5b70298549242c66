/** Attacks beside ordinary texts and calls: what Light's narrower rules must still stop. */

import type { TableRequest } from './policy-in-process.ts';

/** One of them; `only` names the ruleset that has a rule against it. */
export interface AttackRow {
  readonly what: string;
  readonly request: TableRequest;
  readonly only?: string;
}

/** Bytes of a Latin-1 text in percent encoding. */
const bytes = (text: string): string =>
  Array.from(Buffer.from(text, 'latin1'), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(
    '',
  );
const shifted = (text: string): string =>
  Array.from(text, (char) => String.fromCharCode(char.charCodeAt(0) | 0x80)).join('');
const query = (text: string): TableRequest => ({ url: `/?q=${encodeURIComponent(text)}` });
const raw = (encoded: string): TableRequest => ({ url: `/?q=${encoded}` });
const post = (type: string, body: string | Buffer, more: object = {}): TableRequest => ({
  url: '/',
  method: 'POST',
  headers: { 'Content-Type': type, ...more },
  body,
});
const form = 'application/x-www-form-urlencoded';
const json = 'application/json';
const graphQl = (path: string, body: object): TableRequest => ({
  ...post(json, JSON.stringify(body)),
  url: path,
});

const tags = '\xbcscript\xbealert(1)\xbc/script\xbe';
const utf8Tags = '\xc2\xbcscript\xc2\xbealert(1)\xc2\xbc/script\xc2\xbe';

/** US-ASCII whose readers drop bit 8. */
const asciiRows: readonly AttackRow[] = [
  { what: 'US-ASCII tags', request: raw(bytes(tags)) },
  { what: 'US-ASCII tags after a word', request: raw(`hello${bytes(tags)}`) },
  { what: 'US-ASCII tags after a Cyrillic word', request: raw(`%d0%bc%d0%b8${bytes(tags)}`) },
  { what: 'US-ASCII tags in a body', request: post(form, `q=${bytes(tags)}`) },
  {
    what: 'US-ASCII, all of it',
    request: raw(bytes(shifted('<script>alert(1)</script>'))),
    only: 'CRS 3.3.4',
  },
  {
    what: 'US-ASCII, all of it after a word',
    request: raw(`abc${bytes(shifted('x<script>alert(1)</script>'))}`),
    only: 'CRS 3.3.4',
  },
  {
    what: 'a form that says it is US-ASCII, in bytes of UTF-8',
    request: post(`${form}; charset=us-ascii`, `q=${bytes(utf8Tags)}`),
  },
  {
    what: 'JSON that says it is US-ASCII, in bytes of UTF-8',
    request: post(`${json}; charset=US-ASCII`, Buffer.from(`{"q":"${utf8Tags}"}`, 'latin1')),
  },
  { what: 'UTF-7', request: post(`${form}; charset=utf-7`, 'q=1') },
  { what: 'UTF-16', request: post(`${form}; charset=utf-16`, 'q=1') },
  { what: 'EBCDIC', request: post(`${form}; charset=ibm037`, 'q=1') },
  { what: 'a charset whose letters hold quotes', request: post(`${form}; charset=gbk`, 'q=1') },
];

/** SQL in letters that databases turn into ASCII. */
const fullWidthRows: readonly AttackRow[] = [
  { what: 'quotes of full width', request: query('1＇ or ＇1＇=＇1') },
  {
    what: 'words of full width',
    request: query('1 ＵＮＩＯＮ ＳＥＬＥＣＴ password from users--'),
  },
  { what: 'quotes of full width in JSON', request: post(json, '{"a":"1＇ or ＇1＇=＇1"}') },
  { what: 'SQL beside Arabic', request: query("محمد' or '1'='1") },
  { what: 'SQL after Cyrillic', request: query("Чай' or '1'='1' -- ") },
];

/** Comments are no attack; what can stand in and after them is. */
const commentRows: readonly AttackRow[] = [
  '<!-- <script>alert(1)</script> -->',
  '--><script>alert(1)</script>',
  '<!--><img src=x onerror=alert(1)>-->',
  '<!--[if gte IE 4]><SCRIPT>alert(1);</SCRIPT><![endif]-->',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '<!-- `--> <script src=//x.example/a.js>',
  '<!-- wp:html --><svg onload=alert(1)><!-- /wp:html -->',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<!--#exec cmd="/bin/ls /" -->',
  '<!--#include virtual="/etc/passwd"-->',
  '<!--#echo var="DOCUMENT_ROOT" -->',
  '<!-- x --><script>document.cookie</script>',
].map((text) => ({ what: text, request: query(text) }));

const otherRows: readonly AttackRow[] = [
  {
    what: 'a method that is not allowed, by a header',
    request: post(json, '{}', { 'X-HTTP-Method-Override': 'TRACE' }),
  },
  {
    what: 'the same header in its shorter spelling',
    request: post(json, '{}', { 'X-Method-Override': 'PROPFIND' }),
  },
  { what: 'TRACE', request: { url: '/', method: 'TRACE' } },
  { what: 'CONNECT', request: { url: '/', method: 'CONNECT' } },
  { what: 'httpoxy', request: { url: '/', headers: { Proxy: 'http://evil.example' } } },
  {
    what: 'a header that skips middleware',
    request: { url: '/', headers: { 'X-Middleware-Subrequest': 'middleware' } },
  },
  { what: 'a copy of a source', request: { url: '/index.php.bak' } },
  { what: 'a dump', request: { url: '/backup/shop.sql' } },
  {
    what: 'a command in a text of a GraphQL document',
    request: graphQl('/graphql', { query: '{ user(name: "x;cat /etc/passwd") { id } }' }),
  },
  {
    what: 'a command in a GraphQL variable',
    request: graphQl('/graphql', { query: '{ id }', variables: { a: '; cat /etc/passwd' } }),
  },
  { what: 'a command elsewhere', request: graphQl('/x', { query: '{ id; uname -a }' }) },
  {
    what: 'a command beside a GraphQL document of the same name',
    request: { ...post(form, 'query=%7B%20id%20%7D&query=%7B%20id%3Buname%20-a'), url: '/graphql' },
  },
  { what: 'operators of MongoDB', request: { url: '/?user[$ne]=1' } },
  { what: 'SQL in an option of OData', request: { url: '/?$filter=1%27%20or%20%271%27=%271' } },
];

/** All rows. */
export const attackRows: readonly AttackRow[] = [
  {
    what: 'SQL injection in the content of a QUERY',
    request: { ...post(form, "id=1' OR '1'='1' --"), method: 'QUERY' },
  },
  ...asciiRows,
  ...fullWidthRows,
  ...commentRows,
  ...otherRows,
];

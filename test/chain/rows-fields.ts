/** Rows on fields that come beside others or where there is none, on cookies and other paths. */

import {
  formType,
  inspectedBy,
  plainWays,
  policyCalls,
  secureWays,
  siteCall,
  type ChainExpected,
  type ChainGroup,
  type ChainRequest,
  type ChainRow,
  type Way,
} from './chain-row.ts';

const site = 'edge-beside';
const page = '/page?bytes=9';
type Fields = NonNullable<ChainExpected['fields']>;

const row = (
  says: string,
  request: ChainRequest,
  fields: Fields,
  only?: readonly Way[],
): ChainRow => ({
  ...{ says, site, request },
  expected: { status: 200, origin: 'a', fields },
  ...(only !== undefined && { ways: only }),
});

const changes: readonly ChainRow[] = [
  row(
    'Fields: some of answers come beside those of the origin, in their order',
    { path: `${page}&x-note=first` },
    { 'x-note': 'first, second, third' },
  ),
  row('Fields: and come where the origin has none', { path: page }, { 'x-note': 'second, third' }),
  row(
    'Fields: one of answers may be for those without it',
    { path: page },
    { 'referrer-policy': 'same-origin' },
  ),
  row(
    'Fields: and leaves the value of the origin',
    { path: `${page}&Referrer-Policy=no-referrer` },
    { 'referrer-policy': 'no-referrer' },
  ),
  row(
    'Fields: one of answers may be taken away and written twice',
    { path: `${page}&x-chosen=origin` },
    { 'x-chosen': 'one, two' },
  ),
  row(
    'Fields: one of requests comes beside those of the client',
    { headers: { 'x-added': 'mine' } },
    { 'x-added': 'mine, also' },
  ),
  row('Fields: one of requests may be for those without it', {}, { 'x-default': 'new' }),
  row(
    'Fields: and leaves what the client sent',
    { headers: { 'x-default': 'known' } },
    { 'x-default': 'known' },
  ),
];

/** What a cookie of the origin becomes without TLS and with it. */
function cookie(says: string, sent: string, plain: string, secure: string): ChainRow[] {
  const request = { path: `${page}&set-cookie=${encodeURIComponent(sent)}` };
  return [
    row(`Cookies: ${says}, without TLS`, request, { 'set-cookie': plain }, plainWays),
    row(`Cookies: ${says}, with TLS`, request, { 'set-cookie': secure }, secureWays),
  ];
}

const cookies: readonly ChainRow[] = [
  ...cookie(
    'one gets the attributes of its rule',
    'id=1; Path=/',
    'id=1; Path=/; HttpOnly; SameSite=Strict',
    'id=1; Path=/; Secure; HttpOnly; SameSite=Strict',
  ),
  ...cookie(
    'what it has is not written twice',
    'id=1; httponly; SECURE; samesite=none',
    'id=1; httponly; SECURE; SameSite=Strict',
    'id=1; httponly; SECURE; SameSite=Strict',
  ),
  ...cookie('one without a rule gets those of the others', 'a=b', 'a=b', 'a=b; Secure'),
  ...cookie('the case of a name counts', 'ID=1', 'ID=1', 'ID=1; Secure'),
  ...cookie(
    'a value may hold what looks like an attribute',
    'id=secure=1; HttpOnly',
    'id=secure=1; HttpOnly; SameSite=Strict',
    'id=secure=1; HttpOnly; Secure; SameSite=Strict',
  ),
  ...cookie(
    'one for other sites is for TLS',
    'embed=1; SameSite=Lax',
    'embed=1; SameSite=Lax',
    'embed=1; Secure; SameSite=None',
  ),
  row('Cookies: an answer that sets none sets none', { path: page }, { 'set-cookie': null }),
];

const rewritten = (
  says: string,
  path: string,
  target: string,
  more: ChainRequest = {},
): ChainRow => ({
  ...{ says: `Rewrites: ${says}`, site, request: { path, ...more } },
  expected: { status: 200, origin: 'a', target },
});
const rewrites: readonly ChainRow[] = [
  rewritten('a path', '/old', '/new'),
  rewritten('its query goes along', '/old?a=b&c', '/new?a=b&c'),
  rewritten('a target with a query keeps its own', '/find?a=b', '/index.php?page=find'),
  rewritten('what lies under a path', '/app/a%2Fb/c?x', '/v2/a%2Fb/c?x'),
  rewritten('the path itself, with nothing under it', '/app', '/v2/'),
  rewritten('the first that fits decides', '/app/first', '/1'),
  rewritten('a path that begins so is left', '/apple', '/apple'),
  rewritten('case counts', '/OLD', '/OLD'),
  rewritten('no second slash begins a target', '/all//x.example', '/x.example'),
  rewritten('the way to the origin goes by the path that was sent', '/moved', '/api/x'),
  rewritten('bodies go along', '/old', '/new', { method: 'POST', body: 'a=1', headers: formType }),
  {
    ...{ says: 'Rewrites: what was sent is inspected', site },
    request: { path: '/app/?id=1%27%20OR%20%271%27=%271' },
    expected: { status: 403 },
  },
];

/** The group. */
export const fieldGroup: ChainGroup = {
  setup: [
    ...policyCalls(site, 'standard'),
    siteCall(site, {
      ...inspectedBy(site),
      delivery: {
        rewrites: [
          { path: '/old', target: '/new' },
          { path: '/find', target: '/index.php?page=find' },
          { path: '/app/first', target: '/1' },
          { path: '/app/*', target: '/v2/*' },
          { path: '/all/*', target: '/*' },
          { path: '/moved', target: '/api/x' },
        ],
        requestFields: [
          { name: 'X-Added', value: 'also', mode: 'FIELD_CHANGE_MODE_ADD' },
          { name: 'X-Default', value: 'new', mode: 'FIELD_CHANGE_MODE_DEFAULT' },
        ],
        responseFields: [
          { name: 'X-Note', value: 'second', mode: 'FIELD_CHANGE_MODE_ADD' },
          { name: 'X-Note', value: 'third', mode: 'FIELD_CHANGE_MODE_ADD' },
          { name: 'Referrer-Policy', value: 'same-origin', mode: 'FIELD_CHANGE_MODE_DEFAULT' },
          { name: 'X-Chosen', value: 'one' },
          { name: 'X-Chosen', value: 'two', mode: 'FIELD_CHANGE_MODE_ADD' },
        ],
        cookies: [
          { secure: true },
          { name: 'id', secure: true, httpOnly: true, sameSite: 'COOKIE_SAME_SITE_STRICT' },
          { name: 'embed', secure: true, sameSite: 'COOKIE_SAME_SITE_NONE' },
        ],
      },
    }),
  ],
  rows: [...changes, ...cookies, ...rewrites],
};

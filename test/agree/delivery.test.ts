/** What a site does by path beside protection: TestPolicy answers as live traffic is answered. */

import { request as sendRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPathPassword } from '../../base/path-password.ts';
import { startLiveWaf, type LiveWaf } from './live-waf.ts';

let waf: LiveWaf;
let policyId = '';
const siteIds = new Map<string, string>();

const passwordHash = hashPathPassword('secret', Buffer.alloc(16, 1));
const year = new Date().getUTCFullYear() + 1;
const delivery = {
  redirects: [{ path: '/old/*', target: 'https://new.test/*', status: 301 }],
  basicAuth: [{ pathPrefix: '/staff', users: [{ name: 'a', passwordHash }] }],
  bodyLimits: [{ pathPrefix: '/small', maxBytes: '8' }],
  securityTxt: `Contact: mailto:a@a.example\nExpires: ${year}-01-01T00:00:00Z\n`,
  cors: [{ pathPrefix: '/api', allowedOrigins: ['https://a.test'], allowedMethods: ['PUT'] }],
};
const maintenance = { enabled: true, allowedPaths: ['/status'] };

beforeAll(async () => {
  waf = await startLiveWaf();
  await waf.serve(async () => {
    const policy = { name: 'scored', crsCore: { decision: 'DECISION_SCORE' } };
    policyId = idOf((await waf.ask('PolicyService/CreatePolicy', { policy }))['policy']);
    const upstreams = [{ inline: { url: waf.originUrl } }];
    for (const [name, more] of Object.entries({
      open: { delivery },
      closed: { delivery: { ...delivery, maintenance } },
      routed: {},
    })) {
      const guarded = { upstreams, waf: { enabled: true, policyId } };
      const site = { name, primaryHost: `${name}.test`, ...guarded, ...more };
      const made = await waf.ask('SiteService/CreateSite', { site });
      siteIds.set(name, idOf(made['site']));
    }
    const upstream = { name: 'shop', endpoints: [{ url: waf.originUrl }] };
    const { upstream: pool } = await waf.ask('UpstreamService/CreateUpstream', { upstream });
    const routes = [{ pathPrefix: '/shop', upstreamId: idOf(pool) }];
    const routing = { routes, unmatchedAction: 'UNMATCHED_PATH_ACTION_RETURN_404' };
    const siteId = siteIds.get('routed')!;
    await waf.ask('SiteService/UpdateSiteRouting', { siteId, routing });
  });
}, 600_000);
afterAll(() => waf.close());

const idOf = (resource: unknown): string => (resource as { readonly id: string }).id;
const basic = (text: string) => ({
  Authorization: `Basic ${Buffer.from(text).toString('base64')}`,
});
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const preflight = { Origin: 'https://a.test', 'Access-Control-Request-Method': 'PUT' };
const foreign = { ...preflight, Origin: 'https://b.test' };

interface Row {
  readonly what: string;
  readonly site: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly answer: readonly [status: number, by: string];
}

const rows: readonly Row[] = [
  { what: 'a redirect', site: 'open', path: '/old/a?b=1', answer: [301, 'redirect'] },
  { what: 'a page beside the redirect', site: 'open', path: '/older', answer: [200, ''] },
  {
    ...{ what: 'a page without its password', site: 'open', path: '/staff/x' },
    answer: [401, 'auth_required'],
  },
  {
    ...{ what: 'a page with its password', site: 'open', path: '/staff/x' },
    ...{ headers: basic('a:secret'), answer: [200, ''] },
  },
  {
    ...{ what: 'a spelling of a page without its password', site: 'open', path: '//x/../staff/x' },
    answer: [401, 'auth_required'],
  },
  {
    ...{ what: 'a body past the bound of its path', site: 'open', path: '/small', method: 'POST' },
    ...{ headers: form, body: 'a=1234567', answer: [413, 'body_too_large'] },
  },
  {
    ...{ what: 'a body within the bound of its path', site: 'open', path: '/small' },
    ...{ method: 'POST', headers: form, body: 'a=123456', answer: [200, ''] },
  },
  {
    ...{ what: 'security.txt', site: 'open', path: '/.well-known/security.txt' },
    answer: [200, 'security_txt'],
  },
  {
    ...{ what: 'a preflight of a page that may', site: 'open', path: '/api/x', method: 'OPTIONS' },
    ...{ headers: preflight, answer: [200, 'preflight'] },
  },
  {
    ...{ what: 'a preflight of a page that may not', site: 'open', path: '/api/x' },
    ...{ method: 'OPTIONS', headers: foreign, answer: [403, 'preflight'] },
  },
  { what: 'a closed site', site: 'closed', path: '/', answer: [503, 'maintenance'] },
  { what: 'an open path of a closed site', site: 'closed', path: '/status', answer: [200, ''] },
  { what: 'a path with a route', site: 'routed', path: '/shop/1', answer: [200, ''] },
  { what: 'a path without a route', site: 'routed', path: '/other', answer: [404, 'unrouted'] },
  {
    ...{ what: 'a path that may have two routes', site: 'routed', path: '/./shop/1' },
    answer: [400, 'path_ambiguous'],
  },
];

/** Status and Location that a client gets. */
function live({ site, path, method = 'GET', headers = {}, body = '' }: Row) {
  return new Promise<readonly [number, string]>((resolve, reject) => {
    const fields = { Host: `${site}.test`, 'User-Agent': 'Mozilla/5.0', Accept: '*/*', ...headers };
    const length = body === '' ? {} : { 'Content-Length': String(body.length) };
    const options = { host: '127.0.0.1', port: waf.port, method, path, agent: false } as const;
    sendRequest({ ...options, headers: { ...fields, ...length } }, (response) => {
      const { statusCode = 0, headers: answered } = response.resume();
      response.once('end', () => resolve([statusCode, answered.location ?? '']));
    })
      .once('error', reject)
      .end(body);
  });
}

test.each(rows)('TestPolicy says what live traffic gets: $what', async (row) => {
  const { site, path, method = 'GET', headers = {}, body = '', answer } = row;
  const [status, by] = answer;
  const fields = { 'User-Agent': 'Mozilla/5.0', Accept: '*/*', ...headers };
  const asked = { policyId, siteId: siteIds.get(site), method, url: path, headers: fields };
  const more = { body: Buffer.from(body).toString('base64'), clientIp: '127.0.0.1' };
  const tested = await waf.ask('PolicyService/TestPolicy', { ...asked, ...more });
  const transaction = tested['transaction'] as {
    readonly refusal: string;
    readonly siteAnswer?: { readonly name: string; readonly location: string };
  };
  const { siteAnswer, refusal } = transaction;
  expect([tested['status'], siteAnswer?.name ?? refusal]).toEqual([status, by]);
  expect([tested['status'], siteAnswer?.location ?? '']).toEqual(await live(row));
});

test('what TestPolicy does not try is in its answer', async () => {
  const tried = async (siteId: string): Promise<string> => {
    const tested = await waf.ask('PolicyService/TestPolicy', { policyId, siteId, url: '/' });
    return (tested['transaction'] as { readonly notTried: string[] }).notTried.join('\n');
  };
  expect(await tried(siteIds.get('open')!)).toMatch(
    /^the connection: .*\nthe origin's answer: .*\nwho may enter: .*$/,
  );
  expect(await tried('')).toContain('\nsettings of a site: ');
});

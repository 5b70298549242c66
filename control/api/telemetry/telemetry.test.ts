/** Telemetry: exact counts over HTTP, its errors, permissions and reserved actions. */

import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { connectTestLink } from '../../../test/support/test-link.ts';
import { pathTree } from './path-tree.ts';
import {
  startTestControl,
  type Answer,
  type TestControl,
} from '../../../test/support/test-control.ts';

let waf: TestControl;
let siteId = '';
let token = '';

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const upstreams = [{ inline: { url: 'http://127.0.0.1:1' } }];
  const site = { name: 'shop', primaryHost: 'shop.test', upstreams };
  const made = await waf.call('SiteService/CreateSite', { site });
  siteId = (made.body['site'] as { id: string }).id;
  const login = { username: 'admin', password: waf.password };
  token = String(
    (await waf.call('AuthService/Login', login, { network: true })).body['accessToken'],
  );
});
afterAll(() => waf.control.close());

/** A plain HTTP call on the management listener. */
function ask(path: string, options: { token?: string; method?: string; body?: unknown } = {}) {
  const { method = 'GET', body } = options;
  const authorization =
    options.token === '' ? {} : { authorization: `Bearer ${options.token ?? token}` };
  const address = { host: '127.0.0.1', port: waf.control.managementPort, agent: false };
  return new Promise<Pick<Answer, 'status' | 'body'>>((resolve, reject) => {
    const headers = { ...authorization, 'content-type': 'application/json' };
    const target = `/api/v1/telemetry/${path}`;
    const asked = request({ ...address, method, path: target, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] }),
      );
    });
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

test('each endpoint answers in snake_case, for all sites and for one', async () => {
  const rate = await ask('qps?window=5m');
  expect(rate).toMatchObject({ status: 200, body: { window_seconds: 300, requests: 0, qps: 0 } });
  const { body } = await ask(
    `series?site=${siteId}&from=2026-01-01T00:00:00Z&to=2026-01-01T02:00:00Z&step=1h`,
  );
  expect(body).toMatchObject({
    ...{ site: siteId, step_seconds: 3600, from: '2026-01-01T00:00:00.000Z' },
    points: [
      { time: '2026-01-01T00:00:00.000Z', requests: 0, blocked: 0, bytes_in: 0, bytes_out: 0 },
      { time: '2026-01-01T01:00:00.000Z' },
    ],
  });
  for (const dimension of ['status', 'path', 'ua', 'method', 'client']) {
    const top = await ask(`topk?dimension=${dimension}&limit=3`);
    expect(top, dimension).toMatchObject({ status: 200, body: { dimension, entries: [] } });
    const serial = await ask(`series?dimension=${dimension}`);
    expect(serial.status, dimension).toBe(dimension === 'client' ? 400 : 200);
  }
  const tree = await ask(`apitree?site=${siteId}&base=/&depth=128`);
  expect(tree.body).toMatchObject({ site: siteId, base: '/', depth: 128, nodes: [], requests: 0 });
});

test('errors name the parameter in {error: {code, message}}', async () => {
  const cases = [
    ['qps?window=0s', 400, 'invalid_argument', 'window:'],
    ['qps?windw=1m', 400, 'invalid_argument', 'query:'],
    ['qps?site=a&site=b', 400, 'invalid_argument', 'site:'],
    ['qps?site=site-none', 404, 'not_found', 'site'],
    ['series?from=yesterday', 400, 'invalid_argument', 'from:'],
    ['series?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 400, 'invalid_argument', 'from:'],
    ['series?step=5s', 400, 'invalid_argument', 'step:'],
    ['topk', 400, 'invalid_argument', 'dimension:'],
    ['topk?dimension=host', 400, 'invalid_argument', 'dimension:'],
    ['topk?dimension=path&limit=101', 400, 'invalid_argument', 'limit:'],
    ['apitree', 400, 'invalid_argument', 'site:'],
    [`apitree?site=${siteId}&base=x`, 400, 'invalid_argument', 'base:'],
    [`apitree?site=${siteId}&depth=129`, 400, 'invalid_argument', 'depth:'],
    [`apitree?site=${siteId}&hidden=yes`, 400, 'invalid_argument', 'hidden:'],
    ['nothing', 404, 'not_found', 'Unknown path'],
  ] as const;
  for (const [path, status, code, message] of cases) {
    const answer = await ask(path);
    expect(answer, path).toMatchObject({ status, body: { error: { code } } });
    expect((answer.body['error'] as { message: string }).message, path).toContain(message);
  }
});

test('strangers and users without the permission learn nothing', async () => {
  const password = 'a-long-password-1';
  const made = await waf.call('UserService/CreateUser', { user: { username: 'reader' }, password });
  expect(made, made.text).toMatchObject({ status: 200 });
  const login = { username: 'reader', password };
  const signed = await waf.call('AuthService/Login', login, { network: true });
  const poor = String(signed.body['accessToken']);
  for (const name of ['qps', 'series', 'topk', 'apitree', 'apitree/action']) {
    const method = name === 'apitree/action' ? 'POST' : 'GET';
    const stranger = await ask(name, { token: '', method });
    expect(stranger, name).toMatchObject({
      status: 401,
      body: { error: { code: 'unauthenticated' } },
    });
    expect(await ask(name, { token: poor, method }), name).toMatchObject({
      status: 403,
      body: { error: { code: 'permission_denied' } },
    });
  }
});

test('reserved actions are 501, confirm is unsupported, assets are not found', async () => {
  const act = (action: string) =>
    ask('apitree/action', {
      method: 'POST',
      body: { site: siteId, asset_id: 'a1', action, expected_revision: '1' },
    });
  for (const action of ['block', 'apply_body_suggestion']) {
    expect(await act(action)).toMatchObject({
      status: 501,
      body: { error: { code: 'unimplemented' } },
    });
  }
  expect(await act('confirm')).toMatchObject({ status: 400 });
  for (const action of ['hide', 'restore', 'retire']) {
    expect(await act(action)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
  }
  const number = { site: siteId, asset_id: 'a1', action: 'hide', expected_revision: 1 };
  expect(await ask('apitree/action', { method: 'POST', body: number })).toMatchObject({
    status: 400,
  });
});

test('paths become a tree with sums; what is deeper counts into its last node', () => {
  const values = [
    { key: '/api/users', total: 5, blocked: 1 },
    { key: '/api/users/7', total: 3, blocked: 0 },
    { key: '/api', total: 2, blocked: 0 },
    { key: '/apix', total: 9, blocked: 0 },
  ];
  const { nodes, requests } = pathTree(values, '/api', 1);
  expect(requests).toBe(10);
  expect(nodes).toEqual([
    { segment: 'users', path: '/api/users', requests: 8, blocked: 1, children: [] },
  ]);
  expect(pathTree(values, '/', 128).nodes.map(({ path }) => path)).toEqual(['/api', '/apix']);
});

test('endpoints of traffic are listed; hide, restore and retire change the list only', async () => {
  const link = connectTestLink(waf.socket, [], async (obtain, keep) => {
    await obtain();
    await keep();
  });
  const place = { method: 'GET', host: 'shop.test', path: '/users/{value}', count: 5 };
  link.learnEndpoints([{ siteId, endpoints: [place], omitted: 7 }]);
  interface Listed {
    readonly asset_id: string;
    readonly revision: string;
    readonly hidden: boolean;
  }
  const list = async (more = ''): Promise<readonly Listed[]> =>
    (await ask(`apitree?site=${siteId}${more}`)).body['endpoints'] as readonly Listed[];
  await eventually(async () => (await list()).length === 1);
  const [found] = await list();
  expect(found).toMatchObject({
    method: 'GET',
    path: '/users/{value}',
    requests: 5,
    revision: '0',
    first_seen: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  expect((await ask(`apitree?site=${siteId}`)).body).toMatchObject({
    total_endpoints: 1,
    omitted_requests: 7,
  });
  const act = (action: string, revision: string) => {
    const fields = { site: siteId, asset_id: found!.asset_id, expected_revision: revision };
    return ask('apitree/action', { method: 'POST', body: { ...fields, action } });
  };
  expect(await act('hide', '0')).toMatchObject({ status: 200, body: { revision: '1' } });
  expect(await act('restore', '0')).toMatchObject({
    status: 409,
    body: { error: { code: 'aborted' } },
  });
  expect(await list()).toEqual([]);
  expect(await list('&hidden=true')).toMatchObject([{ hidden: true, revision: '1' }]);
  expect(await act('restore', '1')).toMatchObject({ status: 200, body: { revision: '2' } });
  expect(await list()).toHaveLength(1);
  expect(await act('retire', '2')).toMatchObject({ status: 200 });
  expect(await list()).toEqual([]);
  await link.close();
});

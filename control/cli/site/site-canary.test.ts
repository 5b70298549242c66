/** Proof of `waf site canary`: unspecified options stay, and what is wrong is named. */

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

let waf: TestControl;
const ids = new Map<string, string>();

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  for (const name of ['main', 'next']) {
    const upstream = { name, endpoints: [{ url: 'http://127.0.0.1:1', weight: 1 }] };
    const { body } = await waf.call('UpstreamService/CreateUpstream', { upstream });
    ids.set(name, (body['upstream'] as { id: string }).id);
  }
  const upstreams = [{ upstreamId: ids.get('main') }];
  const site = { name: 'shop', primaryHost: 'shop.example', upstreams };
  const { body } = await waf.call('SiteService/CreateSite', { site });
  ids.set('site', (body['site'] as { id: string }).id);
});
afterAll(() => waf.control.close());
afterEach(() => vi.restoreAllMocks());

async function run(...line: string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = keepPrinted();
  const commands = await loadCommands(line);
  const code = await runCommandLine(commands, [...line, '--admin-socket', waf.socket, '--no-wait']);
  return { code, out: printed.out, err: printed.err };
}

async function canary(): Promise<unknown> {
  const { body } = await waf.call('SiteService/GetSiteRouting', { siteId: ids.get('site') });
  return (body['routing'] as { routes: { canary?: unknown }[] }).routes[0]?.canary;
}

test('a second pool is set, changed in part, shown, and taken away', async () => {
  const early = await run('site', 'canary', 'shop', '/', '--pool', 'next');
  expect([early.code, early.err]).toEqual([1, expect.stringContaining('the site has no route /')]);
  expect((await run('site', 'routing-set', 'shop', '--route', '/=main')).code).toBe(0);
  const names = ['--header', 'X-Canary', '--cookie', 'canary'];
  const set = await run(
    'site',
    'canary',
    'shop',
    '/',
    '--pool',
    'next',
    '--weight',
    '10',
    ...names,
  );
  expect([set.code, set.out]).toEqual([
    0,
    expect.stringMatching(/next +field X-Canary, cookie canary, 10 %/),
  ]);
  expect((await run('site', 'canary', 'shop', '/', '--weight', '50')).code).toBe(0);
  const upstreamId = ids.get('next');
  const whole = { upstreamId, weight: 50, headerName: 'X-Canary', cookieName: 'canary' };
  expect(await canary()).toEqual(whole);
  expect((await run('site', 'routing-set', 'shop', '--strip', '/=main')).code).toBe(0);
  expect(await canary()).toEqual(whole);
  const used = await waf.call('UpstreamService/DeleteUpstream', { id: upstreamId });
  expect([used.status === 200, used.text]).toEqual([false, expect.stringContaining('use')]);
  expect((await run('site', 'canary', 'shop', '/', '--off')).code).toBe(0);
  expect(await canary()).toBeUndefined();
});

test.each([
  [['--weight', '101'], '--weight wants a whole number from 0 to 100'],
  [['--pool', 'main'], 'routing.routes[0].canary.upstreamId: is the pool of the route itself'],
  [['--pool', 'next', '--header', 'a b'], 'routing.routes[0].canary.headerName: is no name of'],
  [['--pool', 'next', '--cookie', 'a;b'], 'routing.routes[0].canary.cookieName: is no name of'],
  [['--weight', '5'], 'routing.routes[0].canary.upstreamId: is required'],
  [['--off', '--weight', '5'], 'give --off, or what changes'],
  [[], 'give --off, or what changes'],
])('%j is refused', async (flags, says) => {
  const { code, err } = await run('site', 'canary', 'shop', '/', ...flags);
  expect([code, err]).toEqual([1, expect.stringContaining(says)]);
});

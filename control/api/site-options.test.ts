/** What settings choose for sites: of known sites only, published, gone with the site. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTestLink } from '../../test/support/test-link.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { toRuntimeConfig } from '../../engine/bundle/runtime-config.ts';
import type { VerifiedBundle } from '../../engine/bundle/signed-bundle.ts';
import type { ControllerLink } from '../../engine/link/controller-link.ts';

let waf: TestControl;
let link: ControllerLink;
const applied: VerifiedBundle[] = [];
const ids: string[] = [];

interface Answer {
  readonly site?: { readonly id: string; readonly revision: string };
  readonly message?: string;
  readonly settings?: { readonly values: Readonly<Record<string, unknown>> };
}

const call = async (method: string, body: object = {}): Promise<Answer> =>
  (await waf.call(method, body)).body as Answer;
const set = (values: object): Promise<Answer> =>
  call('SystemService/UpdateSystemSettings', { values });

/** What the node makes of a site. */
const served = (siteId: string): unknown[] => {
  const site = toRuntimeConfig(applied.at(-1)!).sites.find(({ id }) => id === siteId);
  return [site?.websocketMessages, site?.rateLimitFields, site?.grpcFields, site?.arrayNames];
};

beforeAll(async () => {
  waf = await startTestControl();
  link = connectTestLink(waf.socket, applied, async (obtain, keep) => {
    applied.push(await obtain());
    await keep();
  });
  for (const name of ['one', 'two']) {
    const upstreams = [{ inline: { url: 'http://127.0.0.1:9' } }];
    const wanted = { name, primaryHost: `${name}.test`, upstreams, waf: { enabled: false } };
    const { site } = await call('SiteService/CreateSite', { site: wanted });
    ids.push(site!.id);
  }
});

afterAll(async () => {
  await link.close();
  await waf.control.close();
});

test('name sites that are there', async () => {
  const { message } = await set({ 'websocket.messages': { nobody: 'block' } });
  expect(message).toContain('No site has the id "nobody"');
  expect((await set({ 'websocket.messages': { '*': 'stop' } })).message).toContain('one of off');
});

test('reach nodes, by site and for all others', async () => {
  const [one = '', two = ''] = ids;
  await set({ 'websocket.messages': { [one]: 'block', '*': 'observe' } });
  await set({ 'rate_limit.fields': { [two]: 'on' } });
  await set({ 'grpc.fields': { [one]: 'off', '*': 'on' } });
  await set({ 'api.array_names': { [one]: 'none', '*': 'qs' } });
  await eventually(() => applied.length > 0 && served(two)[3] === 'qs');
  expect(served(one)).toEqual(['block', undefined, undefined, undefined]);
  expect(served(two)).toEqual(['observe', true, true, 'qs']);
});

test('forget a site that is no more', async () => {
  const [one = '', two = ''] = ids;
  await call('SiteService/DeleteSite', { id: one });
  const { settings } = await call('SystemService/GetSystemSettings');
  expect(settings?.values).toMatchObject({
    'websocket.messages': { '*': 'observe' },
    'rate_limit.fields': { [two]: 'on' },
  });
  expect(settings?.values['websocket.messages']).not.toHaveProperty(one);
});

/**
 * Proof that lists and countries that operators set are enforced by the running product: control,
 * a node and real connections, with the look-up of control and the event saying the same.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { describeCase, type DescribedCase } from './described-case.ts';
import { startLiveWaf, type LiveWaf } from './live-waf.ts';

let waf: LiveWaf;
let siteId = '';
let listId = '';
const choice = { kind: 'deny', addressSource: 'client_ip', matchMode: 'in_list' };

beforeAll(async () => {
  waf = await startLiveWaf();
  await waf.serve(async () => {
    const upstreams = [{ inline: { url: waf.originUrl } }];
    const site = { name: 'a', primaryHost: 'a.test', upstreams, waf: { enabled: false } };
    const made = await waf.ask('SiteService/CreateSite', { site });
    siteId = (made['site'] as { id: string }).id;
  });
});
afterAll(() => waf.close());

function request(path: string): DescribedCase {
  const wire = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`);
  const made = describeCase({ title: path, wire_b64: wire.toString('base64') });
  if (typeof made === 'string') throw new Error(made);
  return made;
}

async function statusOf(path: string): Promise<number> {
  return (await waf.send(request(path))).status;
}

async function decisionFor(requestPath: string): Promise<unknown> {
  const asked = { ip: '127.0.0.1', peerIp: '127.0.0.1', siteId, requestPath };
  return (await waf.ask('IpListService/LookupIpScopes', asked))['decision'];
}

test('a list that is bound denies; what it does not hold and other paths pass', async () => {
  expect(await statusOf('/admin')).toBe(0);
  await waf.serve(async () => {
    const entries = [{ value: '127.0.0.0/8' }];
    const made = await waf.ask('IpListService/CreateIpList', { ipList: { name: 'l', entries } });
    listId = (made['ipList'] as { id: string }).id;
    const binding = { ipListId: listId, ...choice, pathPrefix: '/admin' };
    await waf.ask('IpListService/UpsertGlobalIpListBinding', { binding });
  });
  expect([await statusOf('/admin/x'), await decisionFor('/admin/x')]).toEqual([403, 'deny']);
  expect([await statusOf('/open'), await decisionFor('/open')]).toEqual([0, 'none']);
  const shown = { hits: [{ value: '127.0.0.0/8', hits: '1' }], otherHits: {} };
  await eventually(async () => {
    const answer = await waf.ask('IpListService/ListIpListEntries', { ipListId: listId });
    const [entry] = answer['hits'] as { hits?: string }[];
    if (entry!.hits === undefined) return false;
    expect(answer).toMatchObject(shown);
    return true;
  });
});

test('a changed list decides once it is served', async () => {
  await waf.serve(() =>
    waf.ask('IpListService/ReplaceIpListEntries', {
      id: listId,
      entries: [{ value: '192.0.2.1' }],
    }),
  );
  expect([await statusOf('/admin/x'), await decisionFor('/admin/x')]).toEqual([0, 'none']);
});

test('a country rule denies whom it does not list, and loopback has no country', async () => {
  await waf.serve(async () => {
    const targets = [{ scope: 'site', siteId }];
    const rule = { name: 'c', countryCodes: ['DE'], enabled: true, ...choice, targets };
    const made = await waf.ask('CountryAccessService/UpsertCountryAccessRule', {
      rule: { ...rule, matchMode: 'not_in_list' },
    });
    expect(made['warnings'] ?? []).toEqual([]);
  });
  expect(await statusOf('/open')).toBe(403);
});

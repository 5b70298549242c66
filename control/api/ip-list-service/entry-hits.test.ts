/** Tests that the entries of a list show how often each decided, as a node counted it. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { FrontCounters } from '../../../engine/front/facts/counters.ts';
import type { ControllerLink } from '../../../engine/link/controller-link.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { connectTestLink } from '../../../test/support/test-link.ts';

let waf: TestControl;
let link: ControllerLink;
beforeAll(async () => {
  waf = await startTestControl();
  link = connectTestLink(waf.socket, [], () => Promise.resolve());
});
afterAll(async () => {
  await link.close();
  await waf.control.close();
});

interface Shown {
  readonly items?: readonly { readonly value: string }[];
  readonly hits?: readonly { value: string; hits?: string; lastHitAt?: string }[];
  readonly otherHits?: { readonly hits?: string };
  readonly hitsNotCounted?: boolean;
}

test('each entry of a list shows its hits and its last hit, on every page', async () => {
  const call = async (method: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await waf.call(`IpListService/${method}`, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const entries = [{ value: '10.0.0.0/8' }, { value: '10.1.0.0/16' }, { value: '192.0.2.1' }];
  const made = await call('CreateIpList', { ipList: { name: 'l', entries } });
  const ipListId = (made['ipList'] as { id: string }).id;
  const binding = { ipListId, kind: 'deny', addressSource: 'client_ip', matchMode: 'in_list' };
  const bound = await call('UpsertGlobalIpListBinding', { binding });
  const { id } = bound['binding'] as { id: string };
  const show = async (more: object = {}): Promise<Shown> =>
    await call('ListIpListEntries', { ipListId, ...more });
  const hitsOf = ({ hits = [] }: Shown) => hits.map((one) => [one.value, one.hits ?? '0']);
  const never = entries.map(({ value }) => [value, '0']);
  expect(hitsOf(await show())).toEqual(never);

  const counters = new FrontCounters();
  for (const ip of ['10.1.2.3', '10.1.9.9', '10.9.9.9']) counters.addListHit(id, ip);
  counters.addListHit(id, '203.0.113.7');
  const beforeMs = Date.now();
  link.count(counters.drain());
  await eventually(async () => (await show()).otherHits?.hits === '1');
  const first = await show({ page: { page: 1, pageSize: 2 } });
  expect(hitsOf(first)).toEqual([
    ['10.0.0.0/8', '1'],
    ['10.1.0.0/16', '2'],
  ]);
  expect(Date.parse(first.hits![1]!.lastHitAt!)).toBeGreaterThanOrEqual(beforeMs);
  const second = await show({ page: { page: 2, pageSize: 2 } });
  expect(second.hits).toEqual([{ value: '192.0.2.1' }]);
  expect(hitsOf(await show({ query: '10.1' }))).toEqual([['10.1.0.0/16', '2']]);
  // What requests did is for those who may read the log.
  for (const [username, permissions, shows] of [
    ['editor', ['policy:read'], false],
    ['reader', ['policy:read', 'log:read'], true],
  ] as const) {
    const way = { token: await signUp(username, permissions) };
    const { body } = await waf.call('IpListService/ListIpListEntries', { ipListId }, way);
    expect(body['items']).toHaveLength(3);
    expect([body['hits'] !== undefined, body['otherHits'] !== undefined]).toEqual([shows, shows]);
  }
});

test.each([
  ['no binding', [], false],
  ['an allow that skips no inspection', [['allow', 'ip_lists_only']], true],
  ['an allow that skips all inspection', [['allow', 'all_waf']], false],
  ['a deny', [['deny', '']], false],
  ['a monitor', [['monitor', '']], false],
] as const)('whether hits of a list with %s are counted', async (name, bindings, told) => {
  const entries = [{ value: '198.51.100.1' }];
  const made = await waf.call('IpListService/CreateIpList', { ipList: { name, entries } });
  const ipListId = (made.body['ipList'] as { id: string }).id;
  for (const [kind, bypassMode] of bindings) {
    const place = { addressSource: 'client_ip', matchMode: 'in_list' };
    const binding = { ipListId, kind, bypassMode, ...place };
    const bound = await waf.call('IpListService/UpsertGlobalIpListBinding', { binding });
    expect(bound.status, bound.text).toBe(200);
  }
  const shown = await waf.call('IpListService/ListIpListEntries', { ipListId });
  expect((shown.body as Shown).hitsNotCounted ?? false).toBe(told);
});

async function signUp(username: string, permissions: readonly string[]): Promise<string> {
  const password = 'a-long-password-1';
  const { body } = await waf.call('RoleService/CreateRole', {
    role: { name: username, permissions },
  });
  const roles = [{ id: (body['role'] as { id: string }).id }];
  await waf.call('UserService/CreateUser', { user: { username, roles }, password });
  const login = { username, password };
  const signedIn = await waf.call('AuthService/Login', login, { network: true });
  return String(signedIn.body['accessToken']);
}

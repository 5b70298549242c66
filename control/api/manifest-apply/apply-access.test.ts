/** Proves that a place has exactly what its document states: what stays is not made anew. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

type Shown = Readonly<Record<string, unknown>> & { readonly id: string };

let waf: TestControl;
let policyId = '';

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  for (const name of ['office', 'feed']) {
    await waf.call('IpListService/CreateIpList', { ipList: { name } });
  }
  const made = await waf.call('PolicyService/CreatePolicy', { policy: { name: 'shop' } });
  policyId = (made.body['policy'] as Shown).id;
});
afterAll(() => waf.control.close());

function apply(list: string, entries: readonly object[]) {
  const spec = { crsRulesetRef: 'default', [list]: entries };
  const document = { apiVersion: 'waf.io/v1', kind: 'Policy', metadata: { name: 'shop' }, spec };
  const manifestYaml = Buffer.from(JSON.stringify(document)).toString('base64');
  return waf.call('SystemService/Apply', { manifestYaml });
}

const bound = (listRef: string, more: object = {}) => ({
  ...{ listRef, kind: 'deny', addressSource: 'client_ip', matchMode: 'in_list', ...more },
});
const limited = (pathPattern: string, more: object = {}) => ({
  ...{ pathPattern, action: 'block', requestCount: 5, windowSeconds: 60, ...more },
});

test.each([
  ['ipListBindings', 'IpListService/ListIpListBindings', bound, ['office', 'feed'], 'kind'],
  ['rateLimits', 'RateLimitService/ListRateLimitEndpoints', limited, ['/a', '/b'], 'action'],
] as const)('%s are exactly those of the document', async (list, rpc, entry, names, field) => {
  const shown = async (): Promise<readonly Shown[]> =>
    (await waf.call(rpc, { policyId })).body['items'] as Shown[];
  const [one, other] = names;
  const taken = await apply(list, [entry(one), entry(other, { sortOrder: 1 })]);
  expect(taken.status, taken.text).toBe(200);
  const [first, second] = await shown();
  expect((await apply(list, [entry(one, { sortOrder: 2 })])).status).toBe(200);
  expect(await shown()).toMatchObject([{ id: first!.id, sortOrder: 2 }]);
  // An id that is free again is the entry's own.
  expect((await apply(list, [entry(other, { id: second!.id })])).status).toBe(200);
  expect(await shown()).toMatchObject([{ id: second!.id }]);
  const rows = async () =>
    (await waf.call('AuditService/QueryAudit', { action: 'upsert' })).body['total'];
  const before = await rows();
  expect((await apply(list, [entry(other)])).status).toBe(200);
  expect(await rows()).toBe(before);
  const twice = await apply(list, [entry(one), entry(other), entry(one, { sortOrder: 3 })]);
  expect(twice.body['message']).toContain(`spec.${list}[2]: is there twice`);
  const wrong = await apply(list, [entry(one), entry(other, { [field]: 'none' })]);
  expect(wrong.body['message']).toContain(`spec.${list}[1].${field}: must be one of`);
  expect(await shown()).toMatchObject([{ id: second!.id }]);
});

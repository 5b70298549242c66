/** Proves that a binding which somebody else changed meanwhile is not overwritten unseen. */

import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let ipListId = '';
let policyId = '';

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const made = async (rpc: string, body: object): Promise<string> => {
    const { body: answer } = await waf.call(rpc, body);
    return (Object.values(answer)[0] as { id: string }).id;
  };
  ipListId = await made('IpListService/CreateIpList', { ipList: { name: 'office' } });
  policyId = await made('PolicyService/CreatePolicy', { policy: { name: 'bound' } });
});
afterAll(async () => {
  await waf.control.close();
  rmSync(waf.folder, { recursive: true, force: true });
});

test.each([
  ['UpsertIpListBinding', true],
  ['UpsertGlobalIpListBinding', false],
])('%s: a binding is refused when it is not what the caller read', async (rpc, ofPolicy) => {
  const choice = { addressSource: 'client_ip', matchMode: 'in_list' };
  const place = { ipListId, ...(ofPolicy ? { policyId } : {}), ...choice };
  const bind = async (change: object, expected?: object) => {
    const binding = { ...place, ...change };
    const { status, body } = await waf.call(`IpListService/${rpc}`, {
      binding,
      ...(expected === undefined ? {} : { expected }),
    });
    return status === 200 ? (body['binding'] as { id: string }) : body;
  };
  const changed = {
    code: 'aborted',
    message: 'expected: the binding changed since; read it again',
  };
  const first = await bind({ kind: 'deny' }, {});
  expect(first).toMatchObject({ kind: 'deny' });
  // Two who found nothing there: the second has to look again.
  expect(await bind({ kind: 'allow' }, {})).toMatchObject(changed);
  const second = await bind({ kind: 'deny', sortOrder: 3 }, first);
  expect(second).toMatchObject({ sortOrder: 3 });
  expect(await bind({ kind: 'deny', matchMode: 'not_in_list' }, first)).toMatchObject(changed);
  expect(await bind({ kind: 'monitor', id: second.id }, first)).toMatchObject(changed);
  expect(await bind({ kind: 'monitor', id: second.id }, second)).toMatchObject({ kind: 'monitor' });
  // Who does not ask is not refused, as before.
  expect(await bind({ kind: 'deny' })).toMatchObject({ kind: 'deny' });
});

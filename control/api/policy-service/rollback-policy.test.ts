/** Proves that versions hold a policy whole, and that a rollback restores it or says why not. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { countryRules, geoDatabases } from '../../store/collections.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore } from '../../store/store.ts';
import { missingFor } from './rollback-policy.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());

interface Resource {
  readonly id: string;
  readonly revision: string;
  readonly updatedAt?: string;
  readonly bundleSha256?: string;
  readonly snapshot?: { readonly ipListBindings?: unknown };
}

interface Body {
  readonly policy: Resource;
  readonly ipList: Resource;
  readonly binding: Resource;
  readonly items?: readonly Resource[];
}

const ok = async (rpc: string, body: object): Promise<Body> => {
  const answer = await waf.call(rpc, body);
  expect(answer, rpc).toMatchObject({ status: 200 });
  return answer.body as unknown as Body;
};

async function versionsOf(policyId: string): Promise<readonly Resource[]> {
  return (await ok('PolicyService/ListPolicyVersions', { policyId })).items ?? [];
}

const getPolicy = async (id: string) => (await ok('PolicyService/GetPolicy', { id })).policy;

test('a built-in policy returns to its factory state', async () => {
  for (const id of ['policy-light', 'policy-standard', 'policy-strict']) {
    const factory = await getPolicy(id);
    const [first] = await versionsOf(id);
    expect(first).toMatchObject({ revision: '1', createdBy: 'waf' });
    await ok('PolicyService/UpdatePolicy', {
      policy: { id, crsCore: { blockingParanoiaLevel: 3, detectionParanoiaLevel: 4 } },
      revision: factory.revision,
      updateMask: 'crs_core.blocking_paranoia_level,crsCore.detectionParanoiaLevel',
    });
    await ok('PolicyService/RollbackPolicy', { policyId: id, versionId: first!.id });
    const { revision, updatedAt, bundleSha256, ...restored } = await getPolicy(id);
    expect(revision).toBe('3');
    const { revision: _1, updatedAt: _2, bundleSha256: _3, ...wanted } = factory;
    expect([restored, updatedAt !== '', bundleSha256 !== '']).toEqual([wanted, true, true]);
  }
});

test('bindings are part of a version, however they were set, and come back with it', async () => {
  const { policy } = await ok('PolicyService/CreatePolicy', { policy: { name: 'bound' } });
  const { ipList } = await ok('IpListService/CreateIpList', {
    ipList: { name: 'office', entries: [{ value: '192.0.2.0/24' }] },
  });
  const choice = { kind: 'deny', addressSource: 'client_ip', matchMode: 'in_list' };
  const { binding } = await ok('IpListService/UpsertIpListBinding', {
    binding: { ipListId: ipList.id, policyId: policy.id, pathPrefix: '/a', ...choice },
  });
  const [bound, unbound] = await versionsOf(policy.id);
  expect(unbound!.snapshot?.ipListBindings).toEqual([]);
  expect(bound!.snapshot?.ipListBindings).toEqual([
    expect.objectContaining({ ipListName: 'office', pathPrefix: '/a', kind: 'deny' }),
  ]);
  await ok('IpListService/DeleteIpListBinding', { id: binding.id });
  expect(await versionsOf(policy.id)).toHaveLength(3);
  await ok('PolicyService/RollbackPolicy', { policyId: policy.id, versionId: bound!.id });
  const list = { policyId: policy.id };
  expect((await ok('IpListService/ListIpListBindings', list)).items).toMatchObject([
    { ipListId: ipList.id, pathPrefix: '/a', kind: 'deny', scope: 'policy' },
  ]);
  await ok('PolicyService/RollbackPolicy', { policyId: policy.id, versionId: unbound!.id });
  expect((await ok('IpListService/ListIpListBindings', list)).items ?? []).toEqual([]);
  await ok('IpListService/DeleteIpList', { id: ipList.id });
  const refused = await waf.call('PolicyService/RollbackPolicy', {
    policyId: policy.id,
    versionId: bound!.id,
  });
  expect(refused.body).toMatchObject({ code: 'failed_precondition' });
  expect(refused.text).toContain('the IP list office');
});

test('every missing ruleset, plugin, list and data set is named at once', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const policy = { id: 'p', tenantId: 'default', crsRulesetId: 'crs-of-yore' } as PolicyRecord;
  const bindings = [
    { ipListId: 'list-1', ipListName: 'office' },
    { ipListId: 'list-2', ipListName: '' },
  ];
  const missing = () => missingFor(store, 'default', policy, bindings as never);
  const rules = ['the ruleset crs-of-yore', 'the IP list office', 'the IP list list-2'];
  expect(missing()).toEqual(rules);
  await store.write((tx) => {
    tx.put(geoDatabases, { id: 'country', kind: 'country', sha256: 'x', blob: 'broken' });
    tx.putBlob('broken', new Uint8Array(8));
    tx.put(countryRules, {
      id: 'c',
      enabled: true,
      targets: [{ scope: 'policy', policyId: 'p', siteId: '' }],
    } as never);
  });
  expect(missing()).toEqual([...rules, 'the country data that its rules ask for']);
  const without = { ...policy, crsRulesetId: '', plugins: [{ pluginId: 'x:shop', enabled: true }] };
  expect(missingFor(store, 'default', without, undefined)).toEqual([
    'the plugin x:shop, as the version sets it',
    'the country data that its rules ask for',
  ]);
  await store.close();
});

test('a policy that protects sites is not archived, by whatever call', async () => {
  const { policy } = await ok('PolicyService/CreatePolicy', {
    policy: { name: 'in use', status: 'archived' },
  });
  const [archived] = await versionsOf(policy.id);
  const update = (revision: string, status: string) =>
    waf.call('PolicyService/UpdatePolicy', {
      policy: { id: policy.id, status },
      revision,
      updateMask: 'status',
    });
  expect(await update('1', 'active')).toMatchObject({ status: 200 });
  await ok('SiteService/CreateSite', {
    site: {
      name: 'user',
      primaryHost: 'user.test',
      upstreams: [{ inline: { url: 'http://127.0.0.1:1' } }],
      waf: { enabled: true, policyId: policy.id },
    },
  });
  const manifest = `
apiVersion: waf.io/v1
kind: Policy
metadata: { name: in use }
spec: { status: archived }`;
  const refusals = [
    await update('2', 'archived'),
    await waf.call('PolicyService/RollbackPolicy', {
      policyId: policy.id,
      versionId: archived!.id,
    }),
    await waf.call('SystemService/Apply', {
      manifestYaml: Buffer.from(manifest).toString('base64'),
    }),
    await waf.call('PolicyService/UpdatePolicy', {
      policy: { id: 'policy-light', status: 'archived' },
      revision: (await getPolicy('policy-light')).revision,
      updateMask: 'status',
    }),
  ];
  for (const refusal of refusals) {
    expect(refusal.body, refusal.text).toMatchObject({ code: 'failed_precondition' });
    expect(refusal.text).toMatch(/status: (?:sites use it|it protects sites)/);
  }
  expect(await getPolicy(policy.id)).toMatchObject({ status: 'active' });
});

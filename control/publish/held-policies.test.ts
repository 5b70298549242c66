/** The proof that one policy that does not compile holds back itself and nothing else. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { BundleKeeper } from '../../engine/bundle/bundle-keeper.ts';
import { toRuntimeConfig } from '../../engine/bundle/runtime-config.ts';
import { verifySignedBundle } from '../../engine/bundle/signed-bundle.ts';
import { goodPolicies, heldPolicies, policies, sites } from '../store/collections.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openStore, type Store } from '../store/store.ts';
import { startPublisher, type Publication, type Publisher } from './publisher.ts';

const policy = (id: string, revision: string) => ({
  id,
  tenantId: 'default',
  name: id,
  crsRulesetId: '',
  status: 'active' as const,
  revision,
  createdAt: '',
  updatedAt: '',
});

const site = (id: string, policyId: string) => ({
  id,
  tenantId: 'default',
  name: id,
  primaryHost: `${id}.example`,
  upstreams: [{ inline: { url: 'http://127.0.0.1:9000', weight: 1 } }],
  waf: { enabled: true, mode: 'WAF_MODE_BLOCKING' as const, policyId },
  status: 'RESOURCE_STATUS_ACTIVE' as const,
  revision: '1',
  createdAt: '',
  updatedAt: '',
});

async function twoPolicies(): Promise<Store> {
  const store = await openStore(openMemoryKv(), systemClock);
  await store.write((tx) => {
    for (const id of ['p1', 'p2']) {
      tx.put(policies, policy(id, '1'));
      tx.put(sites, site(`site-${id}`, id));
    }
  });
  return store;
}

/** What an engine makes of a publication: revisions of policies by id, and which are held. */
async function served(publisher: Publisher, { signed }: Publication) {
  const keeper = new BundleKeeper(mkdtempSync(join(tmpdir(), 'waf-held-')));
  const verified = await keeper.complete(verifySignedBundle(signed), async function* (wanted) {
    for (const sha256 of wanted) yield await Promise.resolve(publisher.part(sha256)!);
  });
  const { policies: found, sites } = toRuntimeConfig(verified);
  return {
    revisions: Object.fromEntries(found.map(({ id, revision }) => [id, revision])),
    held: verified.bundle.heldPolicies,
    sites: sites.map(({ id }) => id),
  };
}

const refusal = (id: string) => [
  { id, text: `policy ${id} "${id}": 1 error\n  policy.conf:3:1: x` },
];

test('a refused policy keeps its last good artifact; other changes are published', async () => {
  const store = await twoPolicies();
  const publisher = await startPublisher(store, systemClock, silentLogger);
  await publisher.accepted(publisher.current()!.revision);
  await store.write((tx) => {
    tx.put(policies, policy('p1', '2'));
    tx.put(policies, policy('p2', '2'));
  });
  const broken = await publisher.publish();
  expect(await served(publisher, broken)).toMatchObject({ revisions: { p1: '2', p2: '2' } });

  await publisher.refused(broken.revision, refusal('p2'));
  const settled = await publisher.publish();
  expect(settled.revision).not.toBe(broken.revision);
  expect(await served(publisher, settled)).toMatchObject({
    revisions: { p1: '2', p2: '1' },
    held: [],
  });
  expect(settled.held).toEqual([
    { id: 'p2', served: true, error: expect.stringContaining('policy.conf:3:1') },
  ]);
  await publisher.accepted(settled.revision);

  // Other changes are still published, also after a restart of control.
  publisher.close();
  const restarted = await startPublisher(store, systemClock, silentLogger);
  expect(restarted.current()?.signed.sha256).toBe(settled.signed.sha256);
  await store.write((tx) => tx.put(sites, site('third', 'p1')));
  const next = await restarted.publish();
  expect(await served(restarted, next)).toMatchObject({
    revisions: { p1: '2', p2: '1' },
    sites: expect.arrayContaining(['third']),
  });

  // The next version of the policy is tried.
  await store.write((tx) => tx.put(policies, policy('p2', '3')));
  const mended = await restarted.publish();
  expect(await served(restarted, mended)).toMatchObject({ revisions: { p2: '3' } });
  expect(mended.held).toEqual([]);
  expect(store.list(heldPolicies)).toEqual([]);
  restarted.close();
});

test('a policy that never compiled is left out and its sites are marked', async () => {
  const store = await twoPolicies();
  const publisher = await startPublisher(store, systemClock, silentLogger);
  const first = publisher.current()!;
  await publisher.refused(first.revision, refusal('p2'));
  const settled = await publisher.publish();
  expect(await served(publisher, settled)).toEqual({
    revisions: { p1: '1' },
    held: ['p2'],
    sites: ['site-p1', 'site-p2'],
  });
  expect(settled.held[0]?.served).toBe(false);
  publisher.close();
});

test('to deliver again is to try again', async () => {
  const store = await twoPolicies();
  const publisher = await startPublisher(store, systemClock, silentLogger);
  await publisher.refused(publisher.current()!.revision, refusal('p2'));
  await publisher.publish();
  await publisher.redeliver();
  expect(await served(publisher, publisher.current()!)).toMatchObject({
    revisions: { p1: '1', p2: '1' },
    held: [],
  });
  publisher.close();
});

test('an artifact that was good and is refused later is no longer fallen back to', async () => {
  const store = await twoPolicies();
  const publisher = await startPublisher(store, systemClock, silentLogger);
  const { revision } = publisher.current()!;
  await publisher.accepted(revision);
  expect(store.list(goodPolicies).map(({ id }) => id)).toEqual(['p1', 'p2']);
  await publisher.refused(revision, refusal('p2'));
  expect(await served(publisher, await publisher.publish())).toMatchObject({ held: ['p2'] });
  expect(store.list(goodPolicies).map(({ id }) => id)).toEqual(['p1']);
  publisher.close();
});

test('what a node says of unknown policies or configurations changes nothing', async () => {
  const store = await twoPolicies();
  const publisher = await startPublisher(store, systemClock, silentLogger);
  const { revision, signed } = publisher.current()!;
  await publisher.refused(revision, refusal('nobody'));
  await publisher.refused('4711', refusal('p1'));
  await publisher.accepted('4711');
  expect((await publisher.publish()).signed.sha256).toBe(signed.sha256);
  expect(store.list(heldPolicies)).toEqual([]);
  publisher.close();
});

test('blobs of artifacts go when nothing names them', async () => {
  const store = await twoPolicies();
  const publisher = await startPublisher(store, systemClock, silentLogger);
  await publisher.accepted(publisher.current()!.revision);
  const old = store.get(goodPolicies, 'p1')!.policyBlob;
  expect(store.blob(old)).toBeDefined();
  await store.write((tx) => tx.put(policies, policy('p1', '2')));
  await publisher.accepted((await publisher.publish()).revision);
  expect(store.blob(old)).toBeUndefined();
  expect(store.blob(store.get(goodPolicies, 'p1')!.policyBlob)).toBeDefined();
  publisher.close();
});

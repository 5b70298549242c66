/** The proof that a change rebuilds its own pieces only, and a restart publishes nothing. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { RuntimeBundleSchema } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { BundleKeeper, type FetchParts } from '../../engine/bundle/bundle-keeper.ts';
import { toRuntimeConfig } from '../../engine/bundle/runtime-config.ts';
import { verifySignedBundle } from '../../engine/bundle/signed-bundle.ts';
import { systemClock } from '../../base/clock.ts';
import { publishLimits } from '../limits/store-limits.ts';
import { silentLogger } from '../../base/log.ts';
import type { RuntimeConfig } from '../../engine/contract/runtime.ts';
import type { SiteRecord, UpstreamRecord } from '../domain/records.ts';
import type { CertificateRecord } from '../domain/resource-records.ts';
import {
  certificateKeys,
  certificates,
  policies,
  publications,
  sites,
  upstreams,
} from '../store/collections.ts';
import type { Kv } from '../store/kv.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openStore, type Store, type WriteStore } from '../store/store.ts';
import { pageOfPublications } from './publication-log.ts';
import { startPublisher, type Publication, type Publisher } from './publisher.ts';

const site = (id: string, change: Partial<SiteRecord> = {}): SiteRecord => ({
  id,
  tenantId: 'default',
  name: id,
  primaryHost: `${id}.example`,
  upstreams: [{ inline: { url: 'http://127.0.0.1:9000', weight: 1 } }],
  waf: { enabled: true, mode: 'WAF_MODE_BLOCKING', policyId: 'p1' },
  status: 'RESOURCE_STATUS_ACTIVE',
  revision: '1',
  createdAt: '',
  updatedAt: '',
  ...change,
});

async function makeStore(kv = openMemoryKv()): Promise<Store> {
  const store = await openStore(kv, systemClock);
  await store.write((tx) => {
    for (const id of ['p1', 'p2']) {
      tx.put(policies, {
        id,
        tenantId: 'default',
        name: id,
        crsRulesetId: '',
        status: 'active',
        revision: '1',
        createdAt: '',
        updatedAt: '',
      });
    }
    for (let at = 0; at < 200; at++) tx.put(sites, site(`s${at}`));
    tx.put(sites, site('t', { waf: { enabled: true, policyId: 'p2' } }));
  });
  return store;
}

const hashes = ({ signed }: Publication): Map<string, string> =>
  new Map(
    fromBinary(RuntimeBundleSchema, signed.bundle).parts.map(({ kind, id, sha256 }) => [
      `${kind} ${id}`,
      Buffer.from(sha256).toString('hex'),
    ]),
  );

/** Fetches from a publisher and counts what it fetched. */
function fetcher(publisher: Publisher): { fetch: FetchParts; fetched: () => number } {
  let count = 0;
  const fetch: FetchParts = async function* (wanted) {
    for (const sha256 of wanted) {
      count++;
      const content = publisher.part(sha256);
      if (content === undefined) return;
      yield await Promise.resolve(content);
    }
  };
  return { fetch, fetched: () => count };
}

test('a change of one site is one piece of many; nothing changed is nothing published', async () => {
  const store = await makeStore();
  const publisher = await startPublisher(store, systemClock, silentLogger);
  const first = publisher.current()!;
  const keeper = new BundleKeeper(mkdtempSync(join(tmpdir(), 'waf-keeper-')));
  const { fetch, fetched } = fetcher(publisher);
  const whole = await keeper.complete(verifySignedBundle(first.signed), fetch);
  expect(whole.bundle.sites).toHaveLength(201);
  expect(whole.bundle.policies.map(({ id }) => id)).toEqual(['p1', 'p2']);
  const before = fetched();
  expect(before).toBeGreaterThan(40);

  await store.write((tx) => tx.put(sites, site('s7', { aliases: ['seven.example'] })));
  const second = await publisher.publish();
  const [old, now] = [hashes(first), hashes(second)];
  expect([...now].filter(([name, hash]) => old.get(name) !== hash)).toHaveLength(1);
  const next = await keeper.complete(verifySignedBundle(second.signed), fetch);
  expect(fetched()).toBe(before + 1);
  const changed = next.bundle.sites.find(({ id }) => id === 's7');
  expect(changed?.hosts).toEqual(['s7.example', 'seven.example']);

  await store.write((tx) => tx.put(sites, site('s7', { aliases: ['seven.example'] })));
  expect(await publisher.publish()).toBe(second);
  await store.write((tx) => tx.put(policies, { ...store.get(policies, 'p2')!, revision: '2' }));
  const third = await publisher.publish();
  const last = hashes(third);
  const moved = [...last].filter(([name, hash]) => now.get(name) !== hash);
  expect(moved.map(([name]) => name)).toEqual(['policy p2']);
  publisher.close();
});

test('a restart hands out the very same publication', async () => {
  const store = await makeStore();
  const first = await startPublisher(store, systemClock, silentLogger);
  const { revision, signed } = first.current()!;
  first.close();
  const second = await startPublisher(store, systemClock, silentLogger);
  expect(second.current()?.revision).toBe(revision);
  expect(second.current()?.signed.sha256).toBe(signed.sha256);
  expect(store.list(publications)).toHaveLength(1);
  second.close();
});

test('kept pieces are found after a restart; a torn or missing one is fetched again', async () => {
  const store = await makeStore();
  const publisher = await startPublisher(store, systemClock, silentLogger);
  const folder = mkdtempSync(join(tmpdir(), 'waf-keeper-'));
  const verified = verifySignedBundle(publisher.current()!.signed);
  const before = new BundleKeeper(folder);
  await before.complete(verified, fetcher(publisher).fetch);
  await before.keep(verified);
  expect(new BundleKeeper(folder).load()?.bundle.sites).toHaveLength(201);

  const { readdirSync, writeFileSync, rmSync } = await import('node:fs');
  const [torn, gone] = readdirSync(join(folder, 'parts'));
  writeFileSync(join(folder, 'parts', torn!), 'torn');
  rmSync(join(folder, 'parts', gone!));
  const after = new BundleKeeper(folder);
  expect(() => after.load()).toThrow(/2 pieces of it are not kept/);
  const { fetch, fetched } = fetcher(publisher);
  const again = await after.complete(verified, fetch);
  expect(again.bundle.sites).toHaveLength(201);
  expect(fetched()).toBe(2);
  publisher.close();
});

test('a piece that does not fit its hash is refused, and so is one that nobody has', async () => {
  const store = await makeStore();
  const publisher = await startPublisher(store, systemClock, silentLogger);
  const verified = verifySignedBundle(publisher.current()!.signed);
  const keeper = new BundleKeeper(mkdtempSync(join(tmpdir(), 'waf-keeper-')));
  const forged: FetchParts = async function* (wanted) {
    for (const sha256 of wanted) {
      const content = publisher.part(sha256)!.slice();
      content[0] = (content[0] ?? 0) ^ 1;
      yield await Promise.resolve(content);
    }
  };
  await expect(keeper.complete(verified, forged)).rejects.toMatchObject({
    code: 'bundle_part_invalid',
  });
  const nothing: FetchParts = async function* () {};
  await expect(keeper.complete(verified, nothing)).rejects.toMatchObject({
    code: 'bundle_part_missing',
  });
  publisher.close();
});

test('publications past their bound are forgotten, also when the bound was larger once', async () => {
  const store = await makeStore();
  const most = publishLimits.publicationsKept;
  await store.write((tx) => {
    for (let at = 1; at <= most + 70; at++) {
      const revision = String(at);
      const row = { revision, sha256: '', createdAt: '2026-01-01T00:00:00.000Z' };
      tx.put(publications, { ...row, id: revision.padStart(12, '0') });
      tx.next('config-revision');
    }
  });
  const publisher = await startPublisher(store, systemClock, silentLogger);
  expect(store.count(publications)).toBe(most + 71 - publishLimits.publicationsForgottenMax);
  await store.write((tx) => tx.put(sites, site('s1', { aliases: ['new.example'] })));
  const { revision } = await publisher.publish();
  expect(store.count(publications)).toBe(most);
  const { rows, total } = pageOfPublications(store, 0, 3);
  expect(total).toBe(most);
  expect(rows.map((row) => Number(row.revision))).toEqual([0, 1, 2].map((at) => +revision - at));
  publisher.close();
});

/** A driver whose writes are seen at once and reach the disk when they are let through. */
class SlowDisk {
  readonly kv: Kv;
  waiting = 0;
  private disk: Promise<void> = Promise.resolve();
  private settle: (outcome?: Error) => void = () => undefined;

  constructor() {
    const inner = openMemoryKv();
    const write: Kv['write'] = async (change) => {
      const result = await inner.write(change);
      this.waiting++;
      await this.disk.finally(() => this.waiting--);
      return result;
    };
    this.kv = { ...inner, write };
  }

  hold(): void {
    this.disk = new Promise<void>((resolve, reject) => {
      this.settle = (outcome) => (outcome === undefined ? resolve() : reject(outcome));
    });
  }

  letThrough(outcome?: Error): void {
    this.disk = Promise.resolve();
    this.settle(outcome);
  }

  async holds(count: number): Promise<void> {
    while (this.waiting < count) await new Promise((resolve) => setImmediate(resolve));
  }
}

const secureSite = (certId: string): SiteRecord =>
  site('secure', { tls: { mode: 'TLS_MODE_UPLOADED', certId } });

function putCertificate(tx: WriteStore, id: string): void {
  const record = { id, name: id, tenantId: 'default', dnsNames: ['secure.example'], revision: '1' };
  const pem = { certPem: 'CERTIFICATE', chainPem: [], fingerprintSha256: id };
  tx.put(certificates, { ...record, ...pem, createdAt: '', updatedAt: '' } as CertificateRecord);
  tx.put(certificateKeys, { id, keyPem: 'KEY' });
}

/** What a node makes of a publication. Errors: bundle_invalid. */
async function served(publisher: Publisher, publication: Publication): Promise<RuntimeConfig> {
  const keeper = new BundleKeeper(mkdtempSync(join(tmpdir(), 'waf-keeper-')));
  const verified = verifySignedBundle(publication.signed);
  return toRuntimeConfig(await keeper.complete(verified, fetcher(publisher).fetch));
}

test('a publication never names a certificate, a pool or a list that it lacks', async () => {
  const disk = new SlowDisk();
  const store = await makeStore(disk.kv);
  const publisher = await startPublisher(store, systemClock, silentLogger);
  const pool = { tenantId: 'default', name: 'pool', endpoints: [{ url: 'http://127.0.0.1:9' }] };
  await store.write((tx) => tx.put(upstreams, { ...pool, id: 'u1' } as UpstreamRecord));

  // The site and its certificate can be read, but no listener heard of them yet: a publication for
  // the pool, which makes sites anew, must look for certificates too.
  disk.hold();
  const written = store.write((tx) => {
    putCertificate(tx, 'c1');
    tx.put(sites, secureSite('c1'));
  });
  const publishing = publisher.publish();
  await disk.holds(2);
  disk.letThrough();
  const config = await served(publisher, await publishing);
  await written;
  const found = config.sites.find(({ id }) => id === 'secure');
  expect(Buffer.from(found?.tls?.certificate?.keyPem ?? []).toString()).toBe('KEY');

  // Replaced by another in one write, and the old one removed.
  disk.hold();
  const replaced = store.write((tx) => {
    putCertificate(tx, 'c2');
    tx.put(sites, secureSite('c2'));
    tx.remove(certificates, 'c1');
    tx.remove(certificateKeys, 'c1');
    tx.put(upstreams, { ...pool, id: 'u2' } as UpstreamRecord);
  });
  const next = publisher.publish();
  await disk.holds(2);
  disk.letThrough();
  expect((await served(publisher, await next)).sites).toHaveLength(202);
  await replaced;
  publisher.close();
});

test('a change counts when it can be read, and again when it is taken back', async () => {
  const disk = new SlowDisk();
  const store = await makeStore(disk.kv);
  const publisher = await startPublisher(store, systemClock, silentLogger);
  const count = store.changesOf(['sites']);
  disk.hold();
  const written = store.write((tx) => tx.put(sites, site('new')));
  expect(store.changesOf(['sites'])).toBe(count + 1);
  await disk.holds(1);
  disk.letThrough(new Error('no disk'));
  await expect(written).rejects.toThrow('no disk');
  expect(store.changesOf(['sites'])).toBe(count + 2);
  publisher.close();
});

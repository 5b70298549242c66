/** The proof that only good bundles are read and the last one survives. */

import { generateKeyPairSync, sign, createHash } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  RuntimeBundleSchema,
  RuntimeSiteSchema,
  SignedRuntimeBundleSchema,
  type RuntimeBundle,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { rawPublicKey } from './keys.ts';
import { loadLastGood, saveLastGood } from './last-good.ts';
import { toRuntimeConfig } from './runtime-config.ts';
import { bundleFormatVersion, readSignedBundle, type VerifiedBundle } from './signed-bundle.ts';

const pair = generateKeyPairSync('ed25519');
const publicKey = rawPublicKey(pair.publicKey);

function bundle(change: Partial<RuntimeBundle> = {}): RuntimeBundle {
  const made = create(RuntimeBundleSchema, {
    formatVersion: bundleFormatVersion,
    id: 'b',
    revision: 7n,
    sites: [{ id: 's', name: 'shop', hosts: ['shop.example'], upstreamId: 'u' }],
    upstreams: [{ id: 'u', endpoints: [{ host: '127.0.0.1', port: 80 }] }],
  });
  return Object.assign(made, change);
}

function signed(from: RuntimeBundle): Uint8Array {
  const bytes = toBinary(RuntimeBundleSchema, from);
  return toBinary(
    SignedRuntimeBundleSchema,
    create(SignedRuntimeBundleSchema, {
      bundle: bytes,
      signature: new Uint8Array(sign(null, bytes, pair.privateKey)),
      sha256: createHash('sha256').update(bytes).digest('hex'),
      publicKey,
    }),
  );
}

test('a good bundle reads back', () => {
  const config = toRuntimeConfig(readSignedBundle(signed(bundle()), { publicKey }));
  expect(config.revision).toBe('7');
  expect(config.sites[0]).toMatchObject({ id: 's', hosts: ['shop.example'] });
  expect(config.sites[0]?.upstream.endpoints[0]?.weight).toBe(1);
});

test('a site has its own block pages by any of its hosts, others those of all', () => {
  const all = { active: 'auto', templates: {}, scenarios: {} };
  const own = { ...all, active: 'json' };
  const sites = ['a.test', 'b.test', 'c.test'].map((host) => {
    return create(RuntimeSiteSchema, { id: host, hosts: [`www.${host}`, host], upstreamId: 'u' });
  });
  const responsesJson = JSON.stringify({ ...all, sites: { 'b.test': own, 'gone.test': own } });
  const { bundle: made } = readSignedBundle(signed(bundle({ sites, responsesJson })), {
    publicKey,
  });
  const config = toRuntimeConfig({ bundle: made, sha256: '' } as VerifiedBundle);
  expect(config.sites.map(({ responses }) => responses)).toEqual([all, own, all]);
});

test('every single changed byte of the content is refused', () => {
  const bytes = signed(bundle());
  let refused = 0;
  for (let at = 0; at < bytes.length; at++) {
    const changed = bytes.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    const read = readOrNull(changed);
    // Only the length prefix of an unknown field could be harmless; the content must be ours.
    if (read === null) refused++;
    else {
      const content = toBinary(RuntimeBundleSchema, read.bundle);
      expect(content).toEqual(toBinary(RuntimeBundleSchema, bundle()));
    }
  }
  expect(refused).toBeGreaterThan(bytes.length * 0.95);
});

function readOrNull(bytes: Uint8Array): VerifiedBundle | null {
  try {
    return readSignedBundle(bytes, { publicKey });
  } catch {
    return null;
  }
}

test('another signer and an unknown format are refused', () => {
  const other = rawPublicKey(generateKeyPairSync('ed25519').publicKey);
  expect(() => readSignedBundle(signed(bundle()), { publicKey: other })).toThrow(/another key/);
  const newer = signed(bundle({ formatVersion: 99 }));
  expect(() => readSignedBundle(newer)).toThrow(/format 99/);
});

test('references that lead nowhere are refused', () => {
  const read = (from: RuntimeBundle) => () => toRuntimeConfig(readSignedBundle(signed(from)));
  expect(read(bundle({ upstreams: [] }))).toThrow(/site shop: its upstream is missing/);
  const sites = bundle().sites.map((site) => Object.assign(site, { wafEnabled: true }));
  expect(read(bundle({ sites }))).toThrow(/site shop: its policy is missing/);
});

test('the last good bundle survives a second write', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-bundle-'));
  expect(loadLastGood(folder)).toBeNull();
  saveLastGood(folder, new Uint8Array([1, 2, 3]));
  const before = openSync(join(folder, 'last-good.bundle'), 'r');
  saveLastGood(folder, new Uint8Array([4, 5]));
  // It was put in the place of the one before, which is never written to.
  expect([...readFileSync(before)]).toEqual([1, 2, 3]);
  closeSync(before);
  expect([...(loadLastGood(folder) ?? [])]).toEqual([4, 5]);
  expect(() => saveLastGood(join(folder, 'last-good.bundle', 'x'), new Uint8Array())).toThrow(
    /cannot be kept/,
  );
});

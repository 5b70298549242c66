/** Verifiers of people: when they travel, and which site gets which. */

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  RuntimeBundleSchema,
  type RuntimeBundle,
} from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { IpSets } from '../../../engine/bundle/ip-set.ts';
import { botProtectionOf } from '../../../engine/bundle/runtime-bot.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { settingsId, sites, systemSettings } from '../../store/collections.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore, type Store } from '../../store/store.ts';
import { toRuntimeSite } from '../build-bundle.ts';
import { verifierKind } from './verifier-parts.ts';

const clock = { nowMs: () => 1_790_000_000_000, monotonicUs: () => 0 };

const site = (mode: string, primaryHost = 'shop.example'): SiteRecord =>
  ({
    id: primaryHost,
    tenantId: 'default',
    name: primaryHost,
    primaryHost,
    upstreams: [{ inline: { url: 'http://127.0.0.1:9000' } }],
    status: 'RESOURCE_STATUS_ACTIVE',
    revision: '1',
    createdAt: '',
    updatedAt: '',
    botProtection: { mode, proofDifficulty: 12 },
  }) as SiteRecord;

const human = 'BOT_PROTECTION_MODE_HUMAN_VERIFICATION';
const browser = 'BOT_PROTECTION_MODE_BROWSER_CHECK';
const one = { kind: 'turnstile', hosts: ['shop.example'], siteKey: 'key-1', secret: 's1', id: 'a' };
const all = { kind: 'recaptcha_score', hosts: ['*'], siteKey: 'key-2', secret: 's2', id: 'b' };

async function storeWith(mode: string, verifiers: unknown[] = [one, all]): Promise<Store> {
  const store = await openStore(openMemoryKv(), clock);
  const values = { 'bot.verifiers': verifiers, 'outgoing.allowed_networks': ['10.1.0.0/16'] };
  await store.write((tx) => {
    tx.put(sites, site(mode));
    tx.put(systemSettings, { id: settingsId, values, updatedAt: '', published: true });
  });
  return store;
}

function piece(store: Store): RuntimeBundle | null {
  const [plan] = [...verifierKind.plan(store)];
  return plan === undefined ? null : create(RuntimeBundleSchema, plan.build());
}

test('verifiers travel only while a site asks people', async () => {
  expect(piece(await storeWith(browser))).toBeNull();
  expect(piece(await storeWith(human, []))).toBeNull();
  expect(piece(await storeWith(human))?.verifiers).toMatchObject([{ id: 'a' }, { id: 'b' }]);
});

test('each site gets the one that names it, else the one for all', async () => {
  const bundle = piece(await storeWith(human))!;
  const bot = botProtectionOf(bundle, new IpSets());
  const verifierOf = (record: SiteRecord) =>
    bot(toRuntimeSite({ site: record, policyId: '', failOpen: false }, new Map()).site)?.verifier;
  expect(verifierOf(site(human))).toEqual({
    id: 'a',
    kind: 'turnstile',
    siteKey: 'key-1',
    secret: 's1',
    scriptUrl: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    minScore: 0.5,
    fallback: true,
    allowedNetworks: ['10.1.0.0/16'],
  });
  expect(verifierOf(site(human, 'other.example'))).toMatchObject({ kind: 'recaptcha_score' });
  expect(verifierOf(site(browser))).toBeUndefined();
});

test('an engine refuses what it does not know', async () => {
  const bundle = piece(await storeWith(human))!;
  bundle.verifiers[0]!.kind = 'newer';
  expect(() => botProtectionOf(bundle, new IpSets())).toThrow('verifier a: its kind is not known');
  bundle.verifiers[0]!.kind = 'turnstile';
  bundle.verifiers[0]!.scriptUrl = '/api.js';
  expect(() => botProtectionOf(bundle, new IpSets())).toThrow('verifier a: an address is no URL');
});

/** Keys of challenges: who makes them, when they travel, how they are replaced. */

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  RuntimeBundleSchema,
  type RuntimeBundle,
} from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { Clock } from '../../../base/clock.ts';
import { botProtectionOf, challengeKeysOf } from '../../../engine/bundle/runtime-bot.ts';
import { IpSets } from '../../../engine/bundle/ip-set.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { publishLimits } from '../../limits/store-limits.ts';
import { keys, sites } from '../../store/collections.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore, type Store } from '../../store/store.ts';
import { challengeKeyKind, renewChallengeKeys } from './challenge-key-parts.ts';
import { toRuntimeSite } from '../build-bundle.ts';

const startMs = 1_790_000_000_000;

const stopped = (nowMs: () => number): Clock => ({ nowMs, monotonicUs: () => 0 });

const site = (mode: string): SiteRecord =>
  ({
    id: 's',
    tenantId: 'default',
    name: 'shop',
    primaryHost: 'shop.example',
    upstreams: [{ inline: { url: 'http://127.0.0.1:9000' } }],
    status: 'RESOURCE_STATUS_ACTIVE',
    revision: '1',
    createdAt: '',
    updatedAt: '',
    botProtection: {
      mode,
      challengeTtlSeconds: 60,
      clearanceTtlSeconds: 900,
      proofDifficulty: 15,
      bindNetwork: true,
      exemptPaths: ['/API/', '/'],
      exemptMethods: ['OPTIONS'],
    },
  }) as SiteRecord;

const on = 'BOT_PROTECTION_MODE_BROWSER_CHECK';

/** The piece with keys, as a bundle; null for none. */
function piece(store: Store): RuntimeBundle | null {
  const [plan] = [...challengeKeyKind.plan(store)];
  return plan === undefined ? null : create(RuntimeBundleSchema, plan.build());
}

const secrets = (store: Store): string[] =>
  (piece(store)?.challengeKeys ?? []).map(({ secret }) => Buffer.from(secret).toString('hex'));

test('keys travel only while something needs them, and stay the same over restarts', async () => {
  const clock = stopped(() => startMs);
  const store = await openStore(openMemoryKv(), clock);
  await renewChallengeKeys(store, clock);
  expect(piece(store)).toBeNull();
  await store.write((tx) => tx.put(sites, site('BOT_PROTECTION_MODE_OFF')));
  expect(piece(store)).toBeNull();
  const sticky = { ...site('BOT_PROTECTION_MODE_OFF'), delivery: { stickySessions: {} } };
  await store.write((tx) => tx.put(sites, sticky));
  expect(piece(store)).toBeNull();
  await store.write((tx) => {
    tx.put(sites, { ...sticky, delivery: { stickySessions: { enabled: true } } });
  });
  expect(secrets(store)).toHaveLength(1);
  await store.write((tx) => tx.put(sites, site(on)));
  const before = secrets(store);
  expect(before).toHaveLength(1);
  expect(before[0]).toMatch(/^[0-9a-f]{64}$/);
  await renewChallengeKeys(store, clock);
  expect(secrets(store)).toEqual(before);
});

test('a new key seals after a month; the one before opens until its clearances are over', async () => {
  let nowMs = startMs;
  const clock = stopped(() => nowMs);
  const store = await openStore(openMemoryKv(), clock);
  await renewChallengeKeys(store, clock);
  await store.write((tx) => tx.put(sites, site(on)));
  const [first] = secrets(store);
  nowMs += publishLimits.challengeKeySealsMs;
  await renewChallengeKeys(store, clock);
  const both = secrets(store);
  expect([both.length, both[1]]).toEqual([2, first]);
  nowMs += publishLimits.challengeKeyOpensMs - 1;
  await renewChallengeKeys(store, clock);
  expect(secrets(store)).toEqual(both);
  nowMs += 1;
  await renewChallengeKeys(store, clock);
  expect(secrets(store)).toEqual([both[0]]);
  expect(store.find(keys, 'purpose', 'challenge')).toHaveLength(1);
});

test('what a site asks reaches the engine', async () => {
  const clock = stopped(() => startMs);
  const store = await openStore(openMemoryKv(), clock);
  await renewChallengeKeys(store, clock);
  await store.write((tx) => tx.put(sites, site(on)));
  const made = (record: SiteRecord) =>
    toRuntimeSite({ site: record, policyId: '', failOpen: false }, new Map()).site;
  const bot = botProtectionOf(piece(store)!, new IpSets());
  expect(bot(made(site(on)))).toEqual({
    mode: 'browser_check',
    challengeTtlSeconds: 60,
    clearanceTtlSeconds: 900,
    proofDifficulty: 15,
    bindNetwork: true,
    exemptPaths: ['/api', ''],
    exemptMethods: ['OPTIONS'],
    trusted: [],
    challengeCrawlers: false,
    challengePaths: [],
  });
  const off = site('BOT_PROTECTION_MODE_OFF');
  expect(bot(made(off))).toBeUndefined();
  const attacked = (underAttackUntil?: string) =>
    bot(
      made({
        ...off,
        botProtection: {
          ...off.botProtection,
          underAttack: true,
          ...(underAttackUntil === undefined ? {} : { underAttackUntil }),
        },
      }),
    );
  expect(attacked()).toMatchObject({ mode: 'off', underAttackUntilMs: Infinity });
  expect(attacked('1970-01-01T00:00:05Z')).toMatchObject({ underAttackUntilMs: 5_000 });
  expect(challengeKeysOf(piece(store)!)).toEqual([expect.any(Uint8Array)]);
  const broken = create(RuntimeBundleSchema, {
    challengeKeys: [{ id: 'k', secret: new Uint8Array(5) }],
  });
  expect(() => challengeKeysOf(broken)).toThrow('challenge key k has a wrong length');
});

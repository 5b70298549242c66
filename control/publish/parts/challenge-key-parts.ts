/**
 * The piece of a bundle that holds the keys of challenges and sticky sessions, and making and
 * replacing them. All nodes get the same keys, so that what one gave a visitor counts on all; keys
 * go into the piece and nowhere else. It is there only while something needs them.
 */

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { publishLimits } from '../../limits/store-limits.ts';
import { keys, rateLimits, sites, type KeyRecord } from '../../store/collections.ts';
import type { ReadStore, Store } from '../../store/store.ts';
import type { PartKind } from './part-kind.ts';
import { challenges } from './site-bot.ts';
import { sticks } from './site-delivery.ts';

const purpose = 'challenge';

/** Keys of challenges, the newest first. */
export const challengeKeyKind: PartKind = {
  name: 'challenge-keys',
  collections: ['keys', 'rate-limits', 'sites'],
  plan: (store) => {
    const records = newestFirst(store);
    if (records.length === 0 || !anythingNeedsKeys(store)) return [];
    const build = () => ({ challengeKeys: records.map(toRuntime) });
    return [{ id: '', inputs: records, build }];
  },
};

/**
 * Makes a key where there is none or the newest has served its time, and removes those that have
 * sealed nothing for longer than any clearance lasts. Does nothing where neither is due.
 */
export async function renewChallengeKeys(store: Store, clock: Clock): Promise<void> {
  const nowMs = clock.nowMs();
  const records = newestFirst(store);
  const ageMs = ({ createdAt }: KeyRecord): number => nowMs - Date.parse(createdAt);
  const { challengeKeySealsMs, challengeKeyOpensMs } = publishLimits;
  const [newest] = records;
  const due = newest === undefined || ageMs(newest) >= challengeKeySealsMs;
  // A key seals until the next one comes, and its clearances outlive that.
  const old = records.slice(1).filter((_, at) => ageMs(records[at]!) >= challengeKeyOpensMs);
  if (!due && old.length === 0) return;
  await store.write((tx) => {
    if (due) tx.put(keys, makeKey(nowMs));
    for (const { id } of old) tx.remove(keys, id);
  });
}

function makeKey(nowMs: number): KeyRecord {
  return {
    id: `challenge-${nowMs}`,
    purpose,
    privateKeyPem: randomBytes(32).toString('base64'),
    createdAt: new Date(nowMs).toISOString(),
  };
}

function newestFirst(store: ReadStore): readonly KeyRecord[] {
  return [...store.find(keys, 'purpose', purpose)].sort((one, other) =>
    one.createdAt < other.createdAt ? 1 : -1,
  );
}

function anythingNeedsKeys(store: ReadStore): boolean {
  return (
    store.list(sites).some((site) => challenges(site) || sticks(site)) ||
    store.list(rateLimits).some(({ action }) => action === 'challenge')
  );
}

function toRuntime({ id, privateKeyPem }: KeyRecord) {
  return { id, secret: new Uint8Array(Buffer.from(privateKeyPem, 'base64')) };
}

/** What differs between the entries of a list and an update of them. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { textOfKey } from '../../base/ip-address.ts';
import { accessLimits } from '../limits/access-limits.ts';
import type { IpEntry } from '../domain/access/ip-list-content.ts';

/** What an update does. */
export interface ContentDifference {
  readonly added: number;
  readonly removed: number;
  /** Entries whose note or expiry changes. */
  readonly changed: number;
  /** The first of them. */
  readonly addedSamples: readonly string[];
  readonly removedSamples: readonly string[];
}

const entriesPerTurn = 4_000;

/** Compares two sequences in the order of their keys. Cost: one pass, in turns. */
export async function compareEntries(
  before: Iterator<IpEntry>,
  after: Iterator<IpEntry>,
): Promise<ContentDifference> {
  let added = 0;
  let removed = 0;
  let changed = 0;
  const addedSamples: string[] = [];
  const removedSamples: string[] = [];
  const sample = (samples: string[], { key }: IpEntry): void => {
    if (samples.length < accessLimits.heldSamplesMax) samples.push(textOfKey(key));
  };
  let old = before.next();
  let fresh = after.next();
  for (let step = 1; old.done !== true || fresh.done !== true; step++) {
    if (step % entriesPerTurn === 0) await nextTurn();
    if (fresh.done === true || (old.done !== true && old.value.key < fresh.value.key)) {
      removed++;
      sample(removedSamples, old.value as IpEntry);
      old = before.next();
    } else if (old.done === true || fresh.value.key < old.value.key) {
      added++;
      sample(addedSamples, fresh.value);
      fresh = after.next();
    } else {
      const { note, expiresAt } = fresh.value;
      if (note !== old.value.note || expiresAt !== old.value.expiresAt) changed++;
      old = before.next();
      fresh = after.next();
    }
  }
  return { added, removed, changed, addedSamples, removedSamples };
}

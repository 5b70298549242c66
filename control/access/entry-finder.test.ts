/** Tests that the most specific entry that holds an address, and had not lapsed, is found. */

import { expect, test } from 'vitest';
import { parseNetwork } from '../../base/ip-address.ts';
import { systemClock } from '../../base/clock.ts';
import { ipListBindings } from '../store/collections.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openStore } from '../store/store.ts';
import { entryFinder } from './entry-finder.ts';
import { editEntries } from './list-contents.ts';

const atMs = Date.parse('2026-01-02T00:00:00Z');

test('finds the most specific entry of the list of a binding', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const keyOf = (network: string): string => parseNetwork(network)!;
  await store.write((tx) => {
    const place = { policyId: '', siteId: '', scope: 'global' } as const;
    tx.put(ipListBindings, { id: 'b', tenantId: 't', ipListId: 'l', kind: 'deny', ...place });
    const networks = ['10.0.0.0/8', '10.1.0.0/16', '10.1.2.3', '2001:db8::/32'];
    const entries = networks.map((one) => ({ key: keyOf(one) }));
    const lapsed = { key: keyOf('10.1.2.0/24'), expiresAt: '2026-01-01T00:00:00.000Z' };
    const set = new Map([...entries, lapsed].map((one) => [one.key, one]));
    editEntries(tx, 'l', set, new Set(), '');
  });
  const find = entryFinder(store, 't', atMs);
  const found = (ip: string, network: string) =>
    expect(find('b', ip)).toEqual({ listId: 'l', entryKey: network === '' ? '' : keyOf(network) });
  found('10.9.9.9', '10.0.0.0/8');
  found('10.1.9.9', '10.1.0.0/16');
  found('10.1.2.9', '10.1.0.0/16');
  found('10.1.2.3', '10.1.2.3');
  found('::ffff:10.1.2.3', '10.1.2.3');
  found('2001:DB8::1', '2001:db8::/32');
  for (const other of ['192.0.2.1', '', 'no address']) found(other, '');
  expect(find('none-such', '10.1.2.3')).toBeNull();
  expect(entryFinder(store, 'another', atMs)('b', '10.1.2.3')).toBeNull();
  const earlier = entryFinder(store, 't', Date.parse('2025-12-31T00:00:00Z'));
  expect(earlier('b', '10.1.2.9')).toEqual({ listId: 'l', entryKey: keyOf('10.1.2.0/24') });
  await store.close();
});

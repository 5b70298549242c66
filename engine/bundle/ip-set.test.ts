/** Proof of ranges: whatever networks a list has, a look-up says what asking each of them says. */

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { RuntimeIpListSchema } from '../../proto/gen/waf/runtime/v1/access_pb.ts';
import { containsKey, parseNetwork, readAddressBits } from '../../base/ip-address.ts';
import { holdsAddress } from '../guard/ip-lookup.ts';
import { IpSets, makeIpSet } from './ip-set.ts';

/** A list as control packs it. */
function listOf(networks: readonly string[], lapses: Readonly<Record<string, number>> = {}) {
  const keys = [...new Set(networks.map((text) => parseNetwork(text)!))].sort();
  const pack = (family: string): Uint8Array =>
    Buffer.concat(
      keys.filter((key) => key[0] === family).map((key) => Buffer.from(key.slice(1), 'hex')),
    );
  const expiries = Object.entries(lapses).map(([network, at]) => {
    return { index: keys.indexOf(parseNetwork(network)!), atMs: BigInt(at) };
  });
  const etag = JSON.stringify([keys, lapses]);
  return create(RuntimeIpListSchema, { id: 'l', etag, ipv4: pack('4'), ipv6: pack('6'), expiries });
}

function holds(list: ReturnType<typeof listOf>, address: string, nowMs = 0): boolean {
  const bits = readAddressBits(address, { family: 0, words: new Uint32Array(4) });
  return holdsAddress(makeIpSet(list), bits, nowMs);
}

test.each([
  [['10.0.0.0/8'], '10.255.255.255', true],
  [['10.0.0.0/8'], '11.0.0.0', false],
  [['10.0.0.0/8'], '9.255.255.255', false],
  [['0.0.0.0/0'], '255.255.255.255', true],
  [['0.0.0.0/0'], '::1', false],
  [['::/0'], 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', true],
  [['::/0'], '192.0.2.1', false],
  [['192.0.2.1'], '::ffff:192.0.2.1', true],
  [['2001:db8::/33'], '2001:db8:7fff:ffff:ffff:ffff:ffff:ffff', true],
  [['2001:db8::/33'], '2001:db8:8000::', false],
  [['2001:db8::1/128'], '2001:db8::1', true],
  [['2001:db8::1/128'], '2001:db8::2', false],
  [['10.0.0.0/8', '10.1.0.0/16', '10.1.2.3'], '10.200.0.1', true],
  [[], '10.0.0.1', false],
  [['10.0.0.0/8'], 'no address', false],
] as const)('%j holds %s: %s', (networks, address, expected) => {
  expect(holds(listOf([...networks]), address)).toBe(expected);
});

test('an entry lapses at its time; what another entry holds stays', () => {
  const list = listOf(['10.0.0.0/8', '10.1.0.0/16', '10.1.2.0/24', '11.0.0.0/8'], {
    '10.0.0.0/8': 100,
    '10.1.2.0/24': 200,
    '11.0.0.0/8': 50,
  });
  const at = (address: string): boolean[] =>
    [49, 50, 99, 100, 199, 200].map((now) => holds(list, address, now));
  expect(at('11.0.0.1')).toEqual([true, false, false, false, false, false]);
  expect(at('10.0.0.1')).toEqual([true, true, true, false, false, false]);
  expect(at('10.255.255.255')).toEqual([true, true, true, false, false, false]);
  expect(at('10.1.0.1')).toEqual([true, true, true, true, true, true]);
  expect(at('10.1.2.1')).toEqual([true, true, true, true, true, true]);
  const nested = listOf(['10.0.0.0/8', '10.1.2.0/24'], { '10.0.0.0/8': 100, '10.1.2.0/24': 200 });
  expect([99, 100, 199, 200].map((now) => holds(nested, '10.1.2.9', now))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect([99, 100].map((now) => holds(nested, '10.1.3.0', now))).toEqual([true, false]);
});

test('an address at the end of a network that lapses may have an entry that stays', () => {
  const list = listOf(['10.0.0.0/24', '10.0.0.255', '10.0.1.0/24'], { '10.0.0.0/24': 100 });
  expect(['10.0.0.254', '10.0.0.255', '10.0.1.0'].map((one) => holds(list, one, 150))).toEqual([
    false,
    true,
    true,
  ]);
  const inner = listOf(['10.0.0.0/24', '10.0.0.255'], { '10.0.0.255': 100 });
  expect(['10.0.0.254', '10.0.0.255'].map((one) => holds(inner, one, 150))).toEqual([true, true]);
});

/** Numbers that repeat from run to run. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state;
  }
}

test.each([
  ['without times', false],
  ['with times', true],
])('random lists, %s: the same as asking each network', (_, timed) => {
  const random = numbers(timed ? 7 : 11);
  const next = (below: number): number => (random.next().value! >>> 8) % below;
  // Few high bits, so that networks nest and touch.
  const v4 = (): string => `10.${next(3)}.${next(3)}.${next(256)}`;
  const v6 = (): string => `2001:db8:${next(3)}::${next(4)}:${next(65_536).toString(16)}`;
  for (let round = 0; round < 40; round++) {
    const networks = Array.from({ length: next(1500) + 1 }, () =>
      next(2) === 0 ? `${v4()}/${20 + next(13)}` : `${v6()}/${40 + next(89)}`,
    );
    const lapses = new Map<string, number>();
    for (const network of networks) {
      if (timed && next(2) === 0) lapses.set(parseNetwork(network)!, next(3) * 10);
    }
    const byText = Object.fromEntries(
      networks.flatMap((text) => {
        const at = lapses.get(parseNetwork(text)!);
        return at === undefined ? [] : [[text, at]];
      }),
    );
    const set = makeIpSet(listOf(networks, byText));
    const keys = networks.map((text) => parseNetwork(text)!);
    for (let asked = 0; asked < 200; asked++) {
      const address = next(2) === 0 ? v4() : v6();
      const now = next(4) * 10 - 5;
      const key = parseNetwork(address)!;
      const expected = keys.some((network) => {
        return containsKey(network, key) && now < (lapses.get(network) ?? Infinity);
      });
      const bits = readAddressBits(address, { family: 0, words: new Uint32Array(4) });
      expect([address, now, holdsAddress(set, bits, now)]).toEqual([address, now, expected]);
    }
  }
});

test('lists that are cut, out of order or have bad prefixes are refused', () => {
  const bad = (fields: object) => () =>
    makeIpSet(create(RuntimeIpListSchema, { id: 'l', ...fields }));
  expect(bad({ ipv4: Uint8Array.of(10, 0, 0, 0) })).toThrow(/ends within an entry/);
  expect(bad({ ipv4: Uint8Array.of(10, 0, 0, 0, 33) })).toThrow(/bad prefix/);
  expect(bad({ ipv4: Uint8Array.of(11, 0, 0, 0, 8, 10, 0, 0, 0, 8) })).toThrow(/not in order/);
});

test('ranges lie in shared memory, and a list that did not change is made once', () => {
  const sets = new IpSets();
  const list = listOf(['10.0.0.0/8']);
  const set = sets.of(list);
  expect(set.v4.starts.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(sets.of(listOf(['10.0.0.0/8']))).toBe(set);
  expect(sets.of(listOf(['11.0.0.0/8']))).not.toBe(set);
  sets.keep(new Set());
  expect(sets.of(listOf(['11.0.0.0/8']))).not.toBe(set);
});

test('long lists are indexed after the bits that all networks share', () => {
  const many = Array.from({ length: 1_000 }, (_, at) => `2001:db8:0:${at.toString(16)}::/64`);
  const list = listOf([...many, ...many.map((_, at) => `10.7.${at >> 8}.${at & 255}`)]);
  const { v4, v6 } = makeIpSet(list);
  expect([v4.index?.length, v6.index?.length]).toEqual([65_537, 65_537]);
  expect([v4.indexBit, v6.indexBit]).toEqual([16, 54]);
  const asked: readonly (readonly [string, boolean])[] = [
    ['10.7.3.231', true],
    ['10.7.3.232', false],
    ['10.8.0.1', false],
    ['9.0.0.1', false],
    ['2001:db8:0:3e7::1', true],
    ['2001:db8:0:3e8::', false],
    ['2001:db8:1::', false],
    ['2001:db7::', false],
    ['::', false],
    ['ffff::', false],
  ];
  expect(asked.map(([address]) => [address, holds(list, address)])).toEqual(asked);
});

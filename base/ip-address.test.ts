/** The proof of addresses: what is read, what is refused, and that keys sort and contain. */

import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { containsKey, maskKey, parseAddress, parseNetwork, textOfKey } from './ip-address.ts';

const read: readonly (readonly [string, string | null])[] = [
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1/32', '192.0.2.1'],
  ['192.0.2.77/24', '192.0.2.0/24'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['255.255.255.255', '255.255.255.255'],
  ['2001:DB8::1', '2001:db8::1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:db8::ff/33', '2001:db8::/33'],
  ['::', '::'],
  ['::/0', '::/0'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
  ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ['192.0.2.01', null],
  ['192.0.2', null],
  ['192.0.2.1.1', null],
  ['192.0.2.256', null],
  ['192.0.2.1/33', null],
  ['192.0.2.1/', null],
  ['192.0.2.1/08', null],
  ['192.0.2.1/-1', null],
  ['0x7f.1', null],
  ['2001:db8', null],
  ['2001:db8:::1', null],
  ['1:2:3:4:5:6:7:8:9', null],
  ['1:2:3:4:5:6:7::8:9', null],
  ['fe80::1%eth0', null],
  ['::1/129', null],
  ['192.0.2.1::', null],
  ['', null],
  [' 192.0.2.1', null],
];

test.each(read)('%s reads as %s', (text, expected) => {
  const key = parseNetwork(text);
  expect(key === null ? null : textOfKey(key)).toBe(expected);
});

test('what Node takes for an address is read, and nothing else', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.]{0,20}$/));
  fc.assert(
    fc.property(address, (text) => {
      expect(parseAddress(text) !== null).toBe(isIP(text) !== 0);
    }),
    { numRuns: 2000 },
  );
});

test('a text read from a key gives the key; masks contain and sort first', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(128), (text, bits) => {
      const key = parseAddress(text);
      if (key === null) throw new Error('unread');
      expect(parseNetwork(textOfKey(key))).toBe(key);
      const network = maskKey(key, Math.min(bits, key.startsWith('4') ? 32 : 128));
      expect(parseNetwork(textOfKey(network))).toBe(network);
      expect(containsKey(network, key)).toBe(true);
      expect(network <= key).toBe(true);
    }),
  );
});

test('a network does not contain its neighbor, the other family or what is wider', () => {
  const key = (text: string): string => parseNetwork(text) ?? '';
  expect(containsKey(key('10.0.0.0/9'), key('10.128.0.1'))).toBe(false);
  expect(containsKey(key('0.0.0.0/0'), key('::1'))).toBe(false);
  expect(containsKey(key('10.0.0.0/16'), key('10.0.0.0/8'))).toBe(false);
});

/** Public addresses against a table and against another library's reading of the registries. */

import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { parseAddress } from './ip-address.ts';
import { isPublicAddress } from './special-networks.ts';

const isPublic = (text: string): boolean => isPublicAddress(parseAddress(text)!);

test.each([
  ['1.1.1.1', true],
  ['9.255.255.255', true],
  ['11.0.0.0', true],
  ['126.255.255.255', true],
  ['172.15.255.255', true],
  ['172.32.0.0', true],
  ['223.255.255.255', true],
  ['2600::1', true],
  ['2001:200::1', true],
  ['0.0.0.0', false],
  ['10.1.2.3', false],
  ['100.64.0.1', false],
  ['127.0.0.1', false],
  ['169.254.169.254', false],
  ['172.31.255.255', false],
  ['192.168.0.1', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['::ffff:127.0.0.1', false],
  ['::7f00:1', false],
  ['64:ff9b::7f00:1', false],
  ['64:ff9b:1::1', false],
  ['100::1', false],
  ['2001::1', false],
  ['2001:db8::1', false],
  ['2002:7f00:1::1', false],
  ['fc00::1', false],
  ['fd00:ec2::254', false],
  ['fe80::1', false],
  ['fec0::1', false],
  ['ff02::1', false],
])('%s: %s', (address, expected) => {
  expect(isPublic(address)).toBe(expected);
});

test('an IPv4 address mapped into IPv6 is what it maps', () => {
  expect(isPublic('::ffff:1.1.1.1')).toBe(true);
});

test('nothing that another library calls special is public', () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const ipv4 = fc.array(byte, { minLength: 4, maxLength: 4 });
  const ipv6 = fc.array(byte, { minLength: 16, maxLength: 16 });
  // Most random IPv6 addresses are unassigned: these begin as assigned ones do.
  const assigned = ipv6.map((bytes) => [0x20 + (bytes[0]! & 0x1f), ...bytes.slice(1)]);
  let compared = 0;
  fc.assert(
    fc.property(fc.oneof(ipv4, ipv6, assigned), (bytes) => {
      const address = ipaddr.fromByteArray(bytes);
      if (address.range() === 'unicast') return;
      compared++;
      expect(isPublic(address.toString()), address.toString()).toBe(false);
    }),
    { numRuns: 5_000 },
  );
  expect(compared).toBeGreaterThan(100);
});

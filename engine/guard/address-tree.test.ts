/** Proves that the walk of a country database finds what the library that reads it finds. */

import { expect, test } from 'vitest';
import { parseAddress, readAddressBits } from '../../base/ip-address.ts';
import { AddressTree } from './address-tree.ts';
import { CountryDatabase } from './geo.ts';

type Node = readonly [left: number, right: number];

const bitsOf = (text: string) => readAddressBits(text, { family: 0, words: new Uint32Array(4) });

/** Nodes as the file format lays them out. */
function encode(nodes: readonly Node[], recordSize: number): Buffer {
  return Buffer.concat(
    nodes.map(([left, right]) => {
      const node = Buffer.alloc(recordSize / 4);
      const side = recordSize === 32 ? 4 : 3;
      node.writeUIntBE(recordSize === 28 ? left & 0xffffff : left, 0, side);
      node.writeUIntBE(recordSize === 28 ? right & 0xffffff : right, node.length - side, side);
      if (recordSize === 28) node[3] = ((left >>> 24) << 4) | (right >>> 24);
      return node;
    }),
  );
}

test.each([24, 28, 32])('sides of %i bits lead to the same records', (recordSize) => {
  // The first two bits of an IPv4 address; a record far away needs all bits of its side.
  const far = recordSize === 24 ? 0xabcdef : 0xabcdef1;
  const nodes: Node[] = [
    [1, 2],
    [100, 101],
    [3, far],
  ];
  const shape = { nodeCount: 3, recordSize, ipVersion: 4 };
  const tree = new AddressTree(encode(nodes, recordSize), shape);
  const found = ['0.0.0.1', '64.0.0.1', '128.0.0.1', '192.0.0.1', '192.9.9.9', '::1', 'x'].map(
    (text) => tree.recordOf(bitsOf(text)),
  );
  // What leads to the number of nodes leads nowhere; the tree has no IPv6.
  expect(found).toEqual([100, 101, -1, far, far, -1, -1]);
});

test('countries are those that the library finds', () => {
  const countries = new CountryDatabase();
  const spread = (at: number): number => Math.imul(at, 2_654_435_761) >>> 0;
  const ipv4 = Array.from({ length: 20_000 }, (_, at) => {
    const bits = spread(at);
    return [bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255].join('.');
  });
  const ipv6 = Array.from({ length: 5_000 }, (_, at) => {
    const bits = spread(at);
    return `2${(at % 8).toString(16)}${(bits >>> 24).toString(16).padStart(2, '0')}:${(bits & 0xffff).toString(16)}::7`;
  });
  const wrong = [...ipv4, ...ipv6].filter((ip) => {
    if (parseAddress(ip) === null) throw new Error(`no address: ${ip}`);
    return countries.codeOf(ip) !== (countries.find(ip)?.get('COUNTRY_CODE') ?? '');
  });
  expect(wrong).toEqual([]);
  expect(new Set(ipv6.map((ip) => countries.codeOf(ip))).size).toBeGreaterThan(5);
  expect(countries.codeOf('::ffff:8.8.8.8')).toBe(countries.codeOf('8.8.8.8'));
  for (const text of ['', 'x', '1.2.3', '8.8.8.8/8', 'fe80::1%eth0']) {
    expect(countries.codeOf(text)).toBe('');
  }
});

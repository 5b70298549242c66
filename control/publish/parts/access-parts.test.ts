/** The proof that lists arrive in the engine as they are kept. */

import fc from 'fast-check';
import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  RuntimeIpListSchema,
  RuntimeTrustProfileSchema,
} from '../../../proto/gen/waf/runtime/v1/access_pb.ts';
import { maskKey, parseAddress } from '../../../base/ip-address.ts';
import { toTrustConfig, trustOf } from '../../../engine/bundle/runtime-trust.ts';
import { buildContent, type IpListChunk } from '../../domain/access/ip-list-content.ts';
import { packList, toRuntimeTrust } from './access-parts.ts';

test('what is packed is unpacked: every network, and which one lapses when', () => {
  const network = fc
    .tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(32))
    .map(([text, bits]) => maskKey(parseAddress(text) ?? '', bits));
  fc.assert(
    fc.property(fc.uniqueArray(network, { maxLength: 60 }), fc.nat(59), (networks, lapsing) => {
      const keys = networks.toSorted();
      const chunks = new Map<string, IpListChunk>();
      const expiresAt = '2030-01-01T00:00:00.000Z';
      const entries = keys.map((key, at) => (at === lapsing ? { key, expiresAt } : { key }));
      const { content, added } = buildContent(
        'list',
        entries,
        () => `c${chunks.size}${Math.random()}`,
      );
      for (const chunk of added) chunks.set(chunk.id, chunk);
      const packed = create(
        RuntimeIpListSchema,
        packList(content, (id) => chunks.get(id)),
      );
      const nodes = [{ id: 'n', name: 'n', trust: { ipListIds: ['list'] } }];
      const profile = create(RuntimeTrustProfileSchema, toRuntimeTrust({ nodes }, ''));
      expect(toTrustConfig(profile, [packed]).nodes[0]?.ranges).toEqual(keys);
      const places = packed.expiries.map(({ index }) => index);
      expect(places).toEqual(lapsing < keys.length ? [lapsing] : []);
    }),
  );
});

test('a site goes by its own profile, else by that of the deployment', () => {
  const rules = [{ id: 'r', parser: 'remote_addr', enabled: true }];
  const profile = (siteId: string, extractionRules: object[]) =>
    create(RuntimeTrustProfileSchema, toRuntimeTrust({ extractionRules }, siteId));
  const trust = trustOf({ trustProfiles: [profile('', rules), profile('own', [])], ipLists: [] });
  expect(trust('own')).toBeUndefined();
  expect(trust('a')?.rules[0]?.id).toBe('r');
  expect(trust('b')).toBe(trust('a'));
  const many = new Uint8Array(5 * 100_001);
  const big = create(RuntimeIpListSchema, { id: 'gone', ipv4: many });
  const grown = toRuntimeTrust({ nodes: [{ id: 'n', trust: { ipListIds: ['gone'] } }] }, '');
  const runtime = create(RuntimeTrustProfileSchema, grown);
  expect(toTrustConfig(runtime, [big]).nodes[0]?.ranges).toEqual([]);
  const lost = toRuntimeTrust({ nodes: [{ id: 'n', trust: { ipListIds: ['gone'] } }] }, '');
  const trustProfiles = [create(RuntimeTrustProfileSchema, lost)];
  expect(() => trustOf({ trustProfiles, ipLists: [] })).toThrow(/its IP list is missing/);
});

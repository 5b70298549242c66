/**
 * The pieces of a bundle that decide before the rules: lists that something refers to, where they
 * decide, countries, rates, and who may name the client.
 */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  RuntimeCountryRuleSchema,
  RuntimeIpBindingSchema,
  RuntimeRateLimitSchema,
  RuntimeTrustProfileSchema,
  type RuntimeIpListSchema,
  type RuntimeTrustProfile,
} from '../../../proto/gen/waf/runtime/v1/access_pb.ts';
import type { TrustProfileJson } from '../../../proto/gen/waf/v1/trust_pb.ts';
import { familyOf, keyWidth } from '../../../base/ip-address.ts';
import { chunkReader, contentOf } from '../../access/list-contents.ts';
import { allReferences } from '../../access/references.ts';
import type { CountryRuleRecord } from '../../domain/access/country-access.ts';
import type { IpListContent, ReadChunk } from '../../domain/access/ip-list-content.ts';
import type { IpListBinding } from '../../domain/access/ip-list.ts';
import type { RateLimitRecord } from '../../domain/access/rate-limit.ts';
import { globalTrustId } from '../../domain/site/trust.ts';
import {
  countryRules,
  ipListBindings,
  rateLimits,
  trustProfiles,
} from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { byName } from './by-name.ts';
import type { PartKind } from './part-kind.ts';

/** Lists that something refers to; one piece each, so that a change sends one list. */
export const ipListKind: PartKind = {
  name: 'ip-list',
  collections: ['ip-list-contents', 'ip-list-bindings', 'trust-profiles', 'sites', 'custom-rules'],
  plan: (store) =>
    [...allReferences(store).keys()].sort().map((id) => {
      const content = contentOf(store, id);
      const build = () => ({ ipLists: [packList(content, chunkReader(store))] });
      return { id, inputs: [content.etag], build };
    }),
};

/** Bindings, country rules and rate limits. */
export const accessRuleKind: PartKind = {
  name: 'access-rules',
  collections: ['ip-list-bindings', 'country-rules', 'rate-limits'],
  plan: (store) => {
    const bindings = store.list(ipListBindings);
    const countries = store.list(countryRules).filter((rule) => rule.enabled === true);
    const limits = store.list(rateLimits);
    const inputs = [...bindings, ...countries, ...limits];
    if (inputs.length === 0) return [];
    return [{ id: '', inputs, build: () => buildRules(bindings, countries, limits) }];
  },
};

/** Trust profiles; one piece each. */
export const trustKind: PartKind = {
  name: 'trust',
  collections: ['trust-profiles'],
  plan: (store) =>
    store.list(trustProfiles).map((record) => ({
      id: record.id,
      inputs: [record],
      build: () => {
        const siteId = record.id === globalTrustId ? '' : record.id;
        return { trustProfiles: [toRuntimeTrust(record.profile, siteId)] };
      },
    })),
};

/** A list as it travels. Cost: linear; some 15 bytes an entry pass through memory. */
export function packList(
  content: IpListContent,
  readChunk: ReadChunk,
): MessageInitShape<typeof RuntimeIpListSchema> {
  const packed = {
    '4': new Uint8Array(content.ipv4Count * packedWidth['4']),
    '6': new Uint8Array(content.ipv6Count * packedWidth['6']),
  };
  const filled = { '4': 0, '6': 0 };
  const expiries: { index: number; atMs: bigint }[] = [];
  let index = 0;
  for (const ref of content.chunks) {
    const chunk = readChunk(ref.id);
    const family = familyOf(ref.first);
    if (chunk !== undefined) {
      filled[family] = packKeys(chunk.keys, keyWidth[family], packed[family], filled[family]);
      for (const [key, { expiresAt }] of Object.entries(chunk.details ?? {})) {
        if (expiresAt === undefined) continue;
        const place = placeOf(chunk.keys, key);
        expiries.push({ index: index + place, atMs: BigInt(Date.parse(expiresAt)) });
      }
    }
    index += ref.count;
  }
  return { id: content.id, etag: content.etag, ipv4: packed['4'], ipv6: packed['6'], expiries };
}

/** Bytes of a packed entry: address and prefix length. */
const packedWidth = { '4': 5, '6': 17 } as const;

/** Writes keys as bytes, each without its family; says where the next one goes. */
function packKeys(keys: string, width: number, target: Uint8Array, start: number): number {
  let at = start;
  for (let key = 0; key < keys.length; key += width) {
    for (let digit = key + 1; digit < key + width; digit += 2) {
      target[at++] = hexDigit(keys.charCodeAt(digit)) * 16 + hexDigit(keys.charCodeAt(digit + 1));
    }
  }
  return at;
}

/** Which of the keys it is. A match that lies across two keys is none. */
function placeOf(keys: string, key: string): number {
  let at = keys.indexOf(key);
  while (at > 0 && at % key.length !== 0) at = keys.indexOf(key, at + 1);
  return at / key.length;
}

function hexDigit(code: number): number {
  return code <= 0x39 ? code - 0x30 : code - 0x57;
}

/** The lists that a profile names, as they travel. */
export function packTrustLists(store: ReadStore, profile: TrustProfileJson) {
  const ids = new Set((profile.nodes ?? []).flatMap((node) => node.trust?.ipListIds ?? []));
  return [...ids].map((id) => packList(contentOf(store, id), chunkReader(store)));
}

/** A profile as it travels. */
export function toRuntimeTrust(profile: TrustProfileJson, siteId: string): RuntimeTrustProfile {
  const nodes = (profile.nodes ?? []).map((node) => ({
    ...node,
    ipListIds: node.trust?.ipListIds ?? [],
  }));
  const { edges = [], extractionRules: rules = [] } = profile;
  return byName(RuntimeTrustProfileSchema, { siteId, nodes, edges, rules });
}

function buildRules(
  bindings: readonly IpListBinding[],
  countries: readonly CountryRuleRecord[],
  limits: readonly RateLimitRecord[],
) {
  return {
    ipBindings: bindings.map((one) =>
      byName(RuntimeIpBindingSchema, { ...one, place: placeOfRule(one) }),
    ),
    countryRules: countries.map((one) =>
      byName(RuntimeCountryRuleSchema, { ...one, places: one.targets.map(placeOfRule) }),
    ),
    rateLimits: limits.map((one) =>
      byName(RuntimeRateLimitSchema, {
        countingKey: 'ip',
        ...one,
        observe: one.enforcementMode === 'observe',
        banGlobally: one.banScope === 'global',
      }),
    ),
  };
}

function placeOfRule({
  scope,
  policyId,
  siteId,
}: Pick<IpListBinding, 'scope' | 'policyId' | 'siteId'>) {
  return { scope, policyId, siteId };
}

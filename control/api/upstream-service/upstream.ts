/** Upstream pools: one that sites use is neither removed nor disabled. */

import { UpstreamSchema, type UpstreamJson } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { keepPoolSecrets } from '../../domain/site/header-secrets.ts';
import type { UpstreamRecord } from '../../domain/records.ts';
import { maskOf } from '../../domain/update-mask.ts';
import { checkUpstream } from '../../domain/site/upstream.ts';
import { refuseUsed, type User } from '../../domain/usage.ts';
import { readUpstreamSpec, upstreamSpec } from '../../publish/manifests/manifest-specs.ts';
import { siteRoutings, sites, upstreams } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { Resource } from '../resource/resource.ts';

/** Upstream pools. */
export const upstreamKind: Resource<typeof UpstreamSchema, UpstreamJson, UpstreamRecord> = {
  schema: UpstreamSchema,
  collection: upstreams,
  noun: 'upstream pool',
  audit: 'upstream',
  field: 'upstream',
  prefix: 'upstream',
  nameOf: ({ name }) => name,
  mask: maskOf(UpstreamSchema),
  settle: ({ tx }, asked, before, base) => {
    const { deletedAt: _deletedAt, ...checked } = checkUpstream(keepPoolSecrets(asked, before));
    const record = { ...checked, ...base, name: checked.name ?? '' };
    if (before !== null && isDisabled(record) && !isDisabled(before)) {
      refuseUsed('upstream.status', usersOfUpstream(tx, before));
    }
    return { record };
  },
  taken: 'upstream.name: another pool has it',
  usersOf: usersOfUpstream,
  document: { reference: 'upstream', read: readUpstreamSpec, spec: upstreamSpec },
};

const isDisabled = ({ status }: UpstreamRecord): boolean => status === 'RESOURCE_STATUS_DISABLED';

/** Sites whose requests go to a pool, by default or by a route. */
function usersOfUpstream(store: ReadStore, { id }: UpstreamRecord): User[] {
  const direct = store
    .list(sites)
    .filter((site) => (site.upstreams ?? []).some((one) => one.upstreamId === id))
    .map((site) => site.id);
  const routed = store.find(siteRoutings, 'upstream', id).map((routing) => routing.id);
  return [...new Set([...direct, ...routed])].sort().map((one) => ({ kind: 'site', id: one }));
}

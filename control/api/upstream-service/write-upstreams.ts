/** Owns UpstreamService/CreateUpstream, UpdateUpstream and DeleteUpstream. */

import { randomUUID } from 'node:crypto';
import {
  UpstreamSchema,
  type UpstreamJson,
  type UpstreamService,
} from '../../../proto/gen/waf/v1/upstream_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { keepPoolSecrets } from '../../domain/site/header-secrets.ts';
import type { UpstreamRecord } from '../../domain/records.ts';
import type { MaskFields } from '../../domain/update-mask.ts';
import { applyMask } from '../../domain/update-mask.ts';
import { checkUpstream } from '../../domain/site/upstream.ts';
import { refuseUsed } from '../../domain/usage.ts';
import { upstreams } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { actorNote, callerOf, type ApiParts } from '../context.ts';
import { isoNow, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { nextUpdate, requireUnchanged } from '../unchanged.ts';
import { probePool } from './probe-pool.ts';
import { storedUpstream, usersOfUpstream } from './stored-upstream.ts';

const flat = (names: string): MaskFields =>
  Object.fromEntries(names.split(' ').map((name) => [name, true as const]));

const maskFields: MaskFields = {
  ...flat('name description endpoints status requestHeaders'),
  healthCheck: flat(
    'path method expectedStatus intervalSeconds timeoutSeconds unhealthyThreshold ' +
      'healthyThreshold followRedirects expectedBody host',
  ),
  tls: flat('caPem serverName skipVerify'),
  resilience: flat(
    'passiveHealthEnabled passiveFailDurationSeconds passiveMaxFails retryEnabled ' +
      'retryDurationSeconds retryIntervalMilliseconds',
  ),
};

/** Creates a pool, asks its endpoints once and shows what that found. */
export function createUpstream(parts: ApiParts): Method<typeof UpstreamService, 'createUpstream'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.upstream === undefined) throw invalidField('upstream', 'is required');
    const sent = toRecord<UpstreamJson>(UpstreamSchema, request.upstream);
    const asked = checkUpstream(keepPoolSecrets(sent, null));
    const now = isoNow(parts.clock);
    const { deletedAt: _deletedAt, ...rest } = asked;
    const stored = await parts.store.write((tx) => {
      const record: UpstreamRecord = {
        ...rest,
        id: `upstream-${randomUUID()}`,
        tenantId: caller.tenantId,
        name: asked.name ?? '',
        createdAt: now,
        updatedAt: now,
      };
      refuseSameName(tx, record);
      tx.put(upstreams, record);
      tx.audit({ ...note(caller, record), action: 'create', after: record });
      return record;
    });
    const probes = await probePool(parts, stored);
    return { upstream: toMessage(UpstreamSchema, stored), probes };
  };
}

/** Changes the masked fields; a pool that sites use cannot be disabled. */
export function updateUpstream(parts: ApiParts): Method<typeof UpstreamService, 'updateUpstream'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.upstream === undefined) throw invalidField('upstream', 'is required');
    const change = toRecord<UpstreamJson>(UpstreamSchema, request.upstream);
    const stored = await parts.store.write((tx) => {
      const before = storedUpstream(tx, caller, change.id ?? '', 'upstream.id');
      requireUnchanged(request.expectedUpdatedAt, before);
      const masked = applyMask(before, change, request.updateMask, maskFields);
      const checked = checkUpstream(keepPoolSecrets(masked, before));
      const after: UpstreamRecord = {
        ...masked,
        ...checked,
        id: before.id,
        tenantId: before.tenantId,
        name: checked.name ?? '',
        createdAt: before.createdAt,
        updatedAt: nextUpdate(before, parts.clock),
      };
      refuseSameName(tx, after);
      if (after.status === 'RESOURCE_STATUS_DISABLED' && before.status !== after.status) {
        refuseUsed('upstream.status', usersOfUpstream(tx, before.id));
      }
      tx.put(upstreams, after);
      tx.audit({ ...note(caller, after), action: 'update', before, after });
      return after;
    });
    const active = stored.status !== 'RESOURCE_STATUS_DISABLED';
    const probes = active ? await probePool(parts, stored) : [];
    return { upstream: toMessage(UpstreamSchema, stored), probes };
  };
}

/** Removes a pool that no site uses. */
export function deleteUpstream(parts: ApiParts): Method<typeof UpstreamService, 'deleteUpstream'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const removed = await parts.store.write((tx) => {
      const before = storedUpstream(tx, caller, request.id, 'id');
      refuseUsed('id', usersOfUpstream(tx, before.id));
      tx.remove(upstreams, before.id);
      tx.audit({ ...note(caller, before), action: 'delete', before });
      return before;
    });
    return { result: { id: removed.id, changed: true } };
  };
}

function refuseSameName(store: ReadStore, pool: UpstreamRecord): void {
  const taken = store
    .list(upstreams)
    .some(
      (other) =>
        other.id !== pool.id && other.tenantId === pool.tenantId && other.name === pool.name,
    );
  if (taken) throw refusal('already_exists', 'upstream.name: another pool has it');
}

function note(caller: Caller, pool: UpstreamRecord) {
  return {
    ...actorNote(caller),
    resourceType: 'upstream',
    resourceId: pool.id,
    resourceName: pool.name,
  };
}

/**
 * Owns the methods of CertService on DNS providers. Credentials go into a record of their own and
 * into no answer, audit row or message.
 */

import { randomUUID } from 'node:crypto';
import {
  ACMEDNSProviderSchema,
  type ACMEDNSProvider,
  type CertService,
} from '../../../proto/gen/waf/v1/cert_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import {
  checkDnsCredentials,
  checkDnsProvider,
  dnsProviderDrivers,
  providersFor,
} from '../../domain/site/dns-providers.ts';
import { invalidField } from '../../domain/errors.ts';
import type { DnsProviderRecord } from '../../domain/resource-records.ts';
import { hostsOf } from '../../domain/site/site.ts';
import { refuseUsed, type User } from '../../domain/usage.ts';
import { dnsCredentials, dnsProviders, sites } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { isoNow, toMessage } from '../convert.ts';
import type { Built } from '../method.ts';
import { nextUpdate, requireUnchanged } from '../unchanged.ts';
import { storedDnsProvider } from './stored-cert.ts';
import {
  dnsProviderNote,
  providersOf,
  refuseMoreDnsProviders,
  refuseSameDnsName,
} from './stored-dns-provider.ts';

type DnsMethods = Pick<
  Required<Built<typeof CertService>>,
  | 'listDNSProviders'
  | 'getDNSProvider'
  | 'createDNSProvider'
  | 'updateDNSProvider'
  | 'deleteDNSProvider'
  | 'listDNSProviderDrivers'
>;

const show = (record: DnsProviderRecord): ACMEDNSProvider =>
  toMessage(ACMEDNSProviderSchema, record);

/** The methods on DNS providers. */
export function dnsProviderMethods(parts: ApiParts): DnsMethods {
  const { store } = parts;
  return {
    listDNSProviders: ({ status, provider }, context) => {
      if (status !== '' && status !== 'active' && status !== 'disabled') {
        throw invalidField('status', 'must be active or disabled');
      }
      const found = providersOf(store, callerOf(context))
        .filter((one) => status === '' || one.status === status)
        .filter((one) => provider === '' || one.provider === provider)
        .sort((left, right) => left.name.localeCompare(right.name, 'en'));
      return { items: found.map(show) };
    },
    getDNSProvider: ({ id }, context) => ({
      provider: show(storedDnsProvider(store, callerOf(context), id, 'id')),
    }),
    createDNSProvider: createProvider(parts),
    updateDNSProvider: updateProvider(parts),
    deleteDNSProvider: async ({ id }, context) => {
      const caller = callerOf(context);
      await store.write((tx) => {
        const before = storedDnsProvider(tx, caller, id, 'id');
        refuseUsed('id', sitesThatNeed(tx, caller, before));
        tx.remove(dnsProviders, before.id);
        tx.remove(dnsCredentials, before.id);
        tx.audit({ ...dnsProviderNote(caller, before), action: 'delete', before });
      });
      return { result: { id, changed: true } };
    },
    listDNSProviderDrivers: () => ({ drivers: [...dnsProviderDrivers] }),
  };
}

function createProvider(parts: ApiParts): DnsMethods['createDNSProvider'] {
  return async (request, context) => {
    const caller = callerOf(context);
    const checked = checkDnsProvider({ ...request, status: 'active' });
    if (request.credentialsJson.length === 0) throw invalidField('credentialsJson', 'is required');
    const credentialsJson = checkDnsCredentials(request.credentialsJson);
    const now = isoNow(parts.clock);
    const stored = await parts.store.write((tx) => {
      refuseMoreDnsProviders(tx, caller);
      const record: DnsProviderRecord = {
        ...checked,
        id: `dns-${randomUUID()}`,
        tenantId: caller.tenantId,
        health: 'unknown',
        createdAt: now,
        updatedAt: now,
      };
      refuseSameDnsName(tx, caller, record);
      tx.put(dnsProviders, record);
      tx.put(dnsCredentials, { id: record.id, credentialsJson });
      tx.audit({ ...dnsProviderNote(caller, record), action: 'create', after: record });
      return record;
    });
    return { provider: show(stored) };
  };
}

/** The whole account is replaced; empty credentials and an empty status keep what is stored. */
function updateProvider(parts: ApiParts): DnsMethods['updateDNSProvider'] {
  return async (request, context) => {
    const caller = callerOf(context);
    const credentialsJson =
      request.credentialsJson.length === 0 ? null : checkDnsCredentials(request.credentialsJson);
    const stored = await parts.store.write((tx) => {
      const before = storedDnsProvider(tx, caller, request.id, 'id');
      requireUnchanged(request.expectedUpdatedAt, before);
      const checked = checkDnsProvider({
        ...request,
        status: request.status || (before.status ?? 'active'),
      });
      if (checked.provider !== before.provider && credentialsJson === null) {
        throw invalidField('credentialsJson', 'is required when the provider changes');
      }
      const updatedAt = nextUpdate(before, parts.clock);
      const anew: Partial<DnsProviderRecord> =
        credentialsJson === null ? {} : { health: 'unknown', lastError: '' };
      const after: DnsProviderRecord = { ...before, ...checked, ...anew, updatedAt };
      refuseSameDnsName(tx, caller, after);
      tx.put(dnsProviders, after);
      if (credentialsJson !== null) tx.put(dnsCredentials, { id: after.id, credentialsJson });
      const metadata = { credentialsReplaced: String(credentialsJson !== null) };
      tx.audit({ ...dnsProviderNote(caller, after), action: 'update', before, after, metadata });
      return after;
    });
    return { provider: show(stored) };
  };
}

/** Sites whose wildcard certificates no other account could prove. */
function sitesThatNeed(store: ReadStore, caller: Caller, provider: DnsProviderRecord): User[] {
  const all = providersOf(store, caller);
  const others = all.filter(({ id }) => id !== provider.id);
  const needs = (host: string): boolean =>
    host.startsWith('*.') &&
    providersFor(host, [provider]).length > 0 &&
    providersFor(host, others).length === 0;
  return store
    .list(sites)
    .filter((site) => site.tenantId === caller.tenantId)
    .filter((site) => site.tls?.mode === 'TLS_MODE_MANAGED_ACME' && hostsOf(site).some(needs))
    .map(({ id }) => ({ kind: 'site', id }));
}

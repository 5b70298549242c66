/** Owns what holds for every account at a DNS provider that is kept. */

import type { Caller } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import type { DnsProviderRecord } from '../../domain/resource-records.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { dnsProviders } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { actorNote } from '../context.ts';

/** Accounts of the caller's tenant. */
export function providersOf(store: ReadStore, caller: Caller): DnsProviderRecord[] {
  return store.list(dnsProviders).filter((one) => one.tenantId === caller.tenantId);
}

/** Errors: already_exists when another account of the tenant has the name. */
export function refuseSameDnsName(
  store: ReadStore,
  caller: Caller,
  record: DnsProviderRecord,
): void {
  const taken = providersOf(store, caller).some(
    (other) => other.id !== record.id && other.name === record.name,
  );
  if (taken) throw refusal('already_exists', 'name: another DNS provider has it');
}

/** The audit note of a change of an account. */
export function dnsProviderNote(caller: Caller, record: DnsProviderRecord) {
  return {
    ...actorNote(caller),
    resourceType: 'dns_provider',
    resourceId: record.id,
    resourceName: record.name,
  };
}

/** Errors: resource_exhausted when there is no room for one more. */
export function refuseMoreDnsProviders(store: ReadStore, caller: Caller): void {
  if (providersOf(store, caller).length < resourceLimits.dnsProvidersMax) return;
  throw refusal('resource_exhausted', 'there are too many DNS providers: remove some first');
}

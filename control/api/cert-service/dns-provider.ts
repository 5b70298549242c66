/**
 * Accounts at DNS providers. Credentials go into a record of their own and into no answer, audit
 * row or message.
 */

import { ACMEDNSProviderSchema } from '../../../proto/gen/waf/v1/cert_pb.ts';
import {
  checkDnsCredentials,
  checkDnsProvider,
  providersFor,
} from '../../domain/site/dns-providers.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { DnsProviderRecord } from '../../domain/resource-records.ts';
import { hostsOf } from '../../domain/site/site.ts';
import type { User } from '../../domain/usage.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { dnsSpec, readDnsSpec, type DnsSpec } from '../../publish/manifests/manifest-accounts.ts';
import { dnsCredentials, dnsProviders, sites } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { ownedBy } from '../resource/owned.ts';
import type { Resource } from '../resource/resource.ts';

/** Accounts at DNS providers; an update replaces the whole but for what it leaves empty. */
export const dnsProviderKind: Resource<typeof ACMEDNSProviderSchema, DnsSpec, DnsProviderRecord> = {
  schema: ACMEDNSProviderSchema,
  collection: dnsProviders,
  noun: 'DNS provider',
  audit: 'dns_provider',
  field: 'provider',
  prefix: 'dns',
  nameOf: ({ name }) => name,
  settle: ({ document }, { account, credentials }, before, base) => {
    const status = account.status || (before?.status ?? 'active');
    const checked = checkDnsProvider({ ...account, status });
    if (credentials === null) requireCredentials(before, checked.provider, document !== undefined);
    const credentialsJson = credentials === null ? null : checkDnsCredentials(credentials);
    const anew =
      before !== null && credentials === null ? {} : { health: 'unknown', lastError: '' };
    const metadata = { credentialsReplaced: String(credentials !== null) };
    return {
      record: { ...before, ...base, ...checked, ...anew },
      keepMore: (tx) => {
        if (credentialsJson !== null) tx.put(dnsCredentials, { id: base.id, credentialsJson });
        else if (tx.get(dnsCredentials, base.id) === undefined) {
          document?.warn(
            `${document.where}: spec.credentials: are a secret that no manifest holds; ` +
              'certificates that need them fail until they are set: ' +
              'waf cert dns-update --credentials FILE',
          );
        }
      },
      bringsMore: credentials !== null,
      ...(before === null ? {} : { metadata }),
    };
  },
  refuseMore: (store, caller) => {
    if (ownedBy(store, caller, dnsProviderKind).length < resourceLimits.dnsProvidersMax) return;
    throw refusal('resource_exhausted', 'there are too many DNS providers: remove some first');
  },
  taken: 'name: another DNS provider has it',
  usersOf: sitesThatNeed,
  dropMore: ({ tx }, { id }) => tx.remove(dnsCredentials, id),
  document: {
    reference: 'DNS provider',
    permission: 'cert:write',
    read: readDnsSpec,
    spec: dnsSpec,
    fields: [
      [/^credentialsJson: is required when/, 'spec.credentials: is required:'],
      [/^credentialsJson:/, 'spec.credentials:'],
      [/^name:/, 'metadata.name:'],
      [/^(?=(?:provider|zones|settings|propagationSeconds|status)\b)/, 'spec.'],
    ],
  },
};

/** A document may make an account without: no manifest holds them. */
function requireCredentials(
  before: DnsProviderRecord | null,
  provider: string,
  mayMiss: boolean,
): void {
  if (before === null && !mayMiss) throw invalidField('credentialsJson', 'is required');
  if (before === null || before.provider === provider) return;
  throw invalidField('credentialsJson', 'is required when the provider changes');
}

/** Sites whose wildcard certificates no other account could prove. */
function sitesThatNeed(store: ReadStore, provider: DnsProviderRecord): User[] {
  const { tenantId } = provider;
  const others = ownedBy(store, { tenantId }, dnsProviderKind).filter(
    ({ id }) => id !== provider.id,
  );
  const needs = (host: string): boolean =>
    host.startsWith('*.') &&
    providersFor(host, [provider]).length > 0 &&
    providersFor(host, others).length === 0;
  return ownedBy(store, { tenantId }, { collection: sites })
    .filter((site) => site.tls?.mode === 'TLS_MODE_MANAGED_ACME' && hostsOf(site).some(needs))
    .map(({ id }) => ({ kind: 'site', id }));
}

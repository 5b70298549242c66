/** The methods of CertService on DNS providers. */

import type { CertService } from '../../../proto/gen/waf/v1/cert_pb.ts';
import { dnsProviderDrivers } from '../../domain/site/dns-providers.ts';
import { invalidField } from '../../domain/errors.ts';
import type { DnsSpec } from '../../publish/manifests/manifest-accounts.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { listed } from '../resource/owned.ts';
import { serve } from '../resource/serve.ts';
import { dnsProviderKind } from './dns-provider.ts';

type DnsMethods = Pick<
  Required<Built<typeof CertService>>,
  | 'listDNSProviders'
  | 'getDNSProvider'
  | 'createDNSProvider'
  | 'updateDNSProvider'
  | 'deleteDNSProvider'
  | 'listDNSProviderDrivers'
>;

/** The methods on DNS providers. */
export function dnsProviderMethods(parts: Uses<'store' | 'clock'>): DnsMethods {
  const { show, get, create, update, remove } = serve(parts, dnsProviderKind);
  return {
    listDNSProviders: ({ status, provider }, context) => {
      if (status !== '' && status !== 'active' && status !== 'disabled') {
        throw invalidField('status', 'must be active or disabled');
      }
      const found = listed(parts.store, callerOf(context), dnsProviderKind)
        .filter((one) => status === '' || one.status === status)
        .filter((one) => provider === '' || one.provider === provider);
      return { items: found.map(show) };
    },
    getDNSProvider: (request, context) => ({ provider: get(request, context) }),
    createDNSProvider: async (request, context) => ({
      provider: show(await create(askedFor(request), context)),
    }),
    updateDNSProvider: async (request, context) => {
      const asked = { ...askedFor(request), id: request.id };
      return { provider: show(await update(asked, request, context, { idField: 'id' })) };
    },
    deleteDNSProvider: remove,
    listDNSProviderDrivers: () => ({ drivers: [...dnsProviderDrivers] }),
  };
}

/** Empty credentials keep those that are stored. */
function askedFor({
  credentialsJson,
  ...account
}: DnsSpec['account'] & { readonly credentialsJson: Uint8Array }): DnsSpec {
  return { account, credentials: credentialsJson.length === 0 ? null : credentialsJson };
}

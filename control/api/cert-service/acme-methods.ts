/** CertService/IssueACMECert and RenewCert: a call waits for the authority, the order continues. */

import { setTimeout as pause } from 'node:timers/promises';
import { CertificateSchema, type CertService } from '../../../proto/gen/waf/v1/cert_pb.ts';
import { toAppError } from '../../../base/errors.ts';
import { acmeLimits } from '../../limits/acme-limits.ts';
import { orderOfCertificate, addOrder } from '../../acme/order-store.ts';
import { acmeSettingsOf, checkOrder } from '../../domain/site/acme.ts';
import { providersFor } from '../../domain/site/dns-providers.ts';
import { refusal } from '../../domain/errors.ts';
import { checkName } from '../../domain/names.ts';
import type { CertificateRecord } from '../../domain/resource-records.ts';
import { settingsId, systemSettings } from '../../store/collections.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { noteAction, ownedBy, stored } from '../resource/owned.ts';
import { certificateKind, refuseTakenName } from './certificate.ts';
import { dnsProviderKind } from './dns-provider.ts';

/** Orders a certificate; answers without one where the authority takes long. */
export function issueAcmeCert(
  parts: Uses<'store' | 'clock' | 'acme'>,
): Method<typeof CertService, 'issueACMECert'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const { store, clock } = parts;
    const settings = acmeSettingsOf(store.get(systemSettings, settingsId)?.values ?? {});
    const checked = checkOrder(request, settings);
    const name = checkName(request.name || (checked.dnsNames[0] ?? ''), 'name');
    const order = await store.write((tx) => {
      refuseTakenName(tx, caller, name, 'name');
      const accounts = ownedBy(tx, caller, dnsProviderKind);
      for (const host of checked.challengeType === 'dns-01' ? checked.dnsNames : []) {
        if (providersFor(host, accounts).length > 0) continue;
        throw refusal('failed_precondition', `dnsNames: no active DNS provider for ${host}`);
      }
      const added = addOrder(tx, caller.tenantId, name, checked, clock.nowMs());
      tx.audit({
        ...actorNote(caller),
        action: 'order',
        resourceType: 'certificate',
        resourceId: added.id,
        resourceName: name,
        after: added,
      });
      return added;
    });
    const cert = await awaited(parts, order.id);
    const orderId = order.id;
    return cert === null ? { orderId } : { orderId, cert: toMessage(CertificateSchema, cert) };
  };
}

/** Renews a managed certificate when it is due, or now. */
export function renewCert(
  parts: Uses<'store' | 'clock' | 'acme'>,
): Method<typeof CertService, 'renewCert'> {
  return async ({ id, force }, context) => {
    const caller = callerOf(context);
    const before = stored(parts.store, caller, certificateKind, id, 'id');
    const order = orderOfCertificate(parts.store, before.id);
    if (order === undefined) {
      throw refusal('failed_precondition', 'id: upload a new one: this one was not ordered here');
    }
    const due = order.dueAtMs <= parts.clock.nowMs();
    if (!due && !force) return { cert: toMessage(CertificateSchema, before) };
    await parts.store.write((tx) => noteAction(tx, caller, certificateKind, before, 'order'));
    const renewed = await awaited(parts, order.id);
    return { cert: toMessage(CertificateSchema, renewed ?? before) };
  };
}

/** Null where it takes longer than a call waits. Errors: failed_precondition with the reason. */
async function awaited(parts: Uses<'acme'>, orderId: string): Promise<CertificateRecord | null> {
  const ended = new AbortController();
  const late = pause(acmeLimits.issueWaitMs, null, { signal: ended.signal }).catch(() => null);
  try {
    return await Promise.race([parts.acme.run(orderId), late]);
  } catch (error) {
    throw refusal('failed_precondition', `${orderId}: ${toAppError(error).message}`);
  } finally {
    ended.abort();
  }
}

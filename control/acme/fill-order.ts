/** One order from the account to the kept certificate, and the question when to renew it. */

import { X509Certificate } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { toAppError } from '../../base/errors.ts';
import { acmeLimits } from '../limits/acme-limits.ts';
import { acmeSettingsOf, type AcmeOrderRecord, type AcmeSettings } from '../domain/site/acme.ts';
import { checkCertificate } from '../domain/site/certificates.ts';
import { providersFor } from '../domain/site/dns-providers.ts';
import { allowedNetworksOf } from '../domain/settings/outgoing-settings.ts';
import type { CertificateRecord } from '../domain/resource-records.ts';
import {
  acmeAccounts,
  certificates,
  dnsCredentials,
  dnsProviders,
  settingsId,
  systemSettings,
} from '../store/collections.ts';
import type { Duties } from '../store/duties.ts';
import type { Store } from '../store/store.ts';
import { AcmeClient, AcmeProblem } from './acme-client.ts';
import type { ChallengeBoard } from './challenge-board.ts';
import { makeCertificateRequest, renewalId } from './csr.ts';
import { dnsError } from './dns/driver.ts';
import { dnsDrivers } from './dns/list.ts';
import { accountFor } from './order-store.ts';
import type { CallSettings } from './outgoing-call.ts';
import { proveNames, type DnsProof } from './prove-names.ts';
import { renewAtMs } from './renewal-times.ts';

/** What filling an order works with. */
export interface OrderParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly duties?: Duties;
  readonly board: ChallengeBoard;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** When a certificate is renewed, and when to ask about it again; milliseconds since the epoch. */
export interface RenewalPlan {
  readonly dueAtMs: number;
  readonly askAtMs: number;
}

type Checked = ReturnType<typeof checkCertificate>;

/** Orders, proves and fetches. Errors: AcmeProblem, AppError. */
export async function fillOrder(parts: OrderParts, order: AcmeOrderRecord): Promise<Checked> {
  const { store, clock, board, logger } = parts;
  const { settings, call } = surroundings(parts);
  const client = await openClient(parts, order, settings, call);
  const before = store.get(certificates, order.certificateId);
  const replaces = before === undefined ? null : await renewalId(before.certPem);
  const { profile } = settings;
  const opened = await client.order({ names: order.dnsNames, replaces, profile });
  const dnsFor = (name: string): DnsProof => dnsProof(parts, order.tenantId, name, call);
  await proveNames(client, opened.authorizations, order.challengeType, { board, dnsFor, logger });
  const { keyPem, csr } = await makeCertificateRequest(order.dnsNames);
  const certPem = await client.finish(opened, csr);
  return checkCertificate({ certPem, keyPem, chainPem: [] }, clock.nowMs());
}

/** When to renew: as the authority suggests, else by the certificate's life. */
export async function planRenewal(
  parts: OrderParts,
  order: AcmeOrderRecord,
  certificate: Pick<CertificateRecord, 'certPem'>,
): Promise<RenewalPlan> {
  const { clock, logger, random } = parts;
  const { validFrom, validTo } = new X509Certificate(certificate.certPem);
  const life = { notBeforeMs: Date.parse(validFrom), notAfterMs: Date.parse(validTo) };
  const now = clock.nowMs();
  const alone = (): RenewalPlan => ({
    dueAtMs: renewAtMs(life, null, random()),
    askAtMs: now + acmeLimits.renewalAskMaxMs,
  });
  const id = await renewalId(certificate.certPem);
  if (id === null) return alone();
  try {
    const { call } = surroundings(parts);
    const account = await accountFor(parts.store, order.directoryUrl, order.email);
    const window = await new AcmeClient(account, call).renewalWindow(id);
    if (window === null) return alone();
    const askAtMs = now + window.askAgainMs;
    // The same moment of a window that has not changed would be chosen anew at each question.
    const within = order.dueAtMs >= window.startMs && order.dueAtMs <= window.endMs;
    const dueAtMs = within && order.askAtMs > 0 ? order.dueAtMs : renewAtMs(life, window, random());
    return { dueAtMs, askAtMs };
  } catch (error) {
    const reason = toAppError(error).message;
    logger.debug('the authority did not say when to renew', { name: order.name, reason });
    return alone();
  }
}

function surroundings({ store }: OrderParts): { settings: AcmeSettings; call: CallSettings } {
  const values = store.get(systemSettings, settingsId)?.values ?? {};
  const settings = acmeSettingsOf(values);
  const call = { allowedNetworks: allowedNetworksOf(values), caPem: settings.caPem };
  return { settings, call };
}

async function openClient(
  { store }: OrderParts,
  { directoryUrl, email }: AcmeOrderRecord,
  { eabKeyId, eabHmacKey }: AcmeSettings,
  call: CallSettings,
): Promise<AcmeClient> {
  const account = await accountFor(store, directoryUrl, email);
  const client = new AcmeClient(account, call);
  if (account.accountUrl !== '') return client;
  const external = eabKeyId === '' ? null : { keyId: eabKeyId, hmacKey: eabHmacKey };
  const accountUrl = await client.register(email, external);
  if (accountUrl === '') throw new AcmeProblem('malformed', 0, 'it named no account', 0);
  await store.write((tx) => tx.put(acmeAccounts, { ...account, accountUrl }));
  return client;
}

function dnsProof(
  { store, clock }: OrderParts,
  tenantId: string,
  name: string,
  call: CallSettings,
): DnsProof {
  const mine = store.list(dnsProviders).filter((one) => one.tenantId === tenantId);
  const account = providersFor(name, mine)[0];
  const makeDriver = dnsDrivers[account?.provider ?? ''];
  if (account === undefined || makeDriver === undefined) {
    throw dnsError(`no active DNS provider answers for ${name}: waf cert dns-create adds one`);
  }
  const { credentialsJson = '{}' } = store.get(dnsCredentials, account.id) ?? {};
  const driver = makeDriver({
    zones: account.zones ?? [],
    settings: account.settings ?? {},
    credentials: JSON.parse(credentialsJson) as Record<string, string>,
    call,
    nowMs: () => clock.nowMs(),
  });
  return { driver, propagationMs: (account.propagationSeconds ?? 0) * 1000 };
}

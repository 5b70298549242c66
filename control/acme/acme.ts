/**
 * Keeps managed certificates: orders what sites lack, renews what is due, and tries again after
 * growing pauses. One run of an order at a time; what it learned is kept, so a restart continues.
 */

import { toAppError } from '../../base/errors.ts';
import { acmeLimits } from '../limits/acme-limits.ts';
import { acmeSettingsOf, checkOrder, provable, type AcmeOrderRecord } from '../domain/site/acme.ts';
import type { CertificateRecord } from '../domain/resource-records.ts';
import type { SiteRecord } from '../domain/records.ts';
import { hostsOf } from '../domain/site/site.ts';
import { certificateChooser } from '../domain/site/site-certificate.ts';
import {
  acmeOrders,
  certificates,
  settingsId,
  sites,
  systemSettings,
} from '../store/collections.ts';
import { ownDuties } from '../store/duties.ts';
import type { Store } from '../store/store.ts';
import { AcmeProblem } from './acme-client.ts';
import { fillOrder, planRenewal, type OrderParts } from './fill-order.ts';
import { addOrder, keepIssued } from './order-store.ts';
import { retryDelayMs } from './renewal-times.ts';

/** Managed certificates while control runs. */
export interface Acme {
  /** Runs an order now, or waits for the run that is under way. Errors: why it failed. */
  run(orderId: string): Promise<CertificateRecord>;
  /** Resolves when nothing touches the store any more. */
  close(): Promise<void>;
}

/** Starts looking for due orders. */
export function startAcme(parts: OrderParts, tickMs: number = acmeLimits.tickMs): Acme {
  const keeper = new Keeper(parts);
  const { duties = ownDuties(parts.store) } = parts;
  const tick = async (): Promise<void> => {
    const store = await duties.begin();
    if (store !== null) await keeper.look(store);
  };
  const timer = setInterval(() => void tick(), tickMs);
  timer.unref();
  return {
    run: (orderId) => keeper.run(orderId),
    close: async () => {
      clearInterval(timer);
      await keeper.close();
    },
  };
}

class Keeper {
  private readonly parts: OrderParts;
  private readonly running = new Map<string, Promise<CertificateRecord>>();
  private looking: Promise<void> | null = null;
  private closed = false;

  constructor(parts: OrderParts) {
    this.parts = parts;
  }

  run(orderId: string, parts = this.parts): Promise<CertificateRecord> {
    const known = this.running.get(orderId);
    if (known !== undefined) return known;
    const run = fill(parts, orderId).finally(() => this.running.delete(orderId));
    this.running.set(orderId, run);
    return run;
  }

  /** Looks for what is due; it writes through `store`. */
  look(store: Store): Promise<void> {
    this.looking ??= this.lookOnce({ ...this.parts, store })
      .catch((error: unknown) => {
        const reason = toAppError(error).message;
        this.parts.logger.error('managed certificates could not be looked after', { reason });
      })
      .finally(() => (this.looking = null));
    return this.looking;
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.looking;
    await Promise.allSettled(this.running.values());
  }

  private async lookOnce(parts: OrderParts): Promise<void> {
    const { store, clock } = parts;
    if (this.closed) return;
    await orderForSites(parts);
    await dropOrphans(store);
    const now = clock.nowMs();
    for (const order of store.list(acmeOrders)) {
      if (this.closed) return;
      if (order.certificateId !== '' && order.askAtMs <= now) await this.ask(parts, order);
    }
    const due = store.list(acmeOrders).filter(({ dueAtMs }) => dueAtMs <= now);
    const waiting = due.map(({ id }) => id).filter((id) => !this.running.has(id));
    const work = async (): Promise<void> => {
      for (let id = waiting.pop(); id !== undefined && !this.closed; id = waiting.pop()) {
        // A failure is kept with the order, and said there.
        await this.run(id, parts).catch(() => undefined);
      }
    };
    await Promise.all(Array.from({ length: acmeLimits.ordersAtOnceMax }, work));
  }

  private async ask(parts: OrderParts, order: AcmeOrderRecord): Promise<void> {
    const { store } = parts;
    const certificate = store.get(certificates, order.certificateId);
    if (certificate === undefined || this.running.has(order.id)) return;
    const plan = await planRenewal(parts, order, certificate);
    await changeOrder(store, order.id, (now) => ({
      ...now,
      askAtMs: plan.askAtMs,
      // While it fails, the pause between attempts counts.
      dueAtMs: now.attempts > 0 ? now.dueAtMs : plan.dueAtMs,
    }));
  }
}

/** A site with a managed certificate that none covers gets an order. */
async function orderForSites({ store, clock, logger }: OrderParts): Promise<void> {
  const certificateOf = certificateChooser(store.list(certificates));
  const orders = store.list(acmeOrders);
  const lacks = (site: SiteRecord): boolean =>
    site.status === 'RESOURCE_STATUS_ACTIVE' &&
    site.tls?.mode === 'TLS_MODE_MANAGED_ACME' &&
    hostsOf(site).every(provable) &&
    certificateOf(site) === undefined &&
    !orders.some((order) => order.tenantId === site.tenantId && covers(order, site));
  const settings = acmeSettingsOf(store.get(systemSettings, settingsId)?.values ?? {});
  for (const site of store.list(sites).filter(lacks)) {
    const dnsNames = hostsOf(site);
    const challengeType = dnsNames.some((name) => name.startsWith('*.')) ? 'dns-01' : 'http-01';
    const wish = { ...emptyWish, name: site.name, dnsNames, challengeType };
    const checked = checkOrder(wish, settings);
    await store.write((tx) => addOrder(tx, site.tenantId, site.name, checked, clock.nowMs()));
    logger.info('ordering a certificate', { site: site.name });
  }
}

/** Orders whose certificate was removed end with it. */
async function dropOrphans(store: Store): Promise<void> {
  const gone = store
    .list(acmeOrders)
    .filter(({ certificateId: id }) => id !== '' && store.get(certificates, id) === undefined);
  if (gone.length === 0) return;
  await store.write((tx) => {
    for (const { id } of gone) tx.remove(acmeOrders, id);
  });
}

async function fill(parts: OrderParts, orderId: string): Promise<CertificateRecord> {
  const { store, clock, logger } = parts;
  const order = store.get(acmeOrders, orderId);
  if (order === undefined) throw new AcmeProblem('gone', 0, 'the order is gone', 0);
  try {
    const checked = await fillOrder(parts, order);
    const now = new Date(clock.nowMs()).toISOString();
    const plan = await planRenewal(parts, { ...order, askAtMs: 0 }, checked);
    const kept = await store.write((tx) => {
      const record = keepIssued(tx, order, checked, now);
      const done = { attempts: 0, lastError: '', lastIssuedAt: now };
      tx.put(acmeOrders, { ...order, ...done, ...plan, certificateId: record.id });
      return record;
    });
    logger.info('a certificate was issued', { name: kept.name, until: String(kept.notAfter) });
    return kept;
  } catch (error) {
    await noteFailure(parts, order, error);
    throw error;
  }
}

async function noteFailure(
  { store, clock, logger, random }: OrderParts,
  order: AcmeOrderRecord,
  error: unknown,
): Promise<void> {
  const { message } = toAppError(error);
  const retryAfterMs = error instanceof AcmeProblem ? error.retryAfterMs : 0;
  const attempts = order.attempts + 1;
  const now = clock.nowMs();
  const waitMs = retryDelayMs(attempts, retryAfterMs, random());
  logger.warn('a certificate could not be ordered', {
    name: order.name,
    reason: message,
    nextTry: new Date(now + waitMs).toISOString(),
  });
  await changeOrder(store, order.id, (known) => ({
    ...known,
    attempts,
    lastError: message,
    lastFailedAt: new Date(now).toISOString(),
    dueAtMs: now + waitMs,
  }));
}

async function changeOrder(
  store: Store,
  id: string,
  make: (order: AcmeOrderRecord) => AcmeOrderRecord,
): Promise<void> {
  await store.write((tx) => {
    const known = tx.get(acmeOrders, id);
    if (known !== undefined) tx.put(acmeOrders, make(known));
  });
}

const emptyWish = { email: '', staging: false, acmeIssuer: '', directoryUrl: '' };

/** Whether an order is for all hosts of a site. */
function covers({ dnsNames }: AcmeOrderRecord, site: SiteRecord): boolean {
  return hostsOf(site).every((host) => dnsNames.includes(host));
}

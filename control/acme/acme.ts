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
import { alwaysOurs } from '../store/duties.ts';
import { AcmeProblem } from './acme-client.ts';
import { fillOrder, planRenewal, type OrderParts } from './fill-order.ts';
import { addOrder, keepIssued } from './order-store.ts';
import { retryDelayMs } from './renewal-times.ts';

/** Managed certificates while control runs. */
export interface Acme {
  /** Runs an order now, or waits for the run that is under way. Errors: why it failed. */
  run(orderId: string): Promise<CertificateRecord>;
  /** Looks at once for what is due. */
  look(): Promise<void>;
  /** Resolves when nothing touches the store any more. */
  close(): Promise<void>;
}

/** Starts looking for due orders. */
export function startAcme(parts: OrderParts, tickMs: number = acmeLimits.tickMs): Acme {
  const keeper = new Keeper(parts);
  const { duties = alwaysOurs } = parts;
  const timer = setInterval(() => {
    if (duties.areOurs()) void keeper.look();
  }, tickMs);
  timer.unref();
  return {
    run: (orderId) => keeper.run(orderId),
    look: () => keeper.look(),
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

  run(orderId: string): Promise<CertificateRecord> {
    const known = this.running.get(orderId);
    if (known !== undefined) return known;
    const run = this.fill(orderId).finally(() => this.running.delete(orderId));
    this.running.set(orderId, run);
    return run;
  }

  look(): Promise<void> {
    this.looking ??= this.lookOnce()
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

  private async lookOnce(): Promise<void> {
    const { store, clock } = this.parts;
    await this.orderForSites();
    await this.dropOrphans();
    const now = clock.nowMs();
    for (const order of store.list(acmeOrders)) {
      if (this.closed) return;
      if (order.certificateId !== '' && order.askAtMs <= now) await this.ask(order);
    }
    const due = store.list(acmeOrders).filter(({ dueAtMs }) => dueAtMs <= now);
    const waiting = due.map(({ id }) => id).filter((id) => !this.running.has(id));
    const work = async (): Promise<void> => {
      for (let id = waiting.pop(); id !== undefined && !this.closed; id = waiting.pop()) {
        // A failure is kept with the order, and said there.
        await this.run(id).catch(() => undefined);
      }
    };
    await Promise.all(Array.from({ length: acmeLimits.ordersAtOnceMax }, work));
  }

  /** A site with a managed certificate that none covers gets an order. */
  private async orderForSites(): Promise<void> {
    const { store, clock, logger } = this.parts;
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
  private async dropOrphans(): Promise<void> {
    const { store } = this.parts;
    const gone = store
      .list(acmeOrders)
      .filter(({ certificateId: id }) => id !== '' && store.get(certificates, id) === undefined);
    if (gone.length === 0) return;
    await store.write((tx) => {
      for (const { id } of gone) tx.remove(acmeOrders, id);
    });
  }

  private async ask(order: AcmeOrderRecord): Promise<void> {
    const { store } = this.parts;
    const certificate = store.get(certificates, order.certificateId);
    if (certificate === undefined || this.running.has(order.id)) return;
    const plan = await planRenewal(this.parts, order, certificate);
    await this.change(order.id, (now) => ({
      ...now,
      askAtMs: plan.askAtMs,
      // While it fails, the pause between attempts counts.
      dueAtMs: now.attempts > 0 ? now.dueAtMs : plan.dueAtMs,
    }));
  }

  private async fill(orderId: string): Promise<CertificateRecord> {
    const { store, clock, logger } = this.parts;
    const order = store.get(acmeOrders, orderId);
    if (order === undefined) throw new AcmeProblem('gone', 0, 'the order is gone', 0);
    try {
      const checked = await fillOrder(this.parts, order);
      const now = new Date(clock.nowMs()).toISOString();
      const plan = await planRenewal(this.parts, { ...order, askAtMs: 0 }, checked);
      const kept = await store.write((tx) => {
        const record = keepIssued(tx, order, checked, now);
        const done = { attempts: 0, lastError: '', lastIssuedAt: now };
        tx.put(acmeOrders, { ...order, ...done, ...plan, certificateId: record.id });
        return record;
      });
      logger.info('a certificate was issued', { name: kept.name, until: String(kept.notAfter) });
      return kept;
    } catch (error) {
      await this.noteFailure(order, error);
      throw error;
    }
  }

  private async noteFailure(order: AcmeOrderRecord, error: unknown): Promise<void> {
    const { clock, logger, random } = this.parts;
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
    await this.change(order.id, (known) => ({
      ...known,
      attempts,
      lastError: message,
      lastFailedAt: new Date(now).toISOString(),
      dueAtMs: now + waitMs,
    }));
  }

  private async change(
    id: string,
    make: (order: AcmeOrderRecord) => AcmeOrderRecord,
  ): Promise<void> {
    await this.parts.store.write((tx) => {
      const known = tx.get(acmeOrders, id);
      if (known !== undefined) tx.put(acmeOrders, make(known));
    });
  }
}

const emptyWish = { email: '', staging: false, acmeIssuer: '', directoryUrl: '' };

/** Whether an order is for all hosts of a site. */
function covers({ dnsNames }: AcmeOrderRecord, site: SiteRecord): boolean {
  return hostsOf(site).every((host) => dnsNames.includes(host));
}

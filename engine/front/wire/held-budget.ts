/**
 * How many bytes one thread keeps for all its clients together, and that no client and no site
 * takes all of them: heads that are not complete, bodies that wait for inspection, and inspected
 * answers that wait for a slow client. Each is bounded by itself; this bounds many at once.
 *
 * A client and a site may hold as much as a fixed multiple of what is still free, so that each uses
 * nearly all of it while alone and something is always left. Source: Choudhury and Hahne, "Dynamic
 * Queue Length Thresholds for Shared-Memory Packet Switches".
 */

import { clientNetwork } from '../../../base/ip-address.ts';
import { frontLimits } from '../../../base/delivery-limits.ts';

/** What one client or one site holds. */
interface Account {
  readonly key: string;
  bytes: number;
}

/** One budget; whoever keeps bytes asks before, and says when they are gone. */
export class HeldBudget {
  /** Bytes kept now. */
  used = 0;
  private readonly bytesMax: number;
  private readonly clients = new Map<string, Account>();
  private readonly sites = new Map<string, Account>();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** A holder of nothing yet; `siteId` is empty before the site is known. */
  holder(clientIp: string, siteId: string): Holder {
    return new Holder(this, clientIp, siteId);
  }

  /** Called by a holder that wants `more` bytes. Shape: its accounts, null for a refusal. */
  admit(clientIp: string, siteId: string, more: number): readonly [Account, Account] | null {
    const left = this.bytesMax - this.used - more;
    if (left < 0) return null;
    const client = accountOf(this.clients, clientNetwork(clientIp));
    const site = accountOf(this.sites, siteId);
    const wanted = client.bytes + more;
    const fits =
      wanted <= frontLimits.heldClientBytesMin ||
      (wanted <= left * frontLimits.heldClientShare &&
        site.bytes + more <= left * frontLimits.heldSiteShare);
    if (fits) return [client, site];
    this.forget(client, site);
    return null;
  }

  /** Called by a holder whose bytes changed. */
  add(client: Account, site: Account, bytes: number): void {
    this.used += bytes;
    client.bytes += bytes;
    site.bytes += bytes;
    this.forget(client, site);
  }

  private forget(client: Account, site: Account): void {
    if (client.bytes === 0) this.clients.delete(client.key);
    if (site.bytes === 0) this.sites.delete(site.key);
  }

  /** Clients and sites that hold something. */
  get accounts(): number {
    return this.clients.size + this.sites.size;
  }
}

function accountOf(accounts: Map<string, Account>, key: string): Account {
  let account = accounts.get(key);
  if (account === undefined) accounts.set(key, (account = { key, bytes: 0 }));
  return account;
}

/** What one request or connection holds. */
export class Holder {
  bytes = 0;
  private readonly budget: HeldBudget;
  private readonly clientIp: string;
  private readonly siteId: string;
  /** Null while nothing is held. */
  private accounts: readonly [client: Account, site: Account] | null = null;

  constructor(budget: HeldBudget, clientIp: string, siteId: string) {
    this.budget = budget;
    this.clientIp = clientIp;
    this.siteId = siteId;
  }

  /** Holds `bytes` from now on; false, and nothing changed, where that is more than its share. */
  hold(bytes: number): boolean {
    const more = bytes - this.bytes;
    if (more > 0) {
      const accounts = this.budget.admit(this.clientIp, this.siteId, more);
      if (accounts === null) return false;
      this.accounts = accounts;
    }
    if (more === 0 || this.accounts === null) return true;
    this.bytes = bytes;
    this.budget.add(this.accounts[0], this.accounts[1], more);
    if (bytes === 0) this.accounts = null;
    return true;
  }
}

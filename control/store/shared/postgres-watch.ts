/**
 * Hears from PostgreSQL that the log became longer: by notices, and by asking now and then, as
 * notices of a connection that breaks are lost. Tells whether PostgreSQL can be reached, and holds
 * the lease of duties where no other controller does.
 */

import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { sharedStoreLimits } from '../../limits/store-limits.ts';
import { connectPostgres, reasonOf } from './postgres-connection.ts';
import type { StoreAddress } from './store-option.ts';

/** Watches one database until it is closed. */
export class PostgresWatch {
  private readonly address: StoreAddress;
  private readonly onReached: () => void;
  private listener: () => void = () => undefined;
  private failure = '';
  private running: Promise<void> | null = null;
  private closed = false;
  private wake: () => void = () => undefined;
  private readonly holder = randomUUID();
  /** On the clock that only goes forward; 0 for no lease. */
  private leasedUntilMs = 0;

  constructor(address: StoreAddress, onReached: () => void) {
    this.address = address;
    this.onReached = onReached;
  }

  /** Why PostgreSQL cannot be reached; '' when it can. */
  problem(): string {
    return this.failure;
  }

  /** Whether the lease is ours, and not over by our own clock. */
  holdsDuties(): boolean {
    return performance.now() < this.leasedUntilMs;
  }

  /** Begins; `listener` is called when the log may have become longer. */
  start(listener: () => void): void {
    this.listener = listener;
    this.running ??= this.run();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.leasedUntilMs = 0;
    this.wake();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.closed) {
      let client: Client | null = null;
      try {
        client = await connectPostgres(this.address);
        await this.follow(client);
      } catch (error) {
        this.failure = reasonOf(error);
      }
      client?.connection.stream.destroy();
      await this.pause(sharedStoreLimits.reconnectMs);
    }
  }

  private async follow(client: Client): Promise<void> {
    client.on('notification', () => this.listener());
    await client.query('LISTEN waf_log');
    let known = '';
    while (!this.closed) {
      const { rows } = await client.query<{ seq: string }>('SELECT seq FROM waf.head');
      this.failure = '';
      this.onReached();
      const seq = rows[0]?.seq ?? '';
      if (seq !== known) this.listener();
      known = seq;
      await this.renew(client);
      await this.pause(sharedStoreLimits.pollMs);
    }
    // Another one need not wait until the lease is over.
    await client.query('DELETE FROM waf.leases WHERE holder = $1', [this.holder]);
  }

  private async renew(client: Client): Promise<void> {
    const askedMs = performance.now();
    const { rowCount } = await client.query(leaseStatement, [this.holder]);
    const isHeld = (rowCount ?? 0) > 0 && !this.closed;
    this.leasedUntilMs = isHeld ? askedMs + sharedStoreLimits.leaseMs : 0;
  }

  private pause(ms: number): Promise<void> {
    if (this.closed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Takes the lease where it is ours or over; gives no row where it is another's. */
const leaseStatement = `
  INSERT INTO waf.leases (duty, holder, until)
  VALUES ('all', $1, now() + interval '${sharedStoreLimits.leaseMs} milliseconds')
  ON CONFLICT (duty) DO UPDATE SET holder = excluded.holder, until = excluded.until
  WHERE waf.leases.holder = excluded.holder OR waf.leases.until < now()
  RETURNING holder`;

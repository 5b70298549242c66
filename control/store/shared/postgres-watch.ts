/**
 * Hears from PostgreSQL that the log became longer: by notices, and by asking now and then, as
 * notices of a connection that breaks are lost. Tells whether PostgreSQL can be reached and which
 * controllers are alive, and holds the lease of duties where no other controller does.
 */

import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { sharedStoreLimits } from '../../limits/store-limits.ts';
import { connectPostgres, reasonOf } from './postgres-connection.ts';
import type { StoreAddress } from './store-option.ts';
import type { Controllers } from './write-log.ts';

/** Watches one database until it is closed. */
export class PostgresWatch implements Controllers {
  private readonly address: StoreAddress;
  private readonly onReached: () => void;
  private listener: () => void = () => undefined;
  private failure = '';
  private running: Promise<void> | null = null;
  private closed = false;
  private wake: () => void = () => undefined;
  readonly ownId = randomUUID();
  /** On the clock that only goes forward; 0 for no lease. */
  private leasedUntilMs = 0;
  /** The lease as it was read last, and since when it is the same, on that clock. */
  private lease = '';
  private leaseSinceMs = 0;
  /** Controllers by id: what each last wrote of itself, and when that was new here. */
  private others: ReadonlyMap<string, Sign> = new Map();
  private lookedMs = 0;

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

  heard(id: string): ReturnType<Controllers['heard']> {
    const sign = this.others.get(id);
    if (sign === undefined) return null;
    // While PostgreSQL is away nothing is known to have changed.
    const isAlive = this.lookedMs - sign.sinceMs <= sharedStoreLimits.leaseMs;
    return { isAlive, atMs: sign.atMs };
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
    await client.query(forgetStatement);
    let known = '';
    while (!this.closed) {
      const { rows } = await client.query<Look>(lookStatement, [this.ownId]);
      this.failure = '';
      this.onReached();
      const { seq = '', lease = '', others = null } = rows[0] ?? {};
      this.hear(others ?? {});
      if (seq !== known) this.listener();
      known = seq;
      await this.renew(client, lease ?? '');
      await this.pause(sharedStoreLimits.pollMs);
    }
    // Another one need not wait until the lease is over.
    await client.query('DELETE FROM waf.leases WHERE holder = $1', [this.ownId]);
  }

  private hear(marks: Readonly<Record<string, string>>): void {
    this.lookedMs = performance.now();
    const news = (mark: string): Sign => ({ mark, sinceMs: this.lookedMs, atMs: Date.now() });
    const others = Object.entries(marks).map(([id, mark]) => {
      const before = this.others.get(id);
      return [id, before?.mark === mark ? before : news(mark)] as const;
    });
    this.others = new Map(others);
  }

  /**
   * Renews our lease, or takes another's that was not renewed for its whole time. That time is
   * measured here: the clock of the server may jump, or be another one after a failover.
   */
  private async renew(client: Client, lease: string): Promise<void> {
    const askedMs = performance.now();
    if (lease !== this.lease) this.leaseSinceMs = askedMs;
    this.lease = lease;
    const isOver = askedMs - this.leaseSinceMs > sharedStoreLimits.leaseMs;
    const { rowCount } = await client.query(leaseStatement, [this.ownId, isOver ? lease : '']);
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

/** A sign of life of a controller, and when it was new; on the clock that only goes forward. */
interface Sign {
  readonly mark: string;
  readonly sinceMs: number;
  readonly atMs: number;
}

interface Look {
  readonly seq: string;
  readonly lease: string | null;
  readonly others: Readonly<Record<string, string>> | null;
}

/** Tells one renewal of a lease from all others. */
const leaseMark = "leases.holder || ' ' || extract(epoch FROM leases.until)";

/** A controller that is alive renews a row of its own, under its id. */
const lookStatement = `
  WITH sign AS (
    INSERT INTO waf.leases (duty, holder, until)
    VALUES ('alive ' || $1::text, $1, clock_timestamp())
    ON CONFLICT (duty) DO UPDATE SET until = excluded.until)
  SELECT seq,
    (SELECT ${leaseMark} FROM waf.leases WHERE duty = 'all') AS lease,
    (SELECT json_object_agg(holder, until) FROM waf.leases
      WHERE duty LIKE 'alive %' AND holder <> $1::text) AS others
  FROM waf.head`;

/** Rows of controllers that were killed long ago. */
const forgetStatement = `
  DELETE FROM waf.leases WHERE duty LIKE 'alive %' AND until < now() - interval '1 day'`;

/** Takes the lease where it is nobody's, ours, or as it is named; else gives no row. */
const leaseStatement = `
  INSERT INTO waf.leases (duty, holder, until)
  VALUES ('all', $1, clock_timestamp() + interval '${sharedStoreLimits.leaseMs} milliseconds')
  ON CONFLICT (duty) DO UPDATE SET holder = excluded.holder, until = excluded.until
  WHERE leases.holder = excluded.holder OR ${leaseMark} = $2
  RETURNING holder`;

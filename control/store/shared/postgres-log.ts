/**
 * The shared log in PostgreSQL: `waf.log` has the latest entries, `waf.state` the whole state at
 * the head, `waf.head` the one row whose lock orders appends. All content is sealed.
 */

import { randomUUID } from 'node:crypto';
import type { Client, QueryResult } from 'pg';
import { AppError } from '../../../base/errors.ts';
import { sharedStoreLimits } from '../../limits/store-limits.ts';
import { connectPostgres, isOutage, reasonOf, type PostgresRow } from './postgres-connection.ts';
import type { StoreAddress } from './store-option.ts';
import { StoreSeal } from './store-seal.ts';
import { PostgresWatch } from './postgres-watch.ts';
import type { DraftValue } from '../draft.ts';
import {
  diverged,
  type Controllers,
  type HeldLog,
  type LogEntry,
  type LogPlace,
  type LogSnapshot,
  type WriteLog,
  type WriteSet,
} from './write-log.ts';

/** How the key of a store comes to be known. */
export interface KeySource {
  /** The key that is there; null for none. Errors: AppError bad_store_key. */
  read(): Buffer | null;
  /** Makes one, for a store that nobody has used yet. */
  make(): Buffer;
}

/**
 * Opens the log; makes its tables in a database that has none. Errors: AppError store_away,
 * store_newer, store_key_needed.
 */
export async function openPostgresLog(address: StoreAddress, keys: KeySource): Promise<WriteLog> {
  const client = await connectPostgres(address);
  try {
    const { storeId, seal } = await prepare(client, keys);
    return new PostgresLog(address, storeId, seal, client);
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error instanceof AppError ? error : away(error, 'no');
  }
}

/** Tables of layout 1. Bytes are not compressed: sealed ones cannot be. */
const tables = `
  CREATE SCHEMA IF NOT EXISTS waf;
  CREATE TABLE IF NOT EXISTS waf.head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    layout int NOT NULL,
    store_id text NOT NULL,
    key_fingerprint bytea NOT NULL,
    seq bigint NOT NULL,
    id text NOT NULL);
  CREATE TABLE IF NOT EXISTS waf.log (
    seq bigint PRIMARY KEY,
    id text UNIQUE NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    sealed bytea NOT NULL);
  CREATE TABLE IF NOT EXISTS waf.state (
    name bytea PRIMARY KEY,
    sealed bytea NOT NULL);
  CREATE TABLE IF NOT EXISTS waf.leases (
    duty text PRIMARY KEY,
    holder text NOT NULL,
    until timestamptz NOT NULL);
  ALTER TABLE waf.log ALTER COLUMN sealed SET STORAGE EXTERNAL;
  ALTER TABLE waf.state ALTER COLUMN sealed SET STORAGE EXTERNAL`;
const layout = 1;
/** Any number of ours: controllers that start together make the tables one after the other. */
const tablesLock = 7_206_401;

interface Prepared {
  readonly storeId: string;
  readonly seal: StoreSeal;
}

async function prepare(client: Client, keys: KeySource): Promise<Prepared> {
  await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${tablesLock})`);
  const known = await client.query<{ there: boolean }>(
    "SELECT to_regclass('waf.head') IS NOT NULL AS there",
  );
  // Who may only use the tables may not be allowed to make any.
  if (known.rows[0]?.there !== true) await client.query(tables);
  const { rows } = await client.query<PostgresRow>(
    'SELECT layout, store_id, key_fingerprint FROM waf.head',
  );
  const row = rows[0];
  const prepared = row === undefined ? await begin(client, keys) : join(row, keys);
  await client.query('COMMIT');
  return prepared;
}

async function begin(client: Client, keys: KeySource): Promise<Prepared> {
  const storeId = randomUUID();
  const seal = new StoreSeal(keys.read() ?? keys.make(), storeId);
  await client.query(
    `INSERT INTO waf.head (layout, store_id, key_fingerprint, seq, id)
     VALUES ($1, $2, $3, 0, '')`,
    [layout, storeId, seal.fingerprint],
  );
  return { storeId, seal };
}

function join(row: PostgresRow, keys: KeySource): Prepared {
  if (row.layout !== layout) {
    const message = `the shared store has layout ${String(row.layout)}, this version reads ${layout}`;
    throw new AppError('store_newer', message, { source: 'config' });
  }
  const key = keys.read();
  const storeId = String(row.store_id);
  const seal = key === null ? null : new StoreSeal(key, storeId);
  if (seal?.fingerprint.equals(row.key_fingerprint as Buffer) === true) return { storeId, seal };
  const which = key === null ? 'there is no key here' : 'the key here is of another store';
  throw new AppError(
    'store_key_needed',
    `the shared store is encrypted, and ${which}: copy store-key from the data folder of a ` +
      'controller that uses it into this one, or name it with WAF_STORE_KEY_FILE',
    { source: 'config' },
  );
}

/**
 * An append wants READ COMMITTED, whatever the database's default is: whoever waited for the lock
 * of the only row of `head` then sees every append before it, and none comes until the commit; a
 * stricter level would fail instead. A commit that PostgreSQL confirms before it is on disk would
 * be lost with the server.
 */
const beginnings = {
  append: `
    BEGIN ISOLATION LEVEL READ COMMITTED;
    SELECT set_config('synchronous_commit', 'on', true)
    WHERE current_setting('synchronous_commit') = 'off';
    SELECT seq, id FROM waf.head FOR UPDATE`,
  read: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT seq, id FROM waf.head',
} as const;

class PostgresLog implements WriteLog {
  readonly storeId: string;
  private readonly address: StoreAddress;
  private readonly seal: StoreSeal;
  private readonly news: PostgresWatch;
  private client: Client | null;
  private failure = '';

  constructor(address: StoreAddress, storeId: string, seal: StoreSeal, client: Client) {
    this.address = address;
    this.storeId = storeId;
    this.seal = seal;
    this.client = client;
    client.on('error', () => this.drop());
    this.news = new PostgresWatch(address, () => (this.failure = ''));
  }

  problem(): string {
    return this.failure === '' ? this.news.problem() : this.failure;
  }

  watch(listener: () => void): void {
    this.news.start(listener);
  }

  get controllers(): Controllers {
    return this.news;
  }

  holdsDuties(): boolean {
    return this.news.holdsDuties();
  }

  async hold<T>(use: 'read' | 'append', work: (held: HeldLog) => Promise<T>): Promise<T> {
    let asked = false;
    try {
      const client = await this.open();
      const answers = (await client.query(
        beginnings[use],
      )) as unknown as QueryResult<PostgresRow>[];
      const head = answers.at(-1)?.rows[0];
      if (head === undefined) throw emptied();
      const result = await work(new Held(client, this.seal, placeOf(head)));
      asked = use === 'append';
      const { command } = await client.query('COMMIT');
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
      this.failure = '';
      return result;
    } catch (error) {
      // Its end also ends the transaction.
      this.drop();
      if (!isOutage(error)) throw error;
      this.failure = reasonOf(error);
      throw away(error, asked ? 'unknown' : 'no');
    }
  }

  async close(): Promise<void> {
    await this.news.close();
    const { client } = this;
    this.client = null;
    await client?.end().catch(() => undefined);
  }

  private async open(): Promise<Client> {
    if (this.client !== null) return this.client;
    const client = await connectPostgres(this.address);
    client.on('error', () => this.drop());
    this.client = client;
    return client;
  }

  private drop(): void {
    const { client } = this;
    this.client = null;
    // Not `end`, which would wait for a peer that may be gone.
    client?.connection.stream.destroy();
  }
}

/** The log within one transaction. */
class Held implements HeldLog {
  readonly head: LogPlace;
  private readonly client: Client;
  private readonly seal: StoreSeal;

  constructor(client: Client, seal: StoreSeal, head: LogPlace) {
    this.client = client;
    this.seal = seal;
    this.head = head;
  }

  async entriesAfter(place: LogPlace): Promise<readonly LogEntry[] | null> {
    if (place.seq > this.head.seq) throw diverged();
    const { rows } = await this.client.query<PostgresRow>(
      'SELECT seq, id, sealed FROM waf.log WHERE seq >= $1 ORDER BY seq LIMIT $2',
      [place.seq, sharedStoreLimits.entriesPerReadMax + 1],
    );
    const first = rows[0];
    const known = first !== undefined && Number(first.seq) === place.seq;
    if (known && first.id !== place.id) throw diverged();
    // Before the first entry there is nothing that could be checked.
    if (!known && (place.seq > 0 || Number(first?.seq ?? 0) !== 1)) return null;
    return (known ? rows.slice(1) : rows).map((row) => {
      const { seq, id } = placeOf(row);
      return { seq, id, changes: this.seal.openEntry(seq, row.sealed as Buffer) };
    });
  }

  async snapshot(): Promise<LogSnapshot> {
    const changes = new Map<string, DraftValue>();
    let last = Buffer.alloc(0);
    for (;;) {
      const { rows } = await this.client.query<{ name: Buffer; sealed: Buffer }>(
        'SELECT name, sealed FROM waf.state WHERE name > $1 ORDER BY name LIMIT $2',
        [last, sharedStoreLimits.rowsPerReadMax],
      );
      for (const { name, sealed } of rows) {
        for (const [key, value] of this.seal.openRow(name, sealed)) changes.set(key, value);
      }
      const end = rows.at(-1);
      if (end === undefined) return { ...this.head, changes };
      last = Buffer.from(end.name);
    }
  }

  async has(id: string): Promise<boolean> {
    const { rowCount } = await this.client.query('SELECT 1 FROM waf.log WHERE id = $1', [id]);
    return (rowCount ?? 0) > 0;
  }

  async append(id: string, changes: WriteSet): Promise<void> {
    const seq = this.head.seq + 1;
    const gone: Buffer[] = [];
    const names: Buffer[] = [];
    const rows: Buffer[] = [];
    for (const [key, value] of changes) {
      const name = this.seal.nameOf(key);
      if (value === null) {
        gone.push(name);
        continue;
      }
      names.push(name);
      rows.push(this.seal.sealRow(name, key, value));
    }
    await this.client.query(appendStatement, [
      ...[seq, id, this.seal.sealEntry(seq, changes)],
      ...[gone, names, rows, seq - sharedStoreLimits.entriesKept],
    ]);
  }
}

/** One statement, so that an append costs one turn; the notice goes out with the commit. */
const appendStatement = `
  WITH entry AS (INSERT INTO waf.log (seq, id, sealed) VALUES ($1, $2, $3)),
    head AS (UPDATE waf.head SET seq = $1, id = $2),
    removed AS (DELETE FROM waf.state WHERE name = ANY ($4::bytea[])),
    written AS (
      INSERT INTO waf.state (name, sealed) SELECT * FROM unnest($5::bytea[], $6::bytea[])
      ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed),
    old AS (DELETE FROM waf.log WHERE seq <= $7)
  SELECT pg_notify('waf_log', '')`;

function placeOf(row: PostgresRow): LogPlace {
  return { seq: Number(row.seq), id: String(row.id) };
}

function away(cause: unknown, outcome: 'no' | 'unknown'): AppError {
  const reason = reasonOf(cause);
  const message =
    outcome === 'no'
      ? `the shared store cannot be reached (${reason}): nothing was changed; try again`
      : `the shared store did not confirm the change (${reason}): look whether it was made`;
  const code = outcome === 'no' ? 'store_away' : 'store_unconfirmed';
  return new AppError(code, message, { source: 'storage', retryable: true, cause });
}

function emptied(): AppError {
  const message = 'the shared store was emptied by others: restore it, then start again';
  return new AppError('store_diverged', message, { source: 'storage' });
}

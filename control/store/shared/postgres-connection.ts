/** One connection to PostgreSQL, with a bound on everything that could be waited for. */

import type { Client } from 'pg';
import { AppError } from '../../../base/errors.ts';
import { sharedStoreLimits } from '../../limits/store-limits.ts';
import type { StoreAddress } from './store-option.ts';

/** A row of an answer. */
export type PostgresRow = Readonly<Record<string, unknown>>;

/** Connects. Errors: AppError store_away with the server's reason. */
export async function connectPostgres(address: StoreAddress): Promise<Client> {
  // Loaded by those who use it only.
  const { default: pg } = await import('pg');
  const { host, port, user, password, database, tls } = address;
  const client = new pg.Client({
    ...{ host, port, user, password, database },
    ssl: tls === 'off' ? false : tls.authority === '' ? true : { ca: tls.authority },
    application_name: 'waf',
    connectionTimeoutMillis: sharedStoreLimits.connectMs,
    // Ours ends a wait for a peer that is gone; the server's end the transactions of such a peer.
    query_timeout: sharedStoreLimits.queryMs,
    statement_timeout: sharedStoreLimits.statementMs,
    lock_timeout: sharedStoreLimits.lockMs,
    idle_in_transaction_session_timeout: sharedStoreLimits.idleInTransactionMs,
    keepAlive: true,
  });
  // An error while nothing is asked; every question fails with it, too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (cause) {
    client.connection?.stream.destroy();
    throw unreachable(cause);
  }
}

/** The error where PostgreSQL, or the way to it, failed. */
export function unreachable(cause: unknown): AppError {
  const message = `the shared store cannot be reached (${reasonOf(cause)})`;
  return new AppError('store_away', message, { source: 'storage', retryable: true, cause });
}

/** Whether an error is PostgreSQL's or the network's, not ours. */
export function isOutage(error: unknown): boolean {
  return !(error instanceof AppError) || error.code === 'store_away';
}

/** Classes of SQLSTATE whose text names nothing but the state of the server or the account. */
const sayable = /^(08|28|3D|53|55|57|25006|42501)/;

/** Why PostgreSQL did not do it, in words that hold no data. */
export function reasonOf(error: unknown): string {
  if (error instanceof AppError)
    return error.cause === undefined ? error.code : reasonOf(error.cause);
  if (!(error instanceof Error)) return 'unknown';
  const { code = '' } = error as NodeJS.ErrnoException;
  if (/^[A-Z0-9]{5}$/.test(code)) return sayable.test(code) ? error.message : `SQLSTATE ${code}`;
  if (code !== '') return code;
  return /timeout/i.test(error.message) ? 'no answer in time' : 'the connection was lost';
}

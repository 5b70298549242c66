/**
 * The connection to ClickHouse through its official client, which is loaded with the first
 * statement. Its errors never carry statements: they hold what clients of the proxy sent.
 */

import type { ClickHouseClient } from '@clickhouse/client';
import { AppError } from '../../../base/errors.ts';
import { withinTime } from '../../../base/time-limit.ts';
import { clickhouseLimits } from '../../limits/clickhouse-limits.ts';
import type { ClickhouseAddress } from './clickhouse-option.ts';

/** One row of an answer; whole numbers of 64 bits may be texts. */
export type AnswerRow = Readonly<Record<string, unknown>>;

/** A server, or a cluster of them. */
export class ClickhouseServer {
  readonly #address: ClickhouseAddress;
  #client: Promise<ClickHouseClient> | null = null;

  constructor(address: ClickhouseAddress) {
    this.#address = address;
  }

  /** Rows of a SELECT. Errors: AppError events_unreadable; that of `signal`. */
  async rows(statement: string, signal?: AbortSignal): Promise<readonly AnswerRow[]> {
    const bytes = await this.bytes(statement, 'JSONEachRow', signal);
    const lines = bytes.toString('utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AnswerRow);
  }

  /** The answer to a SELECT in a format. Errors: as `rows`. */
  async bytes(statement: string, format: string, signal?: AbortSignal): Promise<Buffer> {
    const query = `${statement} FORMAT ${format}`;
    if (query.length > clickhouseLimits.statementBytesMax) {
      throw new AppError('resource_exhausted', 'the filter is too long: give fewer values', {
        source: 'client',
      });
    }
    try {
      return await withinTime(clickhouseLimits.questionTimeoutMs, [signal], async (either) => {
        const client = await this.#open();
        const { stream } = await client.exec({ query, abort_signal: either });
        return await collect(stream, either);
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw unreadable(error);
    }
  }

  /** The version of the server. Errors: AppError events_unwritable: its tables depend on it. */
  async version(): Promise<string> {
    try {
      return await withinTime(clickhouseLimits.questionTimeoutMs, [], async (signal) => {
        const client = await this.#open();
        const { stream } = await client.exec({ query: 'SELECT version()', abort_signal: signal });
        return (await collect(stream, signal)).toString('utf8').trim();
      });
    } catch (error) {
      throw unwritable(error);
    }
  }

  /** Adds rows in RowBinary form; resolves when the server has them. Errors: events_unwritable. */
  async insert(table: string, rows: Buffer): Promise<void> {
    const { Readable } = await import('node:stream');
    try {
      await withinTime(clickhouseLimits.insertTimeoutMs, [], async (signal) => {
        const client = await this.#open();
        const { stream } = await client.exec({
          query: `INSERT INTO ${table} FORMAT RowBinary`,
          values: Readable.from([rows], { objectMode: false }),
          abort_signal: signal,
          // Distributed tables confirm when the servers that they stand for have the rows.
          clickhouse_settings: { insert_distributed_sync: 1 },
        });
        await collect(stream);
      });
    } catch (error) {
      throw unwritable(error);
    }
  }

  /** Changes tables. Errors: AppError events_unwritable. */
  async command(statement: string): Promise<void> {
    try {
      await withinTime(clickhouseLimits.changeTimeoutMs, [], async (signal) => {
        const client = await this.#open();
        await client.command({ query: statement, abort_signal: signal });
      });
    } catch (error) {
      throw unwritable(error);
    }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => null);
    await client?.close();
  }

  #open(): Promise<ClickHouseClient> {
    return (this.#client ??= connect(this.#address));
  }
}

async function connect({ url, user, password }: ClickhouseAddress): Promise<ClickHouseClient> {
  const { createClient, ClickHouseLogLevel } = await import('@clickhouse/client');
  return createClient({
    ...{ url, username: user, password, application: 'waf' },
    max_open_connections: clickhouseLimits.connectionsMax,
    request_timeout: clickhouseLimits.changeTimeoutMs,
    // What it would log holds statements.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      // An error in the middle of an answer would look like its end.
      wait_end_of_query: 1,
      max_query_size: String(clickhouseLimits.statementBytesMax),
    },
  });
}

async function collect(stream: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream) {
    signal?.throwIfAborted();
    size += piece.length;
    if (size > clickhouseLimits.answerBytesMax) throw new Error('the answer is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function unreadable(cause: unknown): AppError {
  const message = `ClickHouse does not answer: ${reasonOf(cause)}`;
  return new AppError('events_unreadable', message, { source: 'storage', retryable: true });
}

/** An error with a code of the server is `events_refused`: the server wants no such rows. */
function unwritable(cause: unknown): AppError {
  const answered = /^\d+$/.test(codeOf(cause));
  const message = `ClickHouse takes no events: ${reasonOf(cause)}`;
  const options = { source: 'storage', retryable: true } as const;
  return new AppError(answered ? 'events_refused' : 'events_unwritable', message, options);
}

/** The code of an error of the server or of the system; its text may hold values of events. */
function reasonOf(error: unknown): string {
  const { type, name } = error as { type?: unknown; name?: unknown };
  if (name === 'AbortError' || name === 'TimeoutError') return 'no answer in time';
  const code = codeOf(error);
  if (code === '') return 'it cannot be reached, or did not answer in time';
  return typeof type === 'string' && type !== '' ? `error ${code} (${type})` : `error ${code}`;
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

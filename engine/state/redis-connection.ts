/**
 * One connection to Redis, by its own client. Commands go out together and are answered together
 * within a deadline, or the connection has failed and is closed; it never connects again by itself,
 * and holds no queue.
 */

import { isIP } from 'node:net';
import { AppError } from '../../base/errors.ts';
import { rateExchangeLimits } from '../../base/guard-limits.ts';
import type { RedisAddress } from '../contract/rate-limit.ts';

const { deadlineMs } = rateExchangeLimits;

/** What Redis answers. */
export type RedisReply = string | number | null | readonly RedisReply[];

type Client = Awaited<ReturnType<typeof makeClient>>;

/** See the header. */
export class RedisConnection {
  private readonly client: Client;
  private failed = false;

  private constructor(client: Client) {
    this.client = client;
    client.on('error', () => this.close());
    client.unref();
  }

  /** Connects and signs in. Errors: `redis_unavailable`, `redis_refused`. */
  static async open(address: RedisAddress): Promise<RedisConnection> {
    const connection = new RedisConnection(await makeClient(address));
    await connection.inTime(connection.client.connect());
    return connection;
  }

  get alive(): boolean {
    return !this.failed && this.client.isReady;
  }

  /**
   * Sends commands and waits for their answers. Errors: `redis_unavailable`, `redis_refused`; the
   * connection is closed after either.
   */
  send(commands: readonly (readonly string[])[]): Promise<readonly RedisReply[]> {
    const replies = commands.map((words) => this.client.sendCommand<RedisReply>(words));
    return this.inTime(Promise.all(replies));
  }

  close(): void {
    this.failed = true;
    if (this.client.isOpen) this.client.destroy();
  }

  private async inTime<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(unavailable('Redis did not answer in time')), deadlineMs);
    });
    try {
      return await Promise.race([work, late]);
    } catch (thrown) {
      this.close();
      throw thrown instanceof AppError ? thrown : await failureOf(thrown);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The client is loaded by engines that use it only: 21 MB, a quarter of a second. */
async function makeClient({ host, port, tls, user, password, database }: RedisAddress) {
  const { createClient } = await import('@redis/client');
  const tcp = { host, port, reconnectStrategy: false, connectTimeout: deadlineMs } as const;
  const named = isIP(host) === 0 ? { servername: host } : {};
  return createClient({
    RESP: 2,
    socket: tls ? { ...tcp, ...named, tls } : tcp,
    ...(user === '' ? {} : { username: user }),
    password,
    database,
    disableOfflineQueue: true,
    disableClientInfo: true,
  });
}

/** What Redis says may hold the words of a command; its first word is its code. */
async function failureOf(thrown: unknown): Promise<AppError> {
  const { ErrorReply } = await import('@redis/client');
  if (!(thrown instanceof ErrorReply)) return unavailable('the connection failed', thrown);
  const code = /^[A-Z]{1,32}/.exec(thrown.message)?.[0] ?? 'ERR';
  return new AppError('redis_refused', `Redis refused a command (${code})`, { source: 'upstream' });
}

function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('redis_unavailable', message, { source: 'upstream', retryable: true, cause });
}

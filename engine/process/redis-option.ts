/** The reading of the address of Redis, from the environment only: it holds a password. */

import { createHash } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { rateExchangeLimits } from '../../base/guard-limits.ts';
import type { HashKey } from '../base/half-sip-hash.ts';
import type { RedisAddress } from '../contract/rate-limit.ts';

/** The variable that names it. */
export const redisVariable = 'WAF_RATE_LIMIT_REDIS';

/** Reads `redis[s]://[USER]:PASSWORD@HOST[:PORT][/DATABASE]`. Errors: `bad_option`. */
export function readRedisOption(text: string): RedisAddress | null {
  if (text === '') return null;
  const readable = text.length <= rateExchangeLimits.urlBytesMax && URL.canParse(text);
  const url = readable ? new URL(text) : null;
  const database = /^\/?(\d{0,4})$/.exec(url?.pathname ?? 'none')?.[1];
  const known = url?.protocol === 'redis:' || url?.protocol === 'rediss:';
  if (url === null || !known || url.hostname === '' || database === undefined || url.search) {
    throw bad('takes redis://[USER]:PASSWORD@HOST[:PORT][/DATABASE], rediss:// for TLS');
  }
  if (url.password === '') {
    throw bad('needs a password: it also keeps the keys of counts from being guessed');
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    tls: url.protocol === 'rediss:',
    user: plain(url.username),
    password: plain(url.password),
    database: Number(database || 0),
  };
}

/** The key of hashes of all nodes that share this Redis. */
export function sharedSeed({ password }: RedisAddress): HashKey {
  const bytes = createHash('sha256').update(`waf rate limits\n${password}`).digest();
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)];
}

function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    const message = `${redisVariable} holds a percent sign that is not followed by two hex digits`;
    throw new AppError('bad_option', message, { source: 'config', cause });
  }
}

function bad(what: string): AppError {
  return new AppError('bad_option', `${redisVariable} ${what}`, { source: 'config' });
}

/**
 * The reading of the address of ClickHouse, from the environment only: it holds a password. Special
 * addresses are not refused: who sets the environment owns the host. Pure.
 */

import { AppError } from '../../../base/errors.ts';
import { clickhouseLimits } from '../../limits/clickhouse-limits.ts';

/** Where events are kept. */
export interface ClickhouseAddress {
  /** Scheme, host and port. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Name of a cluster of the server's configuration; '' for one server. */
  readonly cluster: string;
}

/** The variable that names it. */
export const clickhouseVariable = 'WAF_EVENTS_CLICKHOUSE';

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/**
 * Reads `http[s]://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?cluster=NAME]`; null for ''.
 * Errors: `bad_option`, without what the variable holds.
 */
export function readClickhouseOption(text: string): ClickhouseAddress | null {
  if (text === '') return null;
  const readable = text.length <= clickhouseLimits.variableCharactersMax && URL.canParse(text);
  const url = readable ? new URL(text) : null;
  const known = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url === null || !known || url.username === '' || url.hash !== '') {
    throw bad('takes http[s]://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?cluster=NAME]');
  }
  const database = url.pathname.slice(1);
  const cluster = url.searchParams.get('cluster') ?? '';
  if (!namePattern.test(database)) {
    throw bad('names a database: letters, digits and _, 64 at most, no digit first');
  }
  if ([...url.searchParams.keys()].some((key) => key !== 'cluster')) {
    throw bad('takes no parameter but cluster');
  }
  if (cluster !== '' && !namePattern.test(cluster)) {
    throw bad('names a cluster: letters, digits and _, 64 at most, no digit first');
  }
  const [user, password] = [plain(url.username), plain(url.password)];
  return { url: url.origin, user, password, database, cluster };
}

function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    const what = 'holds a percent sign that is not followed by two hex digits';
    throw new AppError('bad_option', `${clickhouseVariable} ${what}`, { source: 'config', cause });
  }
}

function bad(what: string): AppError {
  return new AppError('bad_option', `${clickhouseVariable} ${what}`, { source: 'config' });
}

/**
 * The reading of where the store lies: here, or in a PostgreSQL that several controllers share. The
 * address holds a password and is never shown.
 */

import { readFileSync } from 'node:fs';
import { AppError } from '../../../base/errors.ts';
import { sharedStoreLimits } from '../../limits/store-limits.ts';

/** The variable that holds the address; with a password in it, too. */
export const storeVariable = 'WAF_STORE';

/** Where a shared store is. */
export interface StoreAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** '' where the server asks for none, or a file of PostgreSQL's own holds it. */
  readonly password: string;
  readonly database: string;
  /** Authority in PEM that the server's certificate is checked with; '' for the system's. */
  readonly tls: 'off' | { readonly authority: string };
}

const form = 'postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?sslmode=…&sslrootcert=FILE]';
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/;

/**
 * Reads an address; null for '' and `embedded`. `from` names the place that holds it. TLS with a
 * checked certificate is the rule but on loopback; `sslmode=disable` turns it off. Errors:
 * AppError bad_option, without what the address holds.
 */
export function readStoreAddress(text: string, from: string): StoreAddress | null {
  if (text === '' || text === 'embedded') return null;
  const bad = (what: string): AppError =>
    new AppError('bad_option', `${from} ${what}`, { source: 'config' });
  const readable = text.length <= sharedStoreLimits.addressCharactersMax && URL.canParse(text);
  const url = readable ? new URL(text) : null;
  const known = url?.protocol === 'postgres:' || url?.protocol === 'postgresql:';
  if (url === null || !known || url.hostname === '' || url.username === '' || url.hash !== '') {
    throw bad(`takes embedded or ${form}`);
  }
  const plain = (part: string): string => {
    try {
      return decodeURIComponent(part);
    } catch {
      throw bad('holds a percent sign that is not followed by two hex digits');
    }
  };
  const database = plain(url.pathname.slice(1));
  if (database === '' || database.includes('/')) throw bad(`names one database: ${form}`);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  for (const name of url.searchParams.keys()) {
    if (name !== 'sslmode' && name !== 'sslrootcert') {
      throw bad('takes no parameter but sslmode and sslrootcert');
    }
  }
  const mode = url.searchParams.get('sslmode') ?? (loopback.test(host) ? 'disable' : 'verify-full');
  if (mode !== 'disable' && mode !== 'verify-full') {
    throw bad('takes sslmode verify-full or disable: others do not check who answers');
  }
  const authorityFile = url.searchParams.get('sslrootcert') ?? '';
  if (authorityFile !== '' && mode === 'disable') {
    throw bad('names sslrootcert, which needs sslmode=verify-full');
  }
  return {
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    user: plain(url.username),
    password: plain(url.password),
    database,
    tls: mode === 'disable' ? 'off' : { authority: readAuthority(authorityFile, bad) },
  };
}

/**
 * What `--store` says, as the variable holds it: an address, or what a file holds whose absolute
 * path it is. Errors: AppError bad_option, for a password that all users of the host could see.
 */
export function storeAddressText(option: string): string {
  if (option.startsWith('/')) {
    try {
      return readFileSync(option, 'utf8').trim();
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      const message = `--store names a file that cannot be read (${code})`;
      throw new AppError('bad_option', message, { source: 'config', cause: error });
    }
  }
  readStoreAddress(option, '--store');
  if (option.startsWith('postgres') && new URL(option).password !== '') {
    const message =
      '--store shows its password in the list of processes: ' +
      `put the address into ${storeVariable}, or into a file that --store names by its path`;
    throw new AppError('bad_option', message, { source: 'config' });
  }
  return option;
}

function readAuthority(file: string, bad: (what: string) => AppError): string {
  if (file === '') return '';
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw bad(`names sslrootcert, a file that cannot be read (${code})`);
  }
}

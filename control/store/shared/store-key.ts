/**
 * Keeps the key of a shared store in a file with mode 0600: the first controller makes it, every
 * other one is given a copy by the operator. It never lies in the database.
 */

import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { AppError } from '../../../base/errors.ts';

/** Usual name of the file, in the data folder. */
export const storeKeyFile = 'store-key';

/** The variable that names another file. */
export const storeKeyVariable = 'WAF_STORE_KEY_FILE';

const keyPattern = /^[0-9a-f]{64}\n?$/;

/** The key in a file; null when there is no file. Errors: AppError bad_store_key. */
export function readStoreKey(file: string): Buffer | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw badKey(`${file} cannot be read (${code})`, cause);
  }
  if (!keyPattern.test(text)) throw badKey(`${file} holds no key: 64 hexadecimal digits`);
  return Buffer.from(text.trim(), 'hex');
}

/** Makes a new key in a file that is not there. Errors: AppError bad_store_key. */
export function makeStoreKey(file: string): Buffer {
  const key = randomBytes(32);
  try {
    writeFileSync(file, `${key.toString('hex')}\n`, { flag: 'wx', mode: 0o600, flush: true });
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw badKey(`${file} cannot be written (${code})`, cause);
  }
  return key;
}

function badKey(what: string, cause?: unknown): AppError {
  const message = `the key of the shared store: ${what}`;
  return new AppError('bad_store_key', message, { source: 'config', cause });
}

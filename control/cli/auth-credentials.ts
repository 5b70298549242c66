/**
 * The file with the sessions of `waf auth login`: one for each API, readable by its owner only,
 * replaced as a whole. Never talks to an API.
 */

import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { commandLineLimits } from '../limits/command-limits.ts';
import { makeFolder } from '../../base/make-folder.ts';

/** A session at one API. */
export interface StoredSession {
  readonly username: string;
  readonly accessToken: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  /** Value of the refresh cookie; each is good for one use. '' for an API token. */
  readonly refreshToken: string;
}

type Sessions = Readonly<Record<string, StoredSession>>;

/** The session at an API; undefined where nobody signed in. Errors: AppError bad_credentials. */
export function readSession(file: string, api: string): StoredSession | undefined {
  const sessions = readSessions(file);
  return Object.hasOwn(sessions, api) ? sessions[api] : undefined;
}

/** Keeps a session, or forgets it; an empty file is removed. Errors: AppError bad_credentials. */
export function writeSession(file: string, api: string, session: StoredSession | null): void {
  const { [api]: _before, ...others } = readSessions(file);
  const sessions: Sessions = session === null ? others : { ...others, [api]: session };
  if (Object.keys(sessions).length === 0) {
    rmSync(file, { force: true });
    return;
  }
  makeFolderOf(file);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify({ sessions }, null, 2)}\n`, { mode: 0o600 });
  chmodSync(fresh, 0o600);
  renameSync(fresh, file);
}

/** Runs `work` while no other command of this person changes the file. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`;
  makeFolderOf(file);
  const { lockStaleMs, lockPollMs } = commandLineLimits;
  for (const began = Date.now(); !take(lock);) {
    if (Date.now() - began > lockStaleMs) rmSync(lock, { force: true });
    await new Promise((resolve) => setTimeout(resolve, lockPollMs));
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw badCredentials(`${lock} cannot be written`);
  }
}

function readSessions(file: string): Sessions {
  let text: string;
  try {
    const { mode, size } = statSync(file);
    if ((mode & 0o077) !== 0) {
      throw badCredentials(`${file} can be read by others: chmod 600 it, or sign in again`);
    }
    if (size > commandLineLimits.credentialsBytesMax) throw badCredentials(`${file} is too long`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error instanceof AppError ? error : badCredentials(`${file} cannot be read`);
  }
  try {
    const { sessions } = JSON.parse(text) as { sessions?: unknown };
    if (typeof sessions === 'object' && sessions !== null) return sessions as Sessions;
  } catch {
    // Said below.
  }
  throw badCredentials(`${file} is damaged: remove it and sign in again`);
}

function badCredentials(message: string): AppError {
  return new AppError('bad_credentials', message, { source: 'config' });
}

function makeFolderOf(file: string): void {
  const folder = dirname(file);
  try {
    makeFolder(folder);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const message =
      `sessions are kept below ${folder}, which cannot be made (${code}); ` +
      'WAF_CREDENTIALS names another file, --token needs none';
    throw new AppError('bad_credentials', message, { source: 'config', cause });
  }
}

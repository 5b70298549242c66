/**
 * Keeps the keys that evidence is encrypted with, in a file of its own with mode 0600: never in the
 * folder of the evidence, so that a copy of that folder shows nothing. A new key is taken every 30
 * days; earlier ones stay as long as evidence may be kept.
 */

import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { isAbsolute } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { evidenceKeyLimits } from '../../limits/observation-limits.ts';

/** One key of AES-256. */
export interface EvidenceKey {
  /** Eight hexadecimal digits; stands beside everything that it encrypted. */
  readonly id: string;
  readonly key: Buffer;
  readonly createdAtMs: number;
}

/** The keys of an installation. */
export interface EvidenceKeys {
  /** What new evidence is encrypted with. */
  current(): EvidenceKey;
  /** Null for a key that is not there any more. */
  find(id: string): EvidenceKey | null;
  /** All of them, the newest last; `keptUntilMs` is null for the current one. */
  list(): readonly (EvidenceKey & { readonly keptUntilMs: number | null })[];
  /** Takes a new key when the current one is old; removes those that no evidence can need. */
  rotate(): void;
  /** The same at any age. Errors: `data_unwritable`; the present key then stays in use. */
  renew(): void;
}

/** The variable that names the file of keys, for one outside of the data folder. */
export const evidenceKeysVariable = 'WAF_EVIDENCE_KEYS';

/** Reads it; nothing for the usual file. Errors: `bad_option`. */
export function readEvidenceKeys(path = ''): { evidenceKeys?: string } {
  if (path === '') return {};
  if (isAbsolute(path)) return { evidenceKeys: path };
  const text = `${evidenceKeysVariable} takes an absolute path, as /etc/waf/evidence-keys.json`;
  throw new AppError('bad_option', text, { source: 'config' });
}

const { keyBytes, rotateAfterMs, keptAfterMs, keysMax } = evidenceKeyLimits;

/** Keys that end with the process. */
export function memoryEvidenceKeys(clock: Clock): EvidenceKeys {
  return new Keyring([newKey(clock.nowMs())], clock, () => undefined);
}

/**
 * Opens the keys in `file`; makes the file when there is none. A file that cannot be read as keys
 * is set aside, with a line in the log: what it encrypted is then reported as `key_missing`.
 * Errors: those of the file system.
 */
export function openEvidenceKeys(file: string, clock: Clock, logger: Logger): EvidenceKeys {
  const known = readKeys(file, logger);
  const keep = (keys: readonly EvidenceKey[]): void => {
    try {
      writeKeys(file, keys);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      throw new AppError(
        'data_unwritable',
        `cannot write the keys of evidence to ${file} (${code}); see ${evidenceKeysVariable}`,
        { source: 'config', cause: error },
      );
    }
  };
  if (known.length > 0) return new Keyring(known, clock, keep);
  const first = [newKey(clock.nowMs())];
  keep(first);
  logger.info('made the key that evidence is encrypted with', { file });
  return new Keyring(first, clock, keep);
}

class Keyring implements EvidenceKeys {
  /** The newest last. */
  private keys: readonly EvidenceKey[];
  private readonly clock: Clock;
  private readonly keep: (keys: readonly EvidenceKey[]) => void;

  constructor(
    keys: readonly EvidenceKey[],
    clock: Clock,
    keep: (keys: readonly EvidenceKey[]) => void,
  ) {
    this.keys = keys;
    this.clock = clock;
    this.keep = keep;
  }

  current(): EvidenceKey {
    return this.keys.at(-1)!;
  }

  find(id: string): EvidenceKey | null {
    return this.keys.find((one) => one.id === id) ?? null;
  }

  list(): readonly (EvidenceKey & { readonly keptUntilMs: number | null })[] {
    return this.keys.map((one, at) => {
      // A key was in use until the next one was made.
      const next = this.keys[at + 1];
      return { ...one, keptUntilMs: next === undefined ? null : next.createdAtMs + keptAfterMs };
    });
  }

  rotate(): void {
    if (this.clock.nowMs() - this.current().createdAtMs >= rotateAfterMs) this.renew();
  }

  renew(): void {
    const nowMs = this.clock.nowMs();
    const needed = this.list().filter(({ keptUntilMs }) => (keptUntilMs ?? Infinity) > nowMs);
    const keys = [...needed.slice(1 - keysMax), newKey(nowMs)];
    this.keep(keys);
    this.keys = keys;
  }
}

function newKey(nowMs: number): EvidenceKey {
  return {
    id: randomBytes(4).toString('hex'),
    key: randomBytes(keyBytes),
    createdAtMs: nowMs,
  };
}

interface KeyLine {
  readonly id?: unknown;
  readonly key?: unknown;
  readonly createdAt?: unknown;
}

function readKeys(file: string, logger: Logger): EvidenceKey[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const keys = parseKeys(text);
  if (keys === null) {
    const aside = `${file}.damaged`;
    renameSync(file, aside);
    logger.error('the keys of evidence are damaged, and set aside: evidence before is unreadable', {
      file: aside,
    });
    return [];
  }
  if ((statSync(file).mode & 0o077) !== 0) {
    chmodSync(file, 0o600);
    logger.warn('others could read the keys of evidence; the file has mode 0600 now', { file });
  }
  return keys;
}

function parseKeys(text: string): EvidenceKey[] | null {
  try {
    const { keys } = JSON.parse(text) as { keys: readonly KeyLine[] };
    const read = keys.map(({ id, key, createdAt }) => ({
      id: String(id),
      key: Buffer.from(String(key), 'base64'),
      createdAtMs: Date.parse(String(createdAt)),
    }));
    const valid = read.every(
      (one) =>
        /^[0-9a-f]{8}$/.test(one.id) &&
        one.key.length === keyBytes &&
        Number.isFinite(one.createdAtMs),
    );
    return valid && read.length > 0 ? read : null;
  } catch {
    return null;
  }
}

/** The file is there whole or as before, and on disk before anything is encrypted. */
function writeKeys(file: string, keys: readonly EvidenceKey[]): void {
  const lines = keys.map(({ id, key, createdAtMs }) => ({
    id,
    key: key.toString('base64'),
    createdAt: new Date(createdAtMs).toISOString(),
  }));
  const next = `${file}.new`;
  const descriptor = openSync(next, 'w', 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify({ keys: lines }, null, 2)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(next, file);
}

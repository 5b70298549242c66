/** The bundle that a start begins with, before control says anything. */

import { readFileSync } from 'node:fs';
import { AppError, toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { BundleKeeper } from './bundle-keeper.ts';
import { readSignedBundle, type VerifiedBundle } from './signed-bundle.ts';

/** What an enrolled node believes and may serve. */
export interface NodeTrust {
  /** The only accepted signer, 32 raw bytes. */
  readonly signingKey: Uint8Array;
  readonly grants: { allowsKept(sha256: string): boolean };
}

/**
 * The bundle of `path`, else the last good one of an earlier run, else none. Errors: AppError that
 * names the file, for `path` alone; a kept bundle that cannot be used is logged.
 */
export function readFirstBundle(
  path: string | null,
  kept: BundleKeeper,
  log: Logger,
  node: NodeTrust | null = null,
): VerifiedBundle | null {
  if (path !== null) return readNamedBundle(path);
  try {
    const found = kept.load(node === null ? {} : { publicKey: node.signingKey });
    if (found === null || node === null || node.grants.allowsKept(found.sha256)) return found;
    throw new AppError('not_granted', 'no kept grant names it', { source: 'config' });
  } catch (thrown) {
    const { message } = toAppError(thrown);
    log.error('the kept bundle cannot be used; waiting for control', { reason: message });
    return null;
  }
}

/** Errors: `bundle_unreadable`, or why the file is no bundle; each names the file. */
function readNamedBundle(path: string): VerifiedBundle {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const message = `the bundle file ${path} cannot be read (${code})`;
    throw new AppError('bundle_unreadable', message, { source: 'config', cause });
  }
  try {
    return readSignedBundle(bytes);
  } catch (cause) {
    const { code, message } = toAppError(cause);
    throw new AppError(code, `${path} is no bundle that can be served: ${message}`, {
      source: 'config',
      cause,
    });
  }
}

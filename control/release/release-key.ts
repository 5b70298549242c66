/**
 * An operator's key that signs releases: an Ed25519 key in a PKCS #8 PEM file, as openssl writes
 * it, with or without a passphrase. Its number is a hash of the public key, so that one file is
 * enough.
 */

import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createReadStream, writeFileSync } from 'node:fs';
import { AppError } from '../../base/errors.ts';
import { makeSignature, publicKeyOf } from '../../base/minisign.ts';
import { releaseComment, type ReleaseFacts } from '../../base/release-facts.ts';

/** A key that was read or made. */
export interface ReleaseKey {
  /** What others trust it by: a line such as RWQ…. */
  readonly publicText: string;
  readonly number: Uint8Array;
  readonly seed: Uint8Array;
}

/** Makes a key and writes it for its owner alone. Errors: AppError key_exists. */
export function makeReleaseKey(path: string, passphrase: string): ReleaseKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  const form = { type: 'pkcs8', format: 'pem' } as const;
  const pem = privateKey.export(
    passphrase === '' ? form : { ...form, cipher: 'aes-256-cbc', passphrase },
  );
  try {
    writeFileSync(path, pem, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    const problem = exists ? 'exists: a key is never overwritten' : 'cannot be written';
    throw new AppError('bad_key_file', `${path} ${problem}`, { source: 'config', cause });
  }
  return keyOf(privateKey);
}

/** The key of a PEM text. Errors: AppError bad_key_file. */
export function readReleaseKey(pem: string, passphrase: string, name: string): ReleaseKey {
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, ...(passphrase === '' ? {} : { passphrase }) });
  } catch (cause) {
    const hint = passphrase === '' ? 'give its passphrase, if it has one' : 'check its passphrase';
    const message = `${name} is no private key that can be read; ${hint}`;
    throw new AppError('bad_key_file', message, { source: 'config', cause });
  }
  if (key.asymmetricKeyType === 'ed25519') return keyOf(key);
  throw new AppError('bad_key_file', `${name} is no Ed25519 key`, { source: 'config' });
}

/** The text of the .minisig file of a release. Cost: reads the archive once. */
export async function signRelease(
  key: ReleaseKey,
  archive: string,
  facts: ReleaseFacts,
): Promise<string> {
  const hash = createHash('blake2b512');
  for await (const piece of createReadStream(archive)) hash.update(piece as Buffer);
  return makeSignature(key.number, key.seed, hash.digest(), releaseComment(facts));
}

function keyOf(key: KeyObject): ReleaseKey {
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  const seed = Buffer.from(d, 'base64url');
  const number = createHash('sha256').update(Buffer.from(x, 'base64url')).digest().subarray(0, 8);
  return { publicText: publicKeyOf(number, seed).text, number, seed };
}

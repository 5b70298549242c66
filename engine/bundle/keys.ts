/** The raw form of Ed25519 keys: 32 bytes, without any wrapping. */

import { createPublicKey, type KeyObject } from 'node:crypto';
import { AppError } from '../../base/errors.ts';

const rawKeyBytes = 32;

/** A public key object from its 32 raw bytes. Errors: AppError bundle_key. */
export function publicKeyFromRaw(raw: Uint8Array): KeyObject {
  if (raw.length !== rawKeyBytes) {
    throw new AppError('bundle_key', 'a bundle key has 32 bytes', { source: 'config' });
  }
  const x = Buffer.from(raw).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

/** The 32 raw bytes of a public key object. */
export function rawPublicKey(key: KeyObject): Uint8Array {
  const { x } = key.export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x ?? '', 'base64url'));
}

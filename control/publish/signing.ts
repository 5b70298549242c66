/** The key that signs bundles and the act of signing. */

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  RuntimeBundleSchema,
  SignedRuntimeBundleSchema,
  type RuntimeBundle,
  type SignedRuntimeBundle,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';

/** A signing key with its public half as 32 raw bytes. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: Uint8Array;
}

/** A fresh Ed25519 key as PKCS #8 PEM. */
export function generateKeyPem(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** Reads a key. Throws when the text is no Ed25519 key. */
export function readSigningKey(pem: string): SigningKey {
  const privateKey = createPrivateKey(pem);
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, publicKey: new Uint8Array(Buffer.from(x ?? '', 'base64url')) };
}

/** An Ed25519 signature over the bytes. */
export function signBytes(bytes: Uint8Array, key: SigningKey): Uint8Array {
  return new Uint8Array(sign(null, bytes, key.privateKey));
}

/** Encodes and signs. The same bundle and key give the same bytes. */
export function signBundle(bundle: RuntimeBundle, key: SigningKey): SignedRuntimeBundle {
  const bytes = toBinary(RuntimeBundleSchema, bundle);
  return create(SignedRuntimeBundleSchema, {
    bundle: bytes,
    signature: signBytes(bytes, key),
    sha256: createHash('sha256').update(bytes).digest('hex'),
    publicKey: key.publicKey,
  });
}

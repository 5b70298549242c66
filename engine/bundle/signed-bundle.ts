/**
 * Reads a signed bundle: size, digest, signature and version, in that order. Never trusts a field
 * of the inner bundle before the signature was checked.
 */

import { createHash, timingSafeEqual, verify } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import {
  RuntimeBundleSchema,
  SignedRuntimeBundleSchema,
  type RuntimeBundle,
  type SignedRuntimeBundle,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError } from '../../base/errors.ts';
import { bundleLimits } from '../base/limits.ts';
import { publicKeyFromRaw } from './keys.ts';

/** The version of the bundle's meaning that this engine knows. */
export const bundleFormatVersion = 1;

/** A bundle whose signature holds. */
export interface VerifiedBundle {
  readonly signed: SignedRuntimeBundle;
  readonly bundle: RuntimeBundle;
  readonly sha256: string;
}

/** Whose signature counts. */
export interface VerifyOptions {
  /** The only accepted signer, 32 raw bytes; without it the bundle's own key must verify. */
  readonly publicKey?: Uint8Array;
}

/** Decodes and verifies. Errors: AppError bundle_too_large, bundle_malformed, bundle_signature,
 * bundle_key, bundle_version. Cost: one SHA-256 and one Ed25519 check over the whole bundle. */
export function readSignedBundle(bytes: Uint8Array, options: VerifyOptions = {}): VerifiedBundle {
  if (bytes.length > bundleLimits.bundleBytesMax) {
    throw refuse('bundle_too_large', 'the bundle is larger than the limit');
  }
  const signed = decode(() => fromBinary(SignedRuntimeBundleSchema, bytes));
  return verifySignedBundle(signed, options);
}

/** Verifies a signed bundle that is decoded already; same errors. */
export function verifySignedBundle(
  signed: SignedRuntimeBundle,
  options: VerifyOptions = {},
): VerifiedBundle {
  if (signed.bundle.length > bundleLimits.bundleBytesMax) {
    throw refuse('bundle_too_large', 'the bundle is larger than the limit');
  }
  const sha256 = createHash('sha256').update(signed.bundle).digest('hex');
  if (signed.sha256 !== '' && signed.sha256 !== sha256) {
    throw refuse('bundle_signature', 'the digest of the bundle does not fit its content');
  }
  const accepted = options.publicKey;
  if (accepted !== undefined && !sameBytes(accepted, signed.publicKey)) {
    throw refuse('bundle_key', 'the bundle was signed with another key than the expected one');
  }
  const key = publicKeyFromRaw(signed.publicKey);
  if (!verify(null, signed.bundle, key, signed.signature)) {
    throw refuse('bundle_signature', 'the signature of the bundle does not hold');
  }
  const bundle = decode(() => fromBinary(RuntimeBundleSchema, signed.bundle));
  if (bundle.formatVersion !== bundleFormatVersion) {
    throw refuse(
      'bundle_version',
      `the bundle has format ${bundle.formatVersion}, this engine reads ${bundleFormatVersion}`,
    );
  }
  return { signed, bundle, sha256 };
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

function decode<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new AppError('bundle_malformed', 'the bundle cannot be decoded', {
      source: 'config',
      cause: error,
    });
  }
}

function refuse(code: string, message: string): AppError {
  return new AppError(code, message, { source: 'config' });
}

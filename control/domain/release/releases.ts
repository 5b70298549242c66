/**
 * What a release of the program is: what its signed comment says, which keys are trusted, and why
 * an import is refused. Pure.
 */

import { readReleaseComment, type ReleaseFacts } from '../../../base/release-facts.ts';
import { releaseLimits } from '../../limits/release-limits.ts';
import { invalidField, refusal } from '../errors.ts';
import {
  readPublicKey,
  readSignature,
  signatureFault,
  type MinisignKey,
  type MinisignSignature,
  type SignatureFault,
} from '../../../base/minisign.ts';

/** Key of the public keys that sign releases. */
export const releaseKeysKey = 'release.trusted_keys';
/** An imported release; its file lies in the data folder. */
export interface BinaryReleaseRecord extends ReleaseFacts {
  readonly id: string;
  readonly sha256: string;
  readonly sizeBytes: string;
  /** The signature file as it came. */
  readonly signature: string;
  readonly keyId: string;
  /** RFC 3339. */
  readonly importedAt: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** One release of a version for a platform. */
export function releaseIdOf({ version, platform, arch }: ReleaseFacts): string {
  return `release-${version}-${platform}-${arch}`;
}

/** Errors: invalid_argument under `at`. */
export function checkReleaseKeys(value: unknown, at: string): void {
  const { trustedKeysMax } = releaseLimits;
  if (!Array.isArray(value) || value.length > trustedKeysMax) {
    throw invalidField(at, `must be a list of at most ${trustedKeysMax} public keys`);
  }
  value.forEach((one: unknown, index) => {
    if (typeof one === 'string' && readPublicKey(one) !== null) return;
    throw invalidField(`${at}[${index}]`, 'must be a minisign public key: a line such as RWQ…');
  });
}

/** The trusted keys, from stored values. */
export function releaseKeysOf(values: Readonly<Record<string, unknown>>): MinisignKey[] {
  const keys = values[releaseKeysKey];
  if (!Array.isArray(keys)) return [];
  return keys.flatMap((one) => (typeof one === 'string' ? (readPublicKey(one) ?? []) : []));
}

/** A signature whose form, key and claims are fine; the file is still to be verified. */
export interface ClaimedRelease {
  readonly signature: MinisignSignature;
  readonly facts: ReleaseFacts;
}

/**
 * Reads a signature before the file is fetched. Errors: failed_precondition without trusted keys
 * or for the key of somebody else, invalid_argument.
 */
export function claimedRelease(text: string, trusted: readonly MinisignKey[]): ClaimedRelease {
  if (trusted.length === 0) {
    const hint = `add a public key to the setting ${releaseKeysKey}`;
    throw refusal('failed_precondition', `signature: No key is trusted; ${hint}.`);
  }
  if (text === '') throw invalidField('signature', 'is required: the text of the .minisig file');
  const signature = readSignature(text);
  if (typeof signature === 'string') throw signatureRefusal(signature);
  if (!trusted.some(({ id }) => id === signature.keyId)) throw signatureRefusal('unknown_key');
  const facts = readReleaseComment(signature.trustedComment);
  if (facts !== null) return { signature, facts };
  const form = 'waf-release version=1.2.3 channel=stable platform=linux arch=x64';
  throw invalidField('signature', `the trusted comment must read: ${form}`);
}

/** Verifies a file's digest. Errors: failed_precondition. */
export function refuseWrongSignature(
  signature: MinisignSignature,
  blake2b512: Uint8Array,
  trusted: readonly MinisignKey[],
): void {
  const fault = signatureFault(signature, blake2b512, trusted);
  if (fault !== null) throw signatureRefusal(fault);
}

const faults: Readonly<Record<SignatureFault, string>> = {
  malformed: 'is no minisign signature; send the whole .minisig file',
  not_prehashed: 'is not prehashed; sign again without minisign -l',
  unknown_key: `is of a key that the setting ${releaseKeysKey} does not name`,
  wrong: 'is not of this file; it was changed, or another file was signed',
  comment: 'has a trusted comment that was changed after signing',
};

function signatureRefusal(fault: SignatureFault): Error {
  if (fault === 'malformed' || fault === 'not_prehashed') {
    return invalidField('signature', faults[fault]);
  }
  return refusal('failed_precondition', `signature: ${faults[fault]}`);
}

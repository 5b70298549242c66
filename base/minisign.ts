/**
 * Minisign's formats of public keys and signatures (https://jedisct1.github.io/minisign): reads
 * them strictly, verifies them, makes them. Only prehashed signatures (`ED`) are taken: they are
 * over the BLAKE2b-512 digest, so a file need not be in memory. Pure.
 */

import {
  createPrivateKey,
  createPublicKey,
  sign as signBytes,
  verify as verifyBytes,
  type KeyObject,
} from 'node:crypto';

/** A public key. */
export interface MinisignKey {
  /** Hex, as minisign shows it: the number is little-endian. */
  readonly id: string;
  /** The line that operators pass on. */
  readonly text: string;
  readonly key: KeyObject;
}

/** A signature file, read but not verified. */
export interface MinisignSignature {
  readonly keyId: string;
  readonly signature: Uint8Array;
  /** Under the second signature, unlike the first comment. */
  readonly trustedComment: string;
  readonly commentSignature: Uint8Array;
}

/** Why a signature is not taken. */
export type SignatureFault = 'malformed' | 'not_prehashed' | 'unknown_key' | 'wrong' | 'comment';

const keyIdBytes = 8;
const signatureBytes = 64;
const seedBytes = 32;
/** Of a signature file; minisign itself writes some 300 characters. */
export const signatureCharactersMax = 2_048;
const untrustedMark = 'untrusted comment: ';
const trustedMark = 'trusted comment: ';
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex');
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The key of a line such as `RWQ…`; null for anything else. */
export function readPublicKey(text: string): MinisignKey | null {
  const bytes = strictBase64(text, 2 + keyIdBytes + seedBytes);
  if (bytes === null || bytes.subarray(0, 2).toString('latin1') !== 'Ed') return null;
  const raw = bytes.subarray(2 + keyIdBytes);
  const key = createPublicKey({
    key: Buffer.concat([spkiHead, raw]),
    format: 'der',
    type: 'spki',
  });
  return { id: keyIdOf(bytes.subarray(2, 2 + keyIdBytes)), text, key };
}

/** The four lines of a signature file. Takes exactly what minisign writes. */
export function readSignature(text: string): MinisignSignature | SignatureFault {
  if (text.length > signatureCharactersMax || !/^[\x20-\x7e\n]*$/.test(text)) return 'malformed';
  const [untrusted, first, trusted, second, ...rest] = text.replace(/\n$/, '').split('\n');
  if (untrusted === undefined || !untrusted.startsWith(untrustedMark)) return 'malformed';
  if (trusted === undefined || !trusted.startsWith(trustedMark)) return 'malformed';
  if (rest.length > 0) return 'malformed';
  const head = strictBase64(first ?? '', 2 + keyIdBytes + signatureBytes);
  const commentSignature = strictBase64(second ?? '', signatureBytes);
  if (head === null || commentSignature === null) return 'malformed';
  const algorithm = head.subarray(0, 2).toString('latin1');
  if (algorithm !== 'ED') return algorithm === 'Ed' ? 'not_prehashed' : 'malformed';
  return {
    keyId: keyIdOf(head.subarray(2, 2 + keyIdBytes)),
    signature: head.subarray(2 + keyIdBytes),
    trustedComment: trusted.slice(trustedMark.length),
    commentSignature,
  };
}

/** Verifies both signatures with the key that is named. Null when all is well. */
export function signatureFault(
  found: MinisignSignature,
  blake2b512: Uint8Array,
  trusted: readonly MinisignKey[],
): SignatureFault | null {
  const own = trusted.filter(({ id }) => id === found.keyId);
  if (own.length === 0) return 'unknown_key';
  // Key numbers are random, not unique: two keys may have the same one.
  const signer = own.find(({ key }) => verifyBytes(null, blake2b512, key, found.signature));
  if (signer === undefined) return 'wrong';
  const signed = commentBytes(found.signature, found.trustedComment);
  return verifyBytes(null, signed, signer.key, found.commentSignature) ? null : 'comment';
}

/** A public key of a key number and an Ed25519 seed. */
export function publicKeyOf(keyId: Uint8Array, seed: Uint8Array): MinisignKey {
  const spki = createPublicKey(privateKeyOf(seed)).export({ format: 'der', type: 'spki' });
  const raw = spki.subarray(spkiHead.length);
  const text = Buffer.concat([Buffer.from('Ed'), keyId, raw]).toString('base64');
  const key = readPublicKey(text);
  if (key === null) throw new Error('a key number has 8 bytes');
  return key;
}

/** The signature file of a digest. `trustedComment` is printable ASCII. */
export function makeSignature(
  keyId: Uint8Array,
  seed: Uint8Array,
  blake2b512: Uint8Array,
  trustedComment: string,
): string {
  const key = privateKeyOf(seed);
  const signature = signBytes(null, blake2b512, key);
  const comment = signBytes(null, commentBytes(signature, trustedComment), key);
  const head = Buffer.concat([Buffer.from('ED'), keyId, signature]);
  return [
    `${untrustedMark}signature of a waf release`,
    head.toString('base64'),
    `${trustedMark}${trustedComment}`,
    comment.toString('base64'),
    '',
  ].join('\n');
}

function privateKeyOf(seed: Uint8Array): KeyObject {
  const key = Buffer.concat([pkcs8Head, seed]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

function commentBytes(signature: Uint8Array, comment: string): Buffer {
  return Buffer.concat([signature, Buffer.from(comment, 'latin1')]);
}

function keyIdOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).reverse().toString('hex').toUpperCase();
}

/** Node ignores what is no base64; only the one canonical text of the bytes is taken. */
function strictBase64(text: string, length: number): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length && bytes.toString('base64') === text ? bytes : null;
}

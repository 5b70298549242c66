/**
 * What the signed list of releases at an update source says: where it is, how it is read, why it is
 * refused. Pure.
 */

import {
  isReleaseVersion,
  releaseIndexFormat,
  type ReleaseFacts,
} from '../../../base/release-facts.ts';
import { readSignature, signatureFault, type MinisignKey } from '../../../base/minisign.ts';
import { releaseLimits } from '../../limits/release-limits.ts';
import { invalidField, refusal } from '../errors.ts';
import { claimedRelease, releaseKeysKey } from './releases.ts';
import { checkAuthorities } from '../site/upstream-tls.ts';

/** Key of the setting that names the list; '' for none: nothing is asked then. */
export const releaseIndexKey = 'release.index_url';
/** Key of the setting with the authorities that its server may have beside the usual ones. */
export const indexAuthorityKey = 'release.index_ca_pem';

/** When the newest list that was seen was signed; one record. */
export interface SeenIndexRecord {
  readonly id: string;
  readonly url: string;
  readonly issuedAt: string;
}

/** Id of that record. */
export const seenIndexId = 'index';

/** A release as the list names it. */
export interface IndexedRelease extends ReleaseFacts {
  readonly url: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  /** The text of its .minisig file. */
  readonly signature: string;
  readonly keyId: string;
}

/** The list, verified. */
export interface ReleaseIndex {
  /** When it was signed; a list that is older than one that was seen is refused. */
  readonly issuedMs: number;
  readonly releases: readonly IndexedRelease[];
}

/** Errors: invalid_argument under `at`. */
export function checkIndexUrl(value: unknown, at: string): void {
  if (typeof value === 'string' && (value === '' || isIndexUrl(value))) return;
  throw invalidField(at, 'must be an https URL without a query, or empty to ask nobody');
}

/** Plain HTTP is for a server of the same machine alone, such as a mirror that fetches by TLS. */
function isIndexUrl(text: string): boolean {
  if (!isPlainUrl(text) || /[?#]/.test(text)) return false;
  const { protocol, hostname } = new URL(text);
  const local = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
  return protocol === 'https:' || (protocol === 'http:' && local);
}

function isPlainUrl(text: string): boolean {
  if (text.length > 2048 || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** The setting, from stored values. */
export function indexUrlOf(values: Readonly<Record<string, unknown>>): string {
  const url = values[releaseIndexKey];
  return typeof url === 'string' ? url : '';
}

/** Errors: invalid_argument under `at`. */
export function checkIndexAuthority(value: unknown, at: string): void {
  if (value === '') return;
  if (typeof value === 'string') return checkAuthorities(value, at);
  throw invalidField(at, 'must hold certificates in PEM, or be empty');
}

/** The authorities that an address may have beside the usual ones; '' for none. */
export function authoritiesFor(values: Readonly<Record<string, unknown>>, url: string): string {
  const [index, pem] = [indexUrlOf(values), values[indexAuthorityKey]];
  if (typeof pem !== 'string' || !URL.canParse(index)) return '';
  return new URL(index).origin === new URL(url).origin ? pem : '';
}

/** Without a key nothing needs to be fetched. Errors: failed_precondition. */
export function requireKeys(trusted: readonly MinisignKey[]): void {
  if (trusted.length === 0) throw refused(`no key is trusted; see the setting ${releaseKeysKey}`);
}

/** What was fetched. */
export interface FetchedIndex {
  readonly bytes: Uint8Array;
  readonly blake2b512: Uint8Array;
  /** The text of the .minisig file. */
  readonly signature: string;
}

/**
 * Verifies and reads a list. Errors: failed_precondition for one that is not signed by a trusted
 * key, changed, expired or older than `seenMs`; the message names what is wrong.
 */
export function readReleaseIndex(
  { bytes, blake2b512, signature }: FetchedIndex,
  trusted: readonly MinisignKey[],
  times: { readonly nowMs: number; readonly seenMs: number },
): ReleaseIndex {
  const read = readSignature(signature);
  if (typeof read === 'string') throw refused('the signature of the index cannot be read');
  const fault = signatureFault(read, blake2b512, trusted);
  if (fault === 'unknown_key') {
    throw refused(`the index is signed by a key that ${releaseKeysKey} does not name`);
  }
  if (fault !== null) throw refused('the index or its signature was changed');
  const found = /^waf-release-index issued=(\S+Z) expires=(\S+Z)$/.exec(read.trustedComment);
  const [issuedMs, expiresMs] = [Date.parse(found?.[1] ?? ''), Date.parse(found?.[2] ?? '')];
  if (Number.isNaN(issuedMs) || Number.isNaN(expiresMs)) {
    throw refused('the signature is not one of an index');
  }
  if (expiresMs < times.nowMs) throw refused('the index has expired; its signer has to renew it');
  if (issuedMs < times.seenMs) throw refused('the index is older than one that was seen before');
  return { issuedMs, releases: readReleases(bytes, trusted) };
}

function readReleases(bytes: Uint8Array, trusted: readonly MinisignKey[]): IndexedRelease[] {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refused('the index is no JSON');
  }
  const { format, releases } = (value ?? {}) as { format?: unknown; releases?: unknown };
  if (format !== releaseIndexFormat) throw refused(`the index is not of ${releaseIndexFormat}`);
  const most = releaseLimits.indexReleasesMax;
  if (!Array.isArray(releases) || releases.length > most) {
    throw refused(`the index must list at most ${most} releases`);
  }
  return releases.map((one: unknown, at) => readRelease(one, at, trusted));
}

/** One whose signature says something else is refused with the whole list: somebody erred. */
function readRelease(value: unknown, at: number, trusted: readonly MinisignKey[]): IndexedRelease {
  const bad = (what: string): Error => refused(`releases[${at}] of the index ${what}`);
  const entry = (value ?? {}) as Readonly<Record<string, unknown>>;
  const text = (name: string, form: RegExp): string => {
    const found = entry[name];
    if (typeof found === 'string' && form.test(found)) return found;
    throw bad(`has no proper ${name}`);
  };
  const url = text('url', /^[!-~]{1,2048}$/);
  if (!isPlainUrl(url)) throw bad('has no proper url');
  const sizeBytes = entry['sizeBytes'];
  const whole = typeof sizeBytes === 'number' && Number.isSafeInteger(sizeBytes) && sizeBytes > 0;
  if (!whole || sizeBytes > releaseLimits.packageBytesMax) throw bad('has no proper sizeBytes');
  const signature = text('signature', /^[\x20-\x7e\n]{1,2048}$/);
  const { facts, signature: read } = claimOf(signature, trusted, bad);
  const same = (['version', 'channel', 'platform', 'arch'] as const).every(
    (name) => entry[name] === facts[name],
  );
  if (!same || !isReleaseVersion(facts.version)) throw bad('differs from its signature');
  const sha256 = text('sha256', /^[0-9a-f]{64}$/);
  return { ...facts, url, sha256, sizeBytes, signature, keyId: read.keyId };
}

function claimOf(text: string, trusted: readonly MinisignKey[], bad: (what: string) => Error) {
  try {
    return claimedRelease(text, trusted);
  } catch {
    throw bad('has a signature that cannot be used');
  }
}

function refused(message: string): Error {
  return refusal('failed_precondition', `${releaseIndexKey}: ${message}`);
}

/**
 * The JA4 fingerprint of a TLS client: what its first message offers, in a form that does not
 * depend on the order of suites and extensions. Source: FoxIO's technical details of JA4, which is
 * under the BSD 3-clause license. Pure, but that the fingerprints made last are kept: programs
 * send the same hello again and again.
 */

import { createHash } from 'node:crypto';
import { tlsLimits } from '../../base/delivery-limits.ts';
import { isGrease, type ClientHello, type HelloFingerprint } from './client-hello.ts';

const extensionServerName = 0;
const extensionProtocols = 16;
const nothing = '000000000000';

const versionNames: ReadonlyMap<number, string> = new Map([
  [0x0304, '13'],
  [0x0303, '12'],
  [0x0302, '11'],
  [0x0301, '10'],
  [0x0300, 's3'],
]);

/** A fingerprint and what it was made of. */
interface Known {
  readonly offered: HelloFingerprint;
  readonly protocol: string | undefined;
  readonly text: string;
}

/** Each hello has one place, that of its hash; another with the same place replaces it. */
const known: (Known | undefined)[] = new Array(tlsLimits.fingerprintsMax).fill(undefined);

/**
 * For example `t13d1516h2_8daaf6152771_e5627efa2ab1`. Cost: two digests, about 15 us; below one
 * where the same was offered before.
 */
export function ja4({ protocols, fingerprint }: ClientHello): string {
  const protocol = protocols[0];
  const place = hashOf(fingerprint) % known.length;
  const last = known[place];
  if (last !== undefined && last.protocol === protocol && same(last.offered, fingerprint)) {
    return last.text;
  }
  const text = make(fingerprint, protocol);
  const { suites, extensions, signatureAlgorithms } = fingerprint;
  const count = suites.length + extensions.length + signatureAlgorithms.length;
  // Nobody but an attacker offers so much, and none of it is held for them.
  const keep = count <= tlsLimits.fingerprintNumbersMax && (protocol ?? '').length <= 16;
  if (keep) known[place] = { offered: fingerprint, protocol, text };
  return text;
}

function hashOf({ version, suites, extensions, signatureAlgorithms }: HelloFingerprint): number {
  let hash = version;
  for (const one of suites) hash = Math.imul(hash ^ one, 0x01000193);
  for (const one of extensions) hash = Math.imul(hash ^ one, 0x01000193);
  for (const one of signatureAlgorithms) hash = Math.imul(hash ^ one, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function same(left: HelloFingerprint, right: HelloFingerprint): boolean {
  return (
    left.version === right.version &&
    equal(left.suites, right.suites) &&
    equal(left.extensions, right.extensions) &&
    equal(left.signatureAlgorithms, right.signatureAlgorithms)
  );
}

function equal(left: readonly number[], right: readonly number[]): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false;
  return true;
}

function make(fingerprint: HelloFingerprint, protocol: string | undefined): string {
  const suites = withoutGrease(fingerprint.suites);
  const extensions = withoutGrease(fingerprint.extensions);
  const signatures = withoutGrease(fingerprint.signatureAlgorithms);
  const head = [
    't',
    versionNames.get(fingerprint.version) ?? '00',
    extensions.includes(extensionServerName) ? 'd' : 'i',
    twoDigits(suites.length),
    twoDigits(extensions.length),
    protocolLetters(protocol),
  ];
  const hashed = extensions.filter(
    (one) => one !== extensionServerName && one !== extensionProtocols,
  );
  const offers = signatures.length === 0 ? '' : `_${hexList(signatures)}`;
  return [
    head.join(''),
    digest(hexList(sorted(suites))),
    extensions.length === 0 ? nothing : digest(`${hexList(sorted(hashed))}${offers}`),
  ].join('_');
}

function withoutGrease(numbers: readonly number[]): number[] {
  return numbers.filter((one) => !isGrease(one));
}

function twoDigits(count: number): string {
  return String(Math.min(count, 99)).padStart(2, '0');
}

/** First and last character of the first protocol; of its hexadecimal form where it is no text. */
function protocolLetters(protocol: string | undefined): string {
  if (protocol === undefined || protocol === '') return '00';
  const ends = `${protocol[0]}${protocol.at(-1)}`;
  if (/^[0-9A-Za-z]{2}$/.test(ends)) return ends;
  const hex = Buffer.from(protocol, 'latin1').toString('hex');
  return `${hex[0]}${hex.at(-1)}`;
}

function sorted(numbers: readonly number[]): number[] {
  return numbers.toSorted((left, right) => left - right);
}

function hexList(numbers: readonly number[]): string {
  return numbers.map((one) => one.toString(16).padStart(4, '0')).join(',');
}

function digest(text: string): string {
  return text === '' ? nothing : createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/**
 * What a certificate may be: texts that parse, a key that fits, a chain in order, names, dates and
 * strength. Reads time only from its arguments.
 */

import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { invalidField } from '../errors.ts';

/** What an operator hands in; texts are PEM. */
export interface CertificateTexts {
  readonly certPem: string;
  readonly keyPem: string;
  readonly chainPem: readonly string[];
}

/** A certificate that passed every check. */
export interface CheckedCertificate {
  /** One PEM block. */
  readonly certPem: string;
  /** PKCS #8 PEM. */
  readonly keyPem: string;
  /** One PEM block each, the issuer of the certificate first. */
  readonly chainPem: readonly string[];
  /** DNS names and addresses, as they stand in it. */
  readonly dnsNames: readonly string[];
  readonly issuer: string;
  /** RFC 3339. */
  readonly notBefore: string;
  readonly notAfter: string;
  /** Lower-case hex. */
  readonly fingerprintSha256: string;
}

const block = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const curves = ['prime256v1', 'secp384r1', 'secp521r1'];
const serverAuth = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];
/** Object identifiers (DER) of signatures with MD5 or SHA-1. */
const weakSignatures = [
  '2a864886f70d010104',
  '2a864886f70d010105',
  '2a8648ce3d0401',
  '2a8648ce380403',
];
/** Object identifier (DER) of the extension that demands features of TLS (RFC 7633). */
const tlsFeatures = '06082b06010505070118';
const namesMax = 200;

/**
 * Checks a certificate against its key, its chain and the time. Errors: invalid_argument at
 * certPem, keyPem or `chainPem[n]`, under `prefix`. Cost: about 1 ms.
 */
export function checkCertificate(
  texts: CertificateTexts,
  nowMs: number,
  prefix = '',
): CheckedCertificate {
  const [certPem = '', ...bundled] = readBlocks(texts.certPem, `${prefix}certPem`);
  const certificate = parse(certPem, `${prefix}certPem`);
  const given = texts.chainPem.flatMap((text, at) => readBlocks(text, `${prefix}chainPem[${at}]`));
  const chainPem = [...bundled, ...given];
  if (chainPem.length > resourceLimits.certificateChainMax) {
    const problem = `has at most ${resourceLimits.certificateChainMax} certificates`;
    throw invalidField(`${prefix}chainPem`, problem);
  }
  checkLeaf(certificate, nowMs, `${prefix}certPem`);
  const key = readKey(texts.keyPem, `${prefix}keyPem`);
  if (!certificate.checkPrivateKey(key)) {
    throw invalidField(`${prefix}keyPem`, 'is not the key of this certificate');
  }
  checkChain(certificate, chainPem, nowMs, `${prefix}chainPem`);
  return {
    certPem: withFinalLine(certPem),
    keyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    chainPem: chainPem.map(withFinalLine),
    dnsNames: namesOf(certificate),
    issuer: certificate.issuer.split('\n').join(', ').slice(0, 1000),
    notBefore: new Date(certificate.validFrom).toISOString(),
    notAfter: new Date(certificate.validTo).toISOString(),
    fingerprintSha256: certificate.fingerprint256.replace(/:/g, '').toLowerCase(),
  };
}

/**
 * Whether one of the names of a certificate stands for a host of a site. A wildcard stands for one
 * label; a wildcard host needs the same wildcard.
 */
export function coversHost(dnsNames: readonly string[], host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  const parent = bare.startsWith('*.') ? '' : bare.slice(bare.indexOf('.'));
  return dnsNames.some((name) => {
    const known = name.toLowerCase();
    return known === bare || (parent.startsWith('.') && known === `*${parent}`);
  });
}

/** The texts of PEM blocks. Errors: invalid_argument at `field`. */
function readBlocks(text: string, field: string): string[] {
  if (text.trim() === '') throw invalidField(field, 'is required: a certificate in PEM form');
  if (text.length > resourceLimits.certificateTextBytesMax) {
    throw invalidField(field, `is larger than ${resourceLimits.certificateTextBytesMax} bytes`);
  }
  const blocks = text.match(block) ?? [];
  if (blocks.length === 0) {
    throw invalidField(field, 'must be PEM that begins with -----BEGIN CERTIFICATE-----');
  }
  return blocks;
}

function parse(pem: string, field: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw invalidField(field, 'cannot be read as a certificate');
  }
}

function readKey(text: string, field: string): KeyObject {
  if (text.trim() === '') throw invalidField(field, 'is required: the private key in PEM form');
  if (text.length > resourceLimits.certificateTextBytesMax) {
    throw invalidField(field, `is larger than ${resourceLimits.certificateTextBytesMax} bytes`);
  }
  if (text.includes('ENCRYPTED')) {
    throw invalidField(field, 'is encrypted: upload the key without a passphrase');
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch {
    throw invalidField(field, 'cannot be read as a private key in PEM form');
  }
  checkStrength(key, field);
  return key;
}

/** Errors: invalid_argument for keys that clients do not accept or should not. */
function checkStrength(key: KeyObject, field: string): void {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa' || type === 'rsa-pss') {
    const { rsaBitsMin } = resourceLimits;
    if ((details?.modulusLength ?? 0) >= rsaBitsMin) return;
    throw invalidField(field, `has an RSA key of fewer than ${rsaBitsMin} bits`);
  }
  if (type === 'ed25519') return;
  if (type === 'ec' && curves.includes(details?.namedCurve ?? '')) return;
  throw invalidField(field, 'must have an RSA, Ed25519, P-256, P-384 or P-521 key');
}

function checkLeaf(certificate: X509Certificate, nowMs: number, field: string): void {
  checkDates(certificate, nowMs, field);
  checkStrength(certificate.publicKey, field);
  const selfSigned = isSelfSigned(certificate);
  if (!selfSigned) checkSignature(certificate, field);
  if (certificate.ca && !selfSigned) {
    throw invalidField(field, 'is the certificate of an authority, not of a server');
  }
  // What Node calls keyUsage is the extended one (RFC 5280 section 4.2.1.12).
  const usages = certificate.keyUsage as readonly string[] | undefined;
  if (usages !== undefined && !usages.some((one) => serverAuth.includes(one))) {
    throw invalidField(field, 'is not meant for servers: its extended key usage lacks serverAuth');
  }
  if (certificate.raw.includes(Buffer.from(tlsFeatures, 'hex'))) {
    const problem = 'demands stapled OCSP responses (must-staple), which are not sent here';
    throw invalidField(field, `${problem}: browsers would refuse it; order one without`);
  }
  const names = namesOf(certificate);
  if (names.length === 0) {
    throw invalidField(field, 'has no subject alternative name: clients look at nothing else');
  }
  if (names.length > namesMax) throw invalidField(field, `has more than ${namesMax} names`);
}

function checkChain(
  certificate: X509Certificate,
  chainPem: readonly string[],
  nowMs: number,
  prefix: string,
): void {
  let child = certificate;
  chainPem.forEach((pem, at) => {
    const field = `${prefix}[${at}]`;
    const issuer = parse(pem, field);
    if (issuer.fingerprint256 === certificate.fingerprint256) {
      throw invalidField(field, 'is the certificate itself: leave it out');
    }
    if (!issuer.ca) throw invalidField(field, 'is not the certificate of an authority');
    if (!child.checkIssued(issuer) || !child.verify(issuer.publicKey)) {
      const of = at === 0 ? 'the certificate' : `chainPem[${at - 1}]`;
      throw invalidField(field, `did not issue ${of}: give the chain in order, without gaps`);
    }
    checkDates(issuer, nowMs, field);
    checkStrength(issuer.publicKey, field);
    if (!isSelfSigned(issuer)) checkSignature(issuer, field);
    child = issuer;
  });
}

function checkDates(certificate: X509Certificate, nowMs: number, field: string): void {
  if (Date.parse(certificate.validTo) <= nowMs) throw invalidField(field, 'has expired');
  if (Date.parse(certificate.validFrom) > nowMs) throw invalidField(field, 'is not valid yet');
}

function checkSignature(certificate: X509Certificate, field: string): void {
  const der = certificate.raw;
  if (!weakSignatures.some((oid) => der.includes(Buffer.from(oid, 'hex')))) return;
  throw invalidField(field, 'is signed with MD5 or SHA-1: clients refuse it');
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
}

/** DNS names and addresses of a certificate, each once. */
function namesOf(certificate: X509Certificate): string[] {
  const text = certificate.subjectAltName ?? '';
  const found = [...text.matchAll(/(?:^|, )(?:DNS|IP Address):([^\s,"]+)/g)];
  return [...new Set(found.map((one) => (one[1] ?? '').toLowerCase()))];
}

function withFinalLine(pem: string): string {
  return `${pem.replace(/\r\n?/g, '\n').trim()}\n`;
}

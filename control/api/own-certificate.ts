/**
 * Owns making certificates of our own: a small authority, and a server certificate that it signs.
 * Knows no files. The library is loaded only when something is made, which is once in a year.
 */

import { isIP } from 'node:net';
import { randomBytes, webcrypto } from 'node:crypto';
import { addReflectMetadata } from '../acme/reflect-metadata.ts';

/** A certificate and its key, PEM. */
export interface CertificatePem {
  readonly certificate: string;
  /** PKCS #8. */
  readonly key: string;
}

const dayMs = 24 * 3600 * 1000;
const authorityDays = 3650;
const serverDays = 397;
/** Clocks of clients may be slow. */
const backdatedMs = dayMs;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

async function library() {
  addReflectMetadata();
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  return x509;
}

/** Makes an authority that may sign server certificates and nothing else. */
export async function makeAuthority(nowMs: number): Promise<CertificatePem> {
  const x509 = await library();
  const keys = await makeKeys();
  const serial = serialNumber();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial,
    name: `CN=waf own authority ${serial.slice(0, 8)}`,
    notBefore: new Date(nowMs - backdatedMs),
    notAfter: new Date(nowMs + authorityDays * dayMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await keyPem(keys.privateKey) };
}

/** Makes a server certificate for host names and addresses, signed by `authority`. */
export async function makeServerCertificate(
  authority: CertificatePem,
  names: readonly string[],
  nowMs: number,
): Promise<CertificatePem> {
  const x509 = await library();
  const issuer = new x509.X509Certificate(authority.certificate);
  const der = Buffer.from(authority.key.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  const signingKey = await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: 'CN=waf management',
    issuer: issuer.subject,
    notBefore: new Date(nowMs - backdatedMs),
    notAfter: new Date(nowMs + serverDays * dayMs),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await keyPem(keys.privateKey) };
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  const text = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  const lines = text.match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

/** 128 bits, positive. Source: RFC 5280 section 4.1.2.2. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

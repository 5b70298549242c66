/** Throw-away certificates for tests: authorities, leaves, and those that must fail. */

import { webcrypto } from 'node:crypto';
import { addReflectMetadata } from '../../control/acme/reflect-metadata.ts';

/** A certificate with its key; PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  readonly keys: webcrypto.CryptoKeyPair;
  readonly subject: string;
}

/** What a certificate is to be; the defaults make a good leaf. */
export interface CertificateWish {
  readonly names?: readonly string[];
  readonly subject?: string;
  readonly authority?: boolean;
  /** Days from now. */
  readonly fromDays?: number;
  readonly toDays?: number;
  readonly rsaBits?: number;
  readonly hash?: string;
  /** Object identifiers of the extended key usage. */
  readonly usages?: readonly string[];
  /** Demands stapled OCSP responses (RFC 7633). */
  readonly mustStaple?: boolean;
  /** Default: signed by itself. */
  readonly issuer?: TestCertificate;
}

const dayMs = 24 * 3600 * 1000;
const tlsFeature = '1.3.6.1.5.5.7.1.24';
/** A sequence of one number, 5. */
const statusRequest = new Uint8Array([0x30, 0x03, 0x02, 0x01, 0x05]);

/** Makes a certificate. */
export async function makeTestCertificate(wish: CertificateWish): Promise<TestCertificate> {
  addReflectMetadata();
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  const algorithm = algorithmOf(wish);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const subject = wish.subject ?? `CN=${wish.names?.[0] ?? 'test'}`;
  const { names = [], usages, issuer } = wish;
  const extensions = [
    new x509.BasicConstraintsExtension(wish.authority === true, undefined, true),
    ...(wish.mustStaple === true ? [new x509.Extension(tlsFeature, false, statusRequest)] : []),
    ...(usages === undefined ? [] : [new x509.ExtendedKeyUsageExtension([...usages])]),
    ...(names.length === 0
      ? []
      : [
          new x509.SubjectAlternativeNameExtension(
            names.map((value) => ({ type: /^[\d.:]+$/.test(value) ? 'ip' : 'dns', value })),
          ),
        ]),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString('hex'),
    subject,
    issuer: issuer?.subject ?? subject,
    notBefore: new Date(Date.now() + (wish.fromDays ?? -1) * dayMs),
    notAfter: new Date(Date.now() + (wish.toDays ?? 90) * dayMs),
    signingAlgorithm: issuer === undefined ? algorithm : { ...ec, hash: wish.hash ?? 'SHA-256' },
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    extensions,
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const lines = (der.toString('base64').match(/.{1,64}/g) ?? []).join('\n');
  return {
    cert: `${certificate.toString('pem')}\n`,
    key: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
    keys,
    subject,
  };
}

/** A revocation list of an authority that names these certificates; good from `fromDays` on. */
export async function makeRevocationList(
  issuer: TestCertificate,
  revoked: readonly TestCertificate[],
  { fromDays = -1, toDays = 90 }: Pick<CertificateWish, 'fromDays' | 'toDays'> = {},
): Promise<string> {
  addReflectMetadata();
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  const list = await x509.X509CrlGenerator.create({
    issuer: issuer.subject,
    thisUpdate: new Date(Date.now() + fromDays * dayMs),
    nextUpdate: new Date(Date.now() + toDays * dayMs),
    signingAlgorithm: { ...ec, hash: 'SHA-256' },
    signingKey: issuer.keys.privateKey,
    entries: revoked.map(({ cert }) => ({
      serialNumber: new x509.X509Certificate(cert).serialNumber,
      revocationDate: new Date(),
    })),
  });
  // The library leaves out a word that OpenSSL wants (RFC 7468 section 6).
  return `${list.toString('pem').replaceAll(/(BEGIN|END) CRL/g, '$1 X509 CRL')}\n`;
}

const ec = { name: 'ECDSA', namedCurve: 'P-256' } as const;

function algorithmOf({ rsaBits, hash = 'SHA-256' }: CertificateWish) {
  if (rsaBits === undefined) return { ...ec, hash };
  const publicExponent = new Uint8Array([1, 0, 1]);
  return { name: 'RSASSA-PKCS1-v1_5', modulusLength: rsaBits, publicExponent, hash };
}

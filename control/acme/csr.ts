/** Keys of certificates, the requests that ask for them, and what names them to an authority. */

import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { addReflectMetadata } from './reflect-metadata.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** A new key with the request for its certificate. */
export interface CertificateRequest {
  /** PKCS #8 PEM. */
  readonly keyPem: string;
  /** DER. */
  readonly csr: Buffer;
}

async function library() {
  addReflectMetadata();
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  return x509;
}

/** Makes a P-256 key and a request for `names` (RFC 2986; names in the extension alone). */
export async function makeCertificateRequest(
  names: readonly string[],
): Promise<CertificateRequest> {
  const x509 = await library();
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const alternatives = names.map((value) => ({
    type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const),
    value,
  }));
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: algorithm,
    extensions: [new x509.SubjectAlternativeNameExtension(alternatives)],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const lines = (der.toString('base64').match(/.{1,64}/g) ?? []).join('\n');
  return {
    keyPem: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
    csr: Buffer.from(request.rawData),
  };
}

/**
 * The identifier under which an authority says when to renew (RFC 9773 section 4.1); null for a
 * certificate that does not name the key of its issuer.
 */
export async function renewalId(certificatePem: string): Promise<string | null> {
  const x509 = await library();
  const certificate = new x509.X509Certificate(certificatePem);
  const authority = certificate.getExtension(x509.AuthorityKeyIdentifierExtension);
  if (!authority?.keyId) return null;
  const serial = Buffer.from(certificate.serialNumber, 'hex');
  // The serial number as DER has it: positive.
  const positive = (serial[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), serial]) : serial;
  const keyId = Buffer.from(authority.keyId, 'hex').toString('base64url');
  return `${keyId}.${positive.toString('base64url')}`;
}

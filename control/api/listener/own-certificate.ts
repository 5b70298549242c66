/**
 * Makes certificates of our own: a small authority, and the certificates of servers and nodes that
 * it signs. Knows no files. The library is loaded only when something is made.
 */

import { isIP } from 'node:net';
import { randomBytes, webcrypto, type X509Certificate } from 'node:crypto';
import { addReflectMetadata } from '../../acme/reflect-metadata.ts';

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

/** Makes an authority that may sign certificates of servers and nodes, and nothing else. */
export async function makeAuthority(
  nowMs: number,
  purpose: 'own' | 'node' = 'own',
): Promise<CertificatePem> {
  const x509 = await library();
  const keys = await makeKeys();
  const serial = serialNumber();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial,
    name: `CN=waf ${purpose} authority ${serial.slice(0, 8)}`,
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
  const keys = await makeKeys();
  const certificate = await sign(authority, {
    subject: 'CN=waf management',
    usage: x509.ExtendedKeyUsage.serverAuth,
    names: names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
    publicKey: keys.publicKey,
    endMs: nowMs + serverDays * dayMs,
    nowMs,
  });
  return { certificate, key: await keyPem(keys.privateKey) };
}

/** A name in the certificate of a node. */
const nodeName = /^URI:urn:waf:node:([A-Za-z0-9-]{1,128})$/;

/** Makes a key and a certificate with which a node proves who it is, until `endMs`. */
export async function makeNodeCertificate(
  authority: CertificatePem,
  nodeId: string,
  nowMs: number,
  endMs: number,
): Promise<CertificatePem> {
  const { publicKey, privateKey } = await makeKeys();
  const certificate = await signNode(authority, nodeId, publicKey, nowMs, endMs);
  return { certificate, key: await keyPem(privateKey) };
}

/**
 * Certifies a node's own public key, SubjectPublicKeyInfo in DER form. Errors: what the key cannot
 * be used for; it must lie on P-256.
 */
export async function certifyNodeKey(
  authority: CertificatePem,
  nodeId: string,
  publicKey: Uint8Array<ArrayBuffer>,
  nowMs: number,
  endMs: number,
): Promise<string> {
  const key = await webcrypto.subtle.importKey('spki', publicKey, algorithm, true, ['verify']);
  return signNode(authority, nodeId, key, nowMs, endMs);
}

/** The node that a certificate names; '' for none. */
export function nodeOfCertificate({ subjectAltName }: X509Certificate): string {
  return nodeName.exec(subjectAltName ?? '')?.[1] ?? '';
}

async function signNode(
  authority: CertificatePem,
  nodeId: string,
  publicKey: webcrypto.CryptoKey,
  nowMs: number,
  endMs: number,
): Promise<string> {
  const x509 = await library();
  return sign(authority, {
    subject: `CN=${nodeId}`,
    usage: x509.ExtendedKeyUsage.clientAuth,
    names: [{ type: 'url', value: `urn:waf:node:${nodeId}` }],
    publicKey,
    nowMs,
    endMs,
  });
}

/** What a certificate says. */
interface Statement {
  readonly subject: string;
  readonly usage: string;
  readonly names: readonly { readonly type: 'dns' | 'ip' | 'url'; readonly value: string }[];
  readonly publicKey: webcrypto.CryptoKey;
  readonly nowMs: number;
  readonly endMs: number;
}

async function sign(
  authority: CertificatePem,
  { subject, usage, names, publicKey, nowMs, endMs }: Statement,
): Promise<string> {
  const x509 = await library();
  const issuer = new x509.X509Certificate(authority.certificate);
  const der = Buffer.from(authority.key.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  const signingKey = await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject,
    issuer: issuer.subject,
    notBefore: new Date(nowMs - backdatedMs),
    notAfter: new Date(endMs),
    signingAlgorithm: algorithm,
    publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usage]),
      new x509.SubjectAlternativeNameExtension([...names]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n`;
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

/** What tests of TLS towards clients share: certificates, sites with TLS, and a client. */

import { createHash } from 'node:crypto';
import tls from 'node:tls';
import type { Inspector } from '../contract/inspection.ts';
import type { SiteConfig } from '../contract/site.ts';
import type { SiteTlsConfig } from '../contract/tls.ts';
import { makeCertificate } from '../upstream/test-certificate.ts';
import { siteFor, startFront, type Closing, type Running } from './fixture.ts';
import type { FrontSettings } from './front-context.ts';

/** TLS settings with a new certificate for a name. */
export function tlsFor(name: string, change: Partial<SiteTlsConfig> = {}): SiteTlsConfig {
  const { certificatePem, privateKeyPem } = makeCertificate(name);
  const certificate = {
    fingerprint: createHash('sha256').update(certificatePem).digest('hex'),
    certificatePem: Buffer.from(certificatePem),
    keyPem: Buffer.from(privateKeyPem),
  };
  return {
    certificate,
    minVersion: 'TLSv1.2',
    httpBehavior: 'both',
    strictTransportSecurity: '',
    ...change,
  };
}

/** A site of one host with TLS. */
export function secureSite(
  port: number,
  host: string,
  change: Partial<SiteTlsConfig> = {},
): SiteConfig {
  return siteFor(port, { id: host, name: host, hosts: [host], tls: tlsFor(host, change) });
}

/** A front that listens with TLS, too. */
export interface SecureRunning extends Running {
  readonly securePort: number;
}

/** Starts a front on two free ports. */
export async function startSecureFront(
  closing: Closing,
  sites: readonly SiteConfig[],
  settings: Partial<FrontSettings> = {},
  publicPort?: number,
  inspector: Inspector | null = null,
  proxyHeaderFrom: readonly string[] = [],
): Promise<SecureRunning> {
  const running = await startFront(closing, sites, inspector, settings);
  const address = { host: '127.0.0.1', port: 0, secure: true, proxyHeaderFrom };
  const listen = publicPort === undefined ? address : { ...address, publicPort };
  const securePort = await running.front.listen(listen);
  return { ...running, securePort };
}

/** What came of a connection over TLS. */
export interface SecureAnswer {
  readonly text: string;
  /** Names in the certificate that was shown. */
  readonly names: string;
  readonly version: string;
  readonly resumed: boolean;
  readonly session: Buffer | null;
}

/** Connects, sends a text, and resolves when the server closes. Errors: those of the handshake. */
export function askSecure(
  port: number,
  text: string,
  options: tls.ConnectionOptions,
): Promise<SecureAnswer> {
  return new Promise((resolve, reject) => {
    let received = '';
    let session: Buffer | null = null;
    const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
    socket.on('session', (given: Buffer) => (session = given));
    socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
    socket.on('error', reject);
    socket.on('secureConnect', () => {
      const names = socket.getPeerCertificate().subjectaltname ?? '';
      const version = socket.getProtocol() ?? '';
      const resumed = socket.isSessionReused();
      socket.on('close', () => resolve({ text: received, names, version, resumed, session }));
      socket.write(text);
    });
  });
}

/** A GET that asks for the connection to be closed. */
export function getText(host: string, target = '/'): string {
  return `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
}

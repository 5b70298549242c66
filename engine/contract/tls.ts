/** TLS towards clients as plain data: what sites are served with, what connections agreed on. */

import type { ClientCertificatesConfig } from './delivery.ts';

/** A certificate with its chain and key. */
export interface CertificateConfig {
  /** SHA-256 over all of it, hex: equal means the same certificate and key. */
  readonly fingerprint: string;
  /** PEM: the certificate, then its chain. Shared memory: threads hold one copy. */
  readonly certificatePem: Uint8Array;
  /** PKCS #8 PEM, a secret. Shared memory. */
  readonly keyPem: Uint8Array;
}

/** What plain HTTP requests of a TLS site get. */
export type HttpBehavior = 'redirect' | 'acme_only' | 'both';

/** How a site is served over TLS. */
export interface SiteTlsConfig {
  /** Null while there is none yet: handshakes for the site are refused. */
  readonly certificate: CertificateConfig | null;
  readonly minVersion: TlsVersion;
  readonly httpBehavior: HttpBehavior;
  /** Value of Strict-Transport-Security; '' for none. */
  readonly strictTransportSecurity: string;
}

/** Versions that a site may ask for. */
export type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

/** What one TLS connection agreed on. */
export interface TlsFacts {
  /** The name that the client asked for; the server's address where it named none. */
  readonly serverName: string;
  readonly version: string;
  readonly cipher: string;
  /** Fingerprint of the client's first message, see engine/tls/ja4.ts. */
  readonly ja4: string;
  /** Null where no certificate was asked for. */
  readonly shown: ShownCertificate | null;
}

/** The authorities that clients of a site have their certificates from. */
export type ClientAuthorities = Omit<ClientCertificatesConfig, 'optional'>;

/**
 * What OpenSSL says of a client's certificate. `unchecked`: a list of revoked ones is missing, has
 * run out or is not signed by the authority.
 */
export type CertificateState = 'none' | 'valid' | 'invalid' | 'revoked' | 'unchecked';

/** What a client showed that was asked for a certificate. */
export interface ShownCertificate {
  /** Fingerprint of the authorities that it was checked against. */
  readonly authorities: string;
  readonly state: CertificateState;
  /** Ready header lines for origins; '' unless it is valid. */
  readonly lines: string;
}

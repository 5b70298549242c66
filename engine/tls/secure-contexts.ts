/**
 * The TLS contexts of one thread: made when a certificate is first asked for, kept for those used
 * last. Versions and ciphers are Mozilla's intermediate (from TLS 1.2) and modern (TLS 1.3 only)
 * profiles, version 5.7, without finite-field Diffie-Hellman.
 */

import { constants } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { tlsLimits } from '../../base/delivery-limits.ts';
import type { CertificateConfig, ClientAuthorities, TlsVersion } from '../contract/tls.ts';

/** Source: https://wiki.mozilla.org/Security/Server_Side_TLS. Clients choose the order. */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');
const curves = 'X25519:prime256v1:secp384r1';

const pemBlock = /-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g;

/** Bytes of the keys that protect session tickets. */
export const ticketKeyBytes = 48;

/** The contexts of one thread. */
export class SecureContexts {
  private readonly kept = new Map<string, SecureContext>();
  private readonly max: number;
  private ticketKeys: Buffer | null = null;

  constructor(max: number = tlsLimits.contextsMax) {
    this.max = max;
  }

  /** How many are kept. */
  get size(): number {
    return this.kept.size;
  }

  /**
   * Takes over the keys of session tickets, which all threads share; 48 bytes. Tickets from before
   * are void: their clients make a full handshake.
   */
  setTicketKeys(keys: Uint8Array): void {
    this.ticketKeys = Buffer.from(keys);
    this.kept.clear();
  }

  /** Cost: about 0.3 ms when it is made. Errors: those of OpenSSL for a key that does not fit. */
  get(
    certificate: CertificateConfig,
    minVersion: TlsVersion,
    authorities: ClientAuthorities | null = null,
  ): SecureContext {
    const name = `${certificate.fingerprint} ${minVersion} ${authorities?.fingerprint ?? ''}`;
    const known = this.kept.get(name);
    if (known !== undefined) {
      // The one used last comes last.
      this.kept.delete(name);
      this.kept.set(name, known);
      return known;
    }
    const made = this.make(certificate, minVersion, authorities);
    this.kept.set(name, made);
    if (this.kept.size > this.max) this.kept.delete(this.kept.keys().next().value!);
    return made;
  }

  private make(
    certificate: CertificateConfig,
    minVersion: TlsVersion,
    authorities: ClientAuthorities | null,
  ): SecureContext {
    const secureOptions = constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_COMPRESSION;
    return createSecureContext({
      cert: Buffer.from(certificate.certificatePem),
      key: Buffer.from(certificate.keyPem),
      // The system's authorities are never read.
      ca: authorities === null ? [] : [authorities.caPem],
      // OpenSSL reads one list of a text. With any, it checks each certificate of a chain.
      crl: authorities?.crlPem.match(pemBlock) ?? [],
      minVersion,
      maxVersion: 'TLSv1.3',
      ciphers,
      ecdhCurve: curves,
      honorCipherOrder: false,
      // What a client shows is checked in each handshake: no session is resumed.
      secureOptions:
        authorities === null ? secureOptions : secureOptions | constants.SSL_OP_NO_TICKET,
      // A ticket of one certificate opens no session of another.
      sessionIdContext: certificate.fingerprint.slice(0, 32),
      sessionTimeout: tlsLimits.sessionSeconds,
      ...(this.ticketKeys === null ? {} : { ticketKeys: this.ticketKeys }),
    });
  }
}

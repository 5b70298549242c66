/**
 * Tells why an origin could not be reached from what Node reports, and says it to people. The codes
 * travel in events, counters and health reports: they are stable.
 */

import { ORIGIN_FAILURE, type OriginFailure } from './origin-sink.ts';

/** Codes of OpenSSL's verification, by what an operator has to do about them. */
const verifyFailures: ReadonlyMap<string, OriginFailure> = new Map<string, OriginFailure>([
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', ORIGIN_FAILURE.tlsAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT', ORIGIN_FAILURE.tlsAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', ORIGIN_FAILURE.tlsAuthority],
  ['SELF_SIGNED_CERT_IN_CHAIN', ORIGIN_FAILURE.tlsAuthority],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', ORIGIN_FAILURE.tlsAuthority],
  ['CERT_UNTRUSTED', ORIGIN_FAILURE.tlsAuthority],
  ['CERT_SIGNATURE_FAILURE', ORIGIN_FAILURE.tlsAuthority],
  ['INVALID_CA', ORIGIN_FAILURE.tlsAuthority],
  ['CERT_HAS_EXPIRED', ORIGIN_FAILURE.tlsExpired],
  ['CERT_NOT_YET_VALID', ORIGIN_FAILURE.tlsExpired],
  ['ERR_TLS_CERT_ALTNAME_INVALID', ORIGIN_FAILURE.tlsName],
  ['HOSTNAME_MISMATCH', ORIGIN_FAILURE.tlsName],
]);

/** Why a connection attempt failed; `secure` says that TLS was spoken. */
export function connectFailure(error: unknown, secure: boolean): OriginFailure {
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  if (!secure) return ORIGIN_FAILURE.connect;
  const verified = verifyFailures.get(code);
  if (verified !== undefined) return verified;
  const tls = code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_');
  return tls ? ORIGIN_FAILURE.tls : ORIGIN_FAILURE.connect;
}

const texts: Readonly<Record<OriginFailure['code'], string>> = {
  origin_connect: 'the address is unknown, unreachable or refuses connections',
  origin_tls: 'the TLS handshake failed: does the origin speak TLS on this port?',
  origin_tls_authority:
    'TLS: the certificate is of an unknown authority; give the pool its CA certificate',
  origin_tls_expired: 'TLS: the certificate is expired or not yet valid',
  origin_tls_name: 'TLS: the certificate is for another name; set the server name of the pool',
  origin_connect_timeout: 'no connection in time',
  origin_busy: 'too many requests wait for a connection',
  origin_none: 'there is no address to ask',
  origin_stale: 'a kept connection was closed',
  origin_closed: 'the connection was closed before the answer was complete',
  origin_bad_response: 'the answer is no valid HTTP/1.x',
  origin_first_byte_timeout: 'no answer in time',
  origin_read_timeout: 'the answer stopped in the middle',
};

/** A failure for people, with what to do where that is known. */
export function failureText(code: OriginFailure['code']): string {
  return texts[code];
}

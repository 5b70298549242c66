/**
 * The certificate that a client showed, as OpenSSL judged it during the handshake: chain, validity
 * and purpose. Nothing of it comes from what the client says later.
 */

import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { encodeUtf8 } from '../../base/byte-string.ts';
import { tlsLimits } from '../../base/delivery-limits.ts';
import type { CertificateState, ClientAuthorities, ShownCertificate } from '../contract/tls.ts';

/** What Node's socket knows of OpenSSL's verdict; a server that it did not make has to ask. */
interface Verified {
  readonly ssl?: { verifyError(): NodeJS.ErrnoException | null | undefined };
}

/** After a handshake that asked for one. */
export function shownCertificate(
  socket: TLSSocket,
  { fingerprint: authorities }: ClientAuthorities,
): ShownCertificate {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return { authorities, state: 'none', lines: '' };
  const { ssl } = socket as Verified;
  const fault = ssl === undefined ? '' : (ssl.verifyError()?.code ?? null);
  const lines = fault === null ? linesOf(certificate) : null;
  if (lines === null) return { authorities, state: stateOf(fault ?? ''), lines: '' };
  return { authorities, state: 'valid', lines };
}

/** Of a code of OpenSSL, as Node spells it (X509_V_ERR without its prefix). */
function stateOf(fault: string): CertificateState {
  if (fault === 'CERT_REVOKED') return 'revoked';
  return /(?:^|_)CRL(?:_|$)/.test(fault) ? 'unchecked' : 'invalid';
}

/** Null for a subject that no field carries. */
function linesOf({ subject, fingerprint256 }: X509Certificate): string | null {
  // Node gives one name a line, the last one first, values escaped as RFC 2253 asks, so that ` + `
  // stands between attributes of one name only.
  const names = (subject ?? '').replaceAll(' + ', '+').split('\n');
  const name = encodeUtf8(names.toReversed().join(','));
  const { subjectBytesMax } = tlsLimits;
  if (name.length > subjectBytesMax || !/^[\x20-\x7e\x80-\xff]*$/.test(name)) return null;
  const digest = fingerprint256.replaceAll(':', '').toLowerCase();
  return `X-Client-Cert-Subject: ${name}\r\nX-Client-Cert-Fingerprint: ${digest}\r\n`;
}

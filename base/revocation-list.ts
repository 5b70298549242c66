/** Certificate revocation lists (RFC 5280 section 5). */

import { createSecureContext } from 'node:tls';

/** True for PEM that TLS contexts take as a revocation list. */
export function isRevocationList(pem: string): boolean {
  try {
    createSecureContext({ crl: pem });
    return true;
  } catch {
    // The caller says what is wrong: OpenSSL's words name no field.
    return false;
  }
}

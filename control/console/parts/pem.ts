/** Splits a text of certificates in PEM: the first is the site's, the others its chain. */

/** The parts of an upload. */
export interface PemParts {
  readonly certPem: Uint8Array;
  readonly keyPem: Uint8Array;
  readonly chainPem: string[];
}

/** The parts as the API takes them; a text without a certificate is sent as it is. */
export function pemParts(cert: string, key: string): PemParts {
  const bytes = new TextEncoder();
  const blocks = cert.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return {
    certPem: bytes.encode(blocks[0] ?? cert),
    keyPem: bytes.encode(key),
    chainPem: blocks.slice(1),
  };
}

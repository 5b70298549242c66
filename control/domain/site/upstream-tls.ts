/** Checks how a connection to an https origin is verified: by which authorities, for which name. */

import { X509Certificate } from 'node:crypto';
import type { UpstreamTlsJson } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { invalidField } from '../errors.ts';

const block = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const namePattern = /^(?!.*\.\.)[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?$/;

/**
 * Checks the settings of a pool or of a site's own origins; `secure` says that these speak TLS.
 * Errors: invalid_argument under `field`. Cost: parses the certificates, some 50 us each.
 */
export function checkUpstreamTls(
  tls: UpstreamTlsJson | undefined,
  secure: boolean,
  field: string,
): void {
  if (tls === undefined) return;
  const { caPem = '', serverName = '', skipVerify = false } = tls;
  if (caPem === '' && serverName === '' && !skipVerify) return;
  if (!secure) throw invalidField(field, 'is for https endpoints; these are http');
  if (skipVerify && caPem !== '') {
    throw invalidField(
      `${field}.skipVerify`,
      'excludes caPem: nothing would be checked against it',
    );
  }
  if (serverName !== '' && !namePattern.test(serverName)) {
    throw invalidField(`${field}.serverName`, 'must be a host name without a port');
  }
  if (caPem !== '') checkAuthorities(caPem, `${field}.caPem`);
}

/** Checks certificates of authorities in PEM. Errors: invalid_argument under `field`. */
export function checkAuthorities(pem: string, field: string): void {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    throw invalidField(field, 'must hold certificates only: a private key does not belong here');
  }
  const blocks = pem.match(block) ?? [];
  if (blocks.length === 0) throw invalidField(field, 'must hold a certificate in PEM');
  const { upstreamAuthoritiesMax: most } = resourceLimits;
  if (blocks.length > most) throw invalidField(field, `has at most ${most} certificates`);
  blocks.forEach((text, at) => {
    try {
      void new X509Certificate(text);
    } catch {
      throw invalidField(field, `certificate ${at + 1} of ${blocks.length} cannot be read`);
    }
  });
}

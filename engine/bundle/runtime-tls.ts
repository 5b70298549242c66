/**
 * From the certificates of a bundle to what sites are served with. Texts lie in shared memory, one
 * copy for all threads and for every bundle that holds the same certificate.
 */

import { createHash } from 'node:crypto';
import type {
  RuntimeBundle,
  RuntimeCertificate,
  RuntimeSite,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError } from '../../base/errors.ts';
import type { CertificateConfig, HttpBehavior, SiteTlsConfig } from '../contract/tls.ts';

const behaviors: readonly HttpBehavior[] = ['redirect', 'acme_only', 'both'];

/** By message: pieces that do not change give the same ones again. */
const known = new WeakMap<RuntimeCertificate, CertificateConfig>();

/** Finds the TLS settings of a site. Errors (of the function): AppError bundle_invalid. */
export function tlsOf(bundle: RuntimeBundle): (site: RuntimeSite) => SiteTlsConfig | undefined {
  const certificates = new Map(bundle.certificates.map((one) => [one.id, one]));
  return ({ name, tls }) => {
    if (tls === undefined) return undefined;
    const behavior = behaviors.find((one) => one === tls.httpBehavior);
    const found = certificates.get(tls.certificateId);
    if (behavior === undefined) throw invalid(name, 'its HTTP behavior is unknown');
    if (found === undefined && tls.certificateId !== '') {
      throw invalid(name, 'its certificate is missing');
    }
    return {
      certificate: found === undefined ? null : certificateOf(found),
      minVersion: tls.minMinorVersion >= 3 ? 'TLSv1.3' : 'TLSv1.2',
      httpBehavior: behavior,
      strictTransportSecurity: tls.strictTransportSecurity,
    };
  };
}

function certificateOf(message: RuntimeCertificate): CertificateConfig {
  let config = known.get(message);
  if (config === undefined) {
    const { certificatePem, keyPem } = message;
    const hash = createHash('sha256').update(`${certificatePem.length}\n`);
    config = {
      fingerprint: hash.update(certificatePem).update(keyPem).digest('hex'),
      certificatePem: shared(certificatePem),
      keyPem: shared(keyPem),
    };
    known.set(message, config);
  }
  return config;
}

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

function invalid(site: string, what: string): AppError {
  return new AppError('bundle_invalid', `site ${site}: ${what}`, { source: 'config' });
}

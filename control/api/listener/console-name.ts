/**
 * What the management listener shows to clients that ask for the console's own name: the managed
 * certificate of that name. Every other client gets the certificate of the listener.
 */

import { createSecureContext, type SecureContext } from 'node:tls';
import { consoleHostOf } from '../../domain/settings/console-settings.ts';
import { coversHost } from '../../domain/site/certificates.ts';
import type { CertificateRecord } from '../../domain/resource-records.ts';
import {
  certificateKeys,
  certificates,
  settingsId,
  systemSettings,
} from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';

/** What is shown for a name; null for the listener's own certificate. */
export type NamedContext = (name: string) => SecureContext | null;

/** Reads settings and certificates on each handshake: a renewed one is shown from then on. */
export function consoleContexts(store: ReadStore): NamedContext {
  let kept: { fingerprint: string; context: SecureContext } | null = null;
  return (name) => {
    const host = consoleHostOf(store.get(systemSettings, settingsId)?.values ?? {});
    if (host === '' || name.toLowerCase() !== host) return null;
    const found = newestFor(store, host);
    const key = found === undefined ? '' : (store.get(certificateKeys, found.id)?.keyPem ?? '');
    if (found === undefined || key === '') return null;
    const { fingerprintSha256: fingerprint, certPem, chainPem } = found;
    if (kept?.fingerprint !== fingerprint) {
      const cert = [certPem, ...chainPem].join('');
      kept = { fingerprint, context: createSecureContext({ cert, key, minVersion: 'TLSv1.2' }) };
    }
    return kept.context;
  };
}

/** The managed certificate of a host that ends last. */
function newestFor(store: ReadStore, host: string): CertificateRecord | undefined {
  const endMs = ({ notAfter = '' }: CertificateRecord): number => Date.parse(notAfter);
  return store
    .list(certificates)
    .filter(({ managed, certPem, dnsNames = [] }) => {
      return managed === true && certPem !== '' && coversHost(dnsNames, host);
    })
    .toSorted((left, right) => endMs(right) - endMs(left))[0];
}

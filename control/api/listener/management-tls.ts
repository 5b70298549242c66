/**
 * What the management listener proves itself with: files of the operator, or a certificate of our
 * own below the data folder, made on the first start. Never writes files of the operator.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { callLimits } from '../../limits/call-limits.ts';
import { AppError } from '../../../base/errors.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { makeAuthority, makeServerCertificate, type CertificatePem } from './own-certificate.ts';

/** How the management listener is secured: our own certificate, the operator's, or not at all. */
export type ManagementTls =
  'own' | 'off' | { readonly certificateFile: string; readonly keyFile: string };

/** The certificate that is presented now. */
export interface TlsIdentity {
  options(): SecureContextOptions;
  /** Calls back when another certificate took the place of the one before. */
  onReplaced(listener: () => void): void;
  /** Of the certificate presented now; clients can compare it. Upper-case hex with colons. */
  fingerprint(): string;
  /** The authority that clients must be told of, PEM; '' where they know it or must ask people. */
  authority(): string;
  close(): void;
}

/** What a certificate is opened with. */
export interface TlsOptions {
  /** Folder of our own certificate. */
  readonly folder: string;
  /** Host that the listener is bound to; it stands in our own certificate. */
  readonly host: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const renewBeforeMs = 30 * 24 * 3600 * 1000;

/**
 * Opens the identity and keeps it fresh: files that changed are read again, our own certificate is
 * renewed before it ends. A file that became unusable is logged and the old one stays. Errors:
 * AppError certificate_unusable at the start.
 */
export async function openTlsIdentity(
  tls: Exclude<ManagementTls, 'off'>,
  options: TlsOptions,
): Promise<TlsIdentity> {
  const load = async (): Promise<CertificatePem> =>
    tls === 'own' ? ownCertificate(options) : readFiles(tls.certificateFile, tls.keyFile);
  let pem = await load();
  let current = checkedOptions(pem, tls);
  const listeners: (() => void)[] = [];
  const timer = setInterval(() => {
    load()
      .then((fresh) => {
        if (fresh.certificate === pem.certificate && fresh.key === pem.key) return;
        current = checkedOptions(fresh, tls);
        pem = fresh;
        for (const listener of listeners) listener();
        options.logger.info('the management certificate was replaced', {});
      })
      .catch((error: unknown) => {
        const reason = error instanceof AppError ? error.message : 'unknown';
        options.logger.error('the management certificate could not be read again', { reason });
      });
  }, callLimits.certificateCheckMs);
  timer.unref();
  return {
    options: () => current,
    onReplaced: (listener) => void listeners.push(listener),
    fingerprint: () => new X509Certificate(pem.certificate).fingerprint256,
    authority: () => (tls === 'own' ? (readPair(options.folder, 'ca')?.certificate ?? '') : ''),
    close: () => clearInterval(timer),
  };
}

function readFiles(certificateFile: string, keyFile: string): CertificatePem {
  return {
    certificate: readPem(certificateFile, '--management-cert'),
    key: readPem(keyFile, '--management-key'),
  };
}

function readPem(path: string, flag: string): string {
  try {
    if (statSync(path).size > callLimits.pemBytesMax) throw new Error('too large');
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw unusable(`${flag}: ${path} cannot be read`, cause);
  }
}

/** The options of a pair that works. Errors: AppError certificate_unusable. */
function checkedOptions(
  pem: CertificatePem,
  tls: Exclude<ManagementTls, 'off'>,
): SecureContextOptions {
  const where = tls === 'own' ? 'the certificate of our own' : tls.certificateFile;
  let fits: boolean;
  try {
    fits = new X509Certificate(pem.certificate).checkPrivateKey(createPrivateKey(pem.key));
  } catch (cause) {
    throw unusable(`${where} or its key is not PEM that can be used`, cause);
  }
  if (!fits) throw unusable(`${where} does not belong to the key given with it`, null);
  try {
    const options = { cert: pem.certificate, key: pem.key, minVersion: 'TLSv1.2' } as const;
    createSecureContext(options);
    return options;
  } catch (cause) {
    throw unusable(`${where} cannot be used: the key is too weak or the chain is broken`, cause);
  }
}

function unusable(message: string, cause: unknown): AppError {
  return new AppError('certificate_unusable', message, { source: 'config', cause });
}

/** Our own certificate, made or renewed where needed. Cost: two small reads when nothing is due. */
async function ownCertificate({ folder, host, clock }: TlsOptions): Promise<CertificatePem> {
  const names = namesOf(host);
  const present = readPair(folder, 'server');
  if (present !== null && serves(present, names, clock.nowMs())) return present;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let authority = readPair(folder, 'ca');
  if (authority === null || endsWithin(authority, clock.nowMs(), 2 * renewBeforeMs)) {
    authority = await makeAuthority(clock.nowMs());
    writePair(folder, 'ca', authority);
  }
  const made = await makeServerCertificate(authority, names, clock.nowMs());
  writePair(folder, 'server', made);
  return made;
}

/** Names that clients of this machine and its network use. */
function namesOf(host: string): string[] {
  const everywhere = host === '0.0.0.0' || host === '::' || host === '';
  const names = ['localhost', '127.0.0.1', '::1', ...(everywhere ? [] : [host])];
  const own = hostname().toLowerCase();
  if (/^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$/.test(own) && isIP(own) === 0) names.push(own);
  return [...new Set(names)];
}

function serves(pem: CertificatePem, names: readonly string[], nowMs: number): boolean {
  if (endsWithin(pem, nowMs, renewBeforeMs)) return false;
  const certificate = new X509Certificate(pem.certificate);
  return names.every((name) =>
    isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name),
  );
}

function endsWithin(pem: CertificatePem, nowMs: number, spanMs: number): boolean {
  return Date.parse(new X509Certificate(pem.certificate).validTo) - nowMs < spanMs;
}

/** A pair of our own files; null when there is none, or none that belongs together. */
function readPair(folder: string, name: string): CertificatePem | null {
  try {
    const certificate = readFileSync(join(folder, `${name}.pem`), 'utf8');
    const key = readFileSync(join(folder, `${name}.key`), 'utf8');
    const fits = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
    return fits ? { certificate, key } : null;
  } catch {
    return null;
  }
}

function writePair(folder: string, name: string, pem: CertificatePem): void {
  writeWhole(join(folder, `${name}.key`), pem.key, 0o600);
  writeWhole(join(folder, `${name}.pem`), pem.certificate, 0o644);
}

/** Readers see the old file or the new one, never a half. */
function writeWhole(path: string, text: string, mode: number): void {
  writeFileSync(`${path}.new`, text, { mode });
  renameSync(`${path}.new`, path);
}

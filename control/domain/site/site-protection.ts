/** What the TLS and bot settings of a site may be, and what they are where it states none. */

import type { BotProtectionConfigJson, SiteJson } from '../../../proto/gen/waf/v1/site_pb.ts';
import { coversHost } from './certificates.ts';
import { invalidField, refusal } from '../errors.ts';

/** What a site needs to know of a certificate. */
export interface CertificateFacts {
  readonly dnsNames: readonly string[];
  /** RFC 3339. */
  readonly notAfter: string;
  /** Whether it has ended. */
  readonly expired: boolean;
}

/** What TLS settings are checked against. */
export interface TlsSurroundings {
  certificate?(id: string): CertificateFacts | undefined;
  canProveDns?(host: string): boolean;
}

/** What bot settings are checked against. */
export interface BotSurroundings {
  ipListExists?(id: string): boolean;
}

type TlsJson = NonNullable<SiteJson['tls']>;

/** What a challenge demands and grants where nothing else is chosen. */
export const standardChallenge = {
  challengeTtlSeconds: 120,
  clearanceTtlSeconds: 3_600,
  proofDifficulty: 16,
} as const;

/**
 * The TLS settings with standard values. Errors: invalid_argument; failed_precondition when the
 * certificate does not cover every host, has ended, or a wildcard could not be proved by DNS.
 */
export function checkTls(site: SiteJson, around: TlsSurroundings): TlsJson | undefined {
  const { tls } = site;
  if (tls === undefined) return undefined;
  const mode = tls.mode ?? 'TLS_MODE_NONE';
  const certId = tls.certId ?? '';
  if (mode === 'TLS_MODE_NONE' || mode === 'TLS_MODE_UNSPECIFIED') {
    if (certId !== '') {
      throw invalidField('site.tls.certId', 'needs tls.mode TLS_MODE_UPLOADED');
    }
    return { ...tls, mode: 'TLS_MODE_NONE' };
  }
  if (mode === 'TLS_MODE_UPLOADED' && certId === '') {
    throw invalidField('site.tls.certId', 'is required for TLS_MODE_UPLOADED');
  }
  if (certId !== '') checkCoverage(site, certId, around);
  if (mode === 'TLS_MODE_MANAGED_ACME') checkProvable(site, around);
  const behavior = tls.httpBehavior ?? 'TLS_HTTP_BEHAVIOR_UNSPECIFIED';
  const version = tls.minVersion ?? 'TLS_VERSION_UNSPECIFIED';
  return {
    ...tls,
    mode,
    minVersion: version === 'TLS_VERSION_UNSPECIFIED' ? 'TLS_VERSION_1_2' : version,
    httpBehavior:
      behavior === 'TLS_HTTP_BEHAVIOR_UNSPECIFIED' ? 'TLS_HTTP_BEHAVIOR_SERVE_BOTH' : behavior,
  };
}

function checkCoverage(site: SiteJson, certId: string, around: TlsSurroundings): void {
  const facts = around.certificate?.(certId);
  if (facts === undefined) throw invalidField('site.tls.certId', 'does not exist');
  if (facts.expired) {
    throw refusal('failed_precondition', 'site.tls.certId: the certificate has expired');
  }
  eachHost(site, (host, field) => {
    if (coversHost(facts.dnsNames, host)) return;
    const problem = `site.tls.certId: the certificate does not cover ${field}`;
    throw refusal('failed_precondition', problem);
  });
}

function checkProvable(site: SiteJson, around: TlsSurroundings): void {
  eachHost(site, (host, field) => {
    if (!host.startsWith('*.') || (around.canProveDns?.(host) ?? true)) return;
    throw refusal(
      'failed_precondition',
      `site.tls.mode: a managed certificate for the wildcard ${field} needs DNS-01, and no active ` +
        'DNS provider answers for its zone',
    );
  });
}

function eachHost(site: SiteJson, visit: (host: string, field: string) => void): void {
  visit(site.primaryHost ?? '', 'site.primaryHost');
  (site.aliases ?? []).forEach((alias, at) => visit(alias, `site.aliases[${at}]`));
}

function checkBotPaths(paths: readonly string[], at: string): void {
  paths.forEach((path, index) => {
    if (/^\/[^\s?#]{0,1023}$/.test(path)) return;
    throw invalidField(`${at}[${index}]`, 'must be a path that begins with a slash');
  });
}

/** The bot settings with standard values. Errors: invalid_argument naming the field. */
export function checkBotProtection(
  bot: BotProtectionConfigJson | undefined,
  around: BotSurroundings,
): BotProtectionConfigJson | undefined {
  if (bot === undefined) return undefined;
  const at = 'site.botProtection';
  checkBotPaths(bot.exemptPaths ?? [], `${at}.exemptPaths`);
  checkBotPaths(bot.challengePaths ?? [], `${at}.challengePaths`);
  const exemptMethods = bot.exemptMethods ?? [];
  exemptMethods.forEach((method, index) => {
    if (/^[A-Za-z][A-Za-z-]{0,31}$/.test(method)) return;
    throw invalidField(`${at}.exemptMethods[${index}]`, 'must be an HTTP method');
  });
  (bot.trustedIpListIds ?? []).forEach((id, index) => {
    if (around.ipListExists?.(id) ?? true) return;
    throw invalidField(`${at}.trustedIpListIds[${index}]`, 'does not exist');
  });
  const mode = bot.mode ?? 'BOT_PROTECTION_MODE_UNSPECIFIED';
  const stated = Object.entries(bot).filter(([, value]) => value !== 0);
  return {
    ...standardChallenge,
    ...Object.fromEntries(stated),
    ...(exemptMethods.length === 0
      ? {}
      : { exemptMethods: [...new Set(exemptMethods.map((one) => one.toUpperCase()))] }),
    mode: mode === 'BOT_PROTECTION_MODE_UNSPECIFIED' ? 'BOT_PROTECTION_MODE_OFF' : mode,
  };
}

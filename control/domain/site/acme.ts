/**
 * What is ordered from certificate authorities: the record of an order, which lives as long as its
 * certificate, the checks of a wish, and the settings of the deployment. Pure.
 */

import { parseAddress } from '../../../base/ip-address.ts';
import { invalidField } from '../errors.ts';
import { normalizeHost } from './hosts.ts';

/** An order and, once it was filled, the renewal of its certificate. */
export interface AcmeOrderRecord {
  readonly id: string;
  readonly tenantId: string;
  /** Name of the certificate. */
  readonly name: string;
  /** '' until there is one. */
  readonly certificateId: string;
  readonly dnsNames: readonly string[];
  readonly email: string;
  readonly directoryUrl: string;
  /** As people chose it: letsencrypt, letsencrypt-staging or custom. */
  readonly issuer: string;
  readonly challengeType: 'http-01' | 'dns-01';
  /** When it is to be run next, milliseconds since the epoch: first, again, or for a renewal. */
  readonly dueAtMs: number;
  /** When the authority is to be asked when to renew; 0 before there is a certificate. */
  readonly askAtMs: number;
  /** Failures in a row. */
  readonly attempts: number;
  /** Why the last one failed; '' when it did not. */
  readonly lastError: string;
  /** RFC 3339; '' for never. */
  readonly lastFailedAt: string;
  readonly lastIssuedAt: string;
  readonly createdAt: string;
}

/** An account at an authority; the id is a hash of authority and mail address. */
export interface AcmeAccountRecord {
  readonly id: string;
  readonly directoryUrl: string;
  readonly email: string;
  readonly keyPem: string;
  readonly accountUrl: string;
}

/** What people ask for. */
export interface OrderWish {
  readonly name: string;
  readonly dnsNames: readonly string[];
  readonly email: string;
  readonly staging: boolean;
  readonly acmeIssuer: string;
  readonly directoryUrl: string;
  readonly challengeType: string;
}

/** Key of the settings. */
export const acmeKey = 'acme.config';
/** The secret among them. */
export const acmeSecretField = 'eabHmacKey';

/** Settings of the deployment; what is left out is ''. */
export interface AcmeSettings {
  /** Contact of accounts. */
  readonly email: string;
  /** Directory of the authority for orders that name none. */
  readonly directoryUrl: string;
  /** Authorities that certificates of directories may come from beside the system's, PEM. */
  readonly caPem: string;
  /** Kind of certificate, in the authority's words. */
  readonly profile: string;
  /** External account (RFC 8555 section 7.3.4). */
  readonly eabKeyId: string;
  readonly eabHmacKey: string;
}

/** Directories by the words of the API. */
export const acmeDirectories: Readonly<Record<string, string>> = {
  letsencrypt: 'https://acme-v02.api.letsencrypt.org/directory',
  'letsencrypt-staging': 'https://acme-staging-v02.api.letsencrypt.org/directory',
};

const fields = ['email', 'directoryUrl', 'caPem', 'profile', 'eabKeyId', 'eabHmacKey'] as const;
const settingCharactersMax = 100_000;
const namesMax = 100;

/** Errors: invalid_argument under `at`. */
export function checkAcmeSettings(value: unknown, at: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidField(at, 'must be an object');
  }
  for (const [name, given] of Object.entries(value)) {
    if (!(fields as readonly string[]).includes(name)) {
      throw invalidField(`${at}.${name}`, `Unknown field. Allowed: ${fields.join(', ')}.`);
    }
    if (typeof given !== 'string' || given.length > settingCharactersMax) {
      throw invalidField(`${at}.${name}`, 'must be text');
    }
  }
  const {
    directoryUrl = '',
    email = '',
    eabKeyId = '',
    eabHmacKey = '',
  } = value as Partial<AcmeSettings>;
  if (directoryUrl !== '') checkDirectory(directoryUrl, `${at}.directoryUrl`);
  checkEmail(email, `${at}.email`);
  if ((eabKeyId === '') !== (eabHmacKey === '')) {
    throw invalidField(`${at}.eabKeyId`, 'and eabHmacKey belong together: give both or neither');
  }
}

/** The settings, from stored values. */
export function acmeSettingsOf(values: Readonly<Record<string, unknown>>): AcmeSettings {
  const given = (values[acmeKey] ?? {}) as Partial<AcmeSettings>;
  return Object.fromEntries(fields.map((name) => [name, given[name] ?? ''])) as never;
}

/** What an order is made of. */
export type CheckedOrder = Pick<
  AcmeOrderRecord,
  'dnsNames' | 'email' | 'directoryUrl' | 'issuer' | 'challengeType'
>;

/** A wish with standard values. Errors: invalid_argument naming the field. */
export function checkOrder(wish: OrderWish, settings: AcmeSettings): CheckedOrder {
  const dnsNames = checkNames(wish.dnsNames);
  const wildcard = dnsNames.findIndex((name) => name.startsWith('*.'));
  const challengeType = wish.challengeType === 'dns-01' ? 'dns-01' : 'http-01';
  if (wildcard >= 0 && challengeType === 'http-01') {
    throw invalidField(`dnsNames[${wildcard}]`, 'is a wildcard: it needs challengeType dns-01');
  }
  const email = wish.email || settings.email;
  checkEmail(email, 'email');
  return { dnsNames, email, challengeType, ...directoryOf(wish, settings) };
}

function directoryOf(wish: OrderWish, settings: AcmeSettings) {
  if (wish.directoryUrl !== '') {
    checkDirectory(wish.directoryUrl, 'directoryUrl');
    return { directoryUrl: wish.directoryUrl, issuer: 'custom' };
  }
  const issuer = wish.staging ? 'letsencrypt-staging' : wish.acmeIssuer;
  const known = acmeDirectories[issuer];
  if (known !== undefined) return { directoryUrl: known, issuer };
  if (settings.directoryUrl !== '')
    return { directoryUrl: settings.directoryUrl, issuer: 'custom' };
  if (issuer === 'custom') throw invalidField('directoryUrl', 'is required for acmeIssuer custom');
  return { directoryUrl: acmeDirectories['letsencrypt']!, issuer: 'letsencrypt' };
}

/** Names that an authority can prove. Errors: invalid_argument. */
function checkNames(names: readonly string[]): string[] {
  if (names.length === 0) throw invalidField('dnsNames', 'is required');
  if (names.length > namesMax) throw invalidField('dnsNames', `has at most ${namesMax} names`);
  const checked = names.map((name, at) => {
    const host = normalizeHost(name, `dnsNames[${at}]`);
    if (!provable(host)) throw invalidField(`dnsNames[${at}]`, 'must be a name of public DNS');
    return host;
  });
  return [...new Set(checked)];
}

/** Whether a host of a site is a name that an authority can prove. */
export function provable(host: string): boolean {
  return (
    !host.startsWith('[') &&
    parseAddress(host) === null &&
    host.includes('.') &&
    !host.includes('_')
  );
}

function checkDirectory(text: string, field: string): void {
  const url = parseUrl(text);
  if (url !== null && url.protocol === 'https:' && url.username === '') return;
  throw invalidField(field, 'must be an address that begins with https://');
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function checkEmail(text: string, field: string): void {
  if (text === '' || /^[^\s@,;?]+@[^\s@,;?]+$/.test(text)) return;
  throw invalidField(field, 'must be a mail address');
}

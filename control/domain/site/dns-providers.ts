/** What an account at a DNS provider may be, and which account answers for a host. */

import type { ACMEDNSProviderJson } from '../../../proto/gen/waf/v1/cert_pb.ts';
import { invalidField } from '../errors.ts';
import { checkName } from '../names.ts';
import { normalizeHost } from './hosts.ts';

/** Kinds of DNS provider that can be named. */
export const dnsProviderDrivers: readonly string[] = ['aliyun', 'cloudflare', 'rfc2136', 'route53'];

const zonesMax = 100;
const settingsMax = 64;
const settingCharactersMax = 1024;
const propagationSecondsMax = 3600;
const credentialsBytesMax = 16 * 1024;
const statuses = ['active', 'disabled'];

/** The fields of an account with names and zones in their stored form. */
export type CheckedDnsProvider = Required<
  Pick<
    ACMEDNSProviderJson,
    'name' | 'provider' | 'zones' | 'settings' | 'propagationSeconds' | 'status'
  >
>;

/** Errors: invalid_argument naming the field. */
export function checkDnsProvider(asked: ACMEDNSProviderJson): CheckedDnsProvider {
  const name = checkName(asked.name, 'name');
  const provider = asked.provider ?? '';
  if (!dnsProviderDrivers.includes(provider)) {
    throw invalidField('provider', `must be one of ${dnsProviderDrivers.join(', ')}`);
  }
  const status = asked.status || 'active';
  if (!statuses.includes(status)) throw invalidField('status', 'must be active or disabled');
  const propagationSeconds = asked.propagationSeconds ?? 0;
  if (propagationSeconds < 0 || propagationSeconds > propagationSecondsMax) {
    throw invalidField('propagationSeconds', `must be between 0 and ${propagationSecondsMax}`);
  }
  return {
    name,
    provider,
    zones: checkZones(asked.zones ?? []),
    settings: checkSettingTexts(asked.settings ?? {}),
    propagationSeconds,
    status,
  };
}

/** The credentials as they are kept. Errors: invalid_argument; nothing of them is repeated. */
export function checkDnsCredentials(bytes: Uint8Array): string {
  const field = 'credentialsJson';
  if (bytes.length > credentialsBytesMax) {
    throw invalidField(field, `is larger than ${credentialsBytesMax} bytes`);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalidField(field, 'must hold JSON');
  }
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  const values = isObject ? Object.values(parsed as object) : [];
  if (values.length === 0 || values.some((one) => typeof one !== 'string' || one === '')) {
    throw invalidField(field, 'must hold a JSON object whose values are texts');
  }
  return JSON.stringify(parsed);
}

/** The active accounts that answer for the zone of a host; an account without zones for all. */
export function providersFor<T extends ACMEDNSProviderJson>(
  host: string,
  providers: readonly T[],
): T[] {
  const name = host.replace(/^\*\./, '');
  const holds = (zone: string): boolean => name === zone || name.endsWith(`.${zone}`);
  return providers.filter(
    ({ status, zones = [] }) => status === 'active' && (zones.length === 0 || zones.some(holds)),
  );
}

function checkZones(zones: readonly string[]): string[] {
  if (zones.length > zonesMax) throw invalidField('zones', `has at most ${zonesMax} entries`);
  const seen = new Set<string>();
  return zones.map((zone, at) => {
    const name = normalizeHost(zone, `zones[${at}]`);
    if (name.startsWith('*.') || !/^[a-z0-9.-]+$/.test(name)) {
      throw invalidField(`zones[${at}]`, 'must be a domain such as example.com');
    }
    if (seen.has(name)) throw invalidField(`zones[${at}]`, 'stands here twice');
    seen.add(name);
    return name;
  });
}

function checkSettingTexts(settings: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(settings);
  if (entries.length > settingsMax) {
    throw invalidField('settings', `has at most ${settingsMax} entries`);
  }
  for (const [key, value] of entries) {
    if (/^[\w.-]{1,64}$/.test(key) && value.length <= settingCharactersMax) continue;
    throw invalidField(
      'settings',
      `has names of letters, digits, _, . and -, and values of at most ${settingCharactersMax} ` +
        'characters',
    );
  }
  return { ...settings };
}

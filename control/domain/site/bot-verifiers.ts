/**
 * The setting that names verifiers: services of others that tell people from programs, and the
 * hosts of the sites that use them. Pure.
 */

import { verifierLimits } from '../../../base/guard-limits.ts';
import { invalidField } from '../errors.ts';
import { normalizeHost } from './hosts.ts';
import {
  boolean,
  checkFields,
  filled,
  oneOf,
  pattern,
  text,
  webAddress,
  type Fields,
} from '../setting-fields.ts';

/** Key of the verifiers. */
export const verifiersKey = 'bot.verifiers';
/** The field of a verifier that is never shown. */
export const verifierSecretField = 'secret';
/** Stands for all sites that no verifier names. */
export const everyHost = '*';

/** One verifier. */
export interface BotVerifier {
  readonly id: string;
  readonly kind: keyof typeof addresses;
  /** Hosts of sites, or `*`. */
  readonly hosts: readonly string[];
  readonly siteKey: string;
  readonly secret: string;
  /** Where its script is and where it is asked. */
  readonly scriptUrl: string;
  readonly verifyUrl: string;
  /** Of recaptcha_score: the least score that passes. */
  readonly minScore: number;
  /** Who cannot use it answers the built-in question instead. */
  readonly fallback: boolean;
}

/** Where the services say that they are. */
const addresses = {
  turnstile: {
    scriptUrl: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  },
  hcaptcha: {
    scriptUrl: 'https://js.hcaptcha.com/1/api.js',
    verifyUrl: 'https://api.hcaptcha.com/siteverify',
  },
  recaptcha: {
    scriptUrl: 'https://www.google.com/recaptcha/api.js',
    verifyUrl: 'https://www.google.com/recaptcha/api/siteverify',
  },
  recaptcha_score: {
    scriptUrl: 'https://www.google.com/recaptcha/api.js',
    verifyUrl: 'https://www.google.com/recaptcha/api/siteverify',
  },
} as const;

/** The kinds of services. */
export const verifierKinds = Object.keys(addresses);

const fields: Fields = {
  id: ['', pattern(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be 1 to 32 lower-case letters or digits')],
  kind: ['', oneOf(...verifierKinds)],
  hosts: [[], hostList],
  siteKey: ['', pattern(/^[\w.-]{1,256}$/, 'must be 1 to 256 letters, digits, _ . or -')],
  secret: ['', text(1, 512)],
  scriptUrl: ['', optionalAddress],
  verifyUrl: ['', optionalAddress],
  minScore: [0.5, score],
  fallback: [true, boolean],
};

/** The verifiers, with what was left out filled in. */
export function verifiersOf(values: Readonly<Record<string, unknown>>): BotVerifier[] {
  const list = values[verifiersKey];
  if (!Array.isArray(list)) return [];
  return list.map((one) => {
    const verifier = filled(one, fields) as unknown as BotVerifier;
    const standard = addresses[verifier.kind];
    return {
      ...verifier,
      scriptUrl: verifier.scriptUrl || standard.scriptUrl,
      verifyUrl: verifier.verifyUrl || standard.verifyUrl,
    };
  });
}

/** Errors: invalid_argument under `at`. */
export function checkVerifiers(value: unknown, at: string): void {
  if (!Array.isArray(value) || value.length > verifierLimits.verifiersMax) {
    throw invalidField(at, `must be a list of at most ${verifierLimits.verifiersMax} verifiers`);
  }
  const ids = new Set<string>();
  const hosts = new Set<string>();
  value.forEach((one: unknown, index) => {
    const where = `${at}[${index}]`;
    checkFields(one, fields, where);
    const given = one as Partial<BotVerifier>;
    for (const name of ['id', 'kind', 'hosts', 'siteKey', 'secret'] as const) {
      if (given[name] === undefined) throw invalidField(`${where}.${name}`, 'is required');
    }
    const verifier = one as BotVerifier;
    if (ids.has(verifier.id)) throw invalidField(`${where}.id`, 'is used twice');
    ids.add(verifier.id);
    for (const host of verifier.hosts) {
      if (hosts.has(host)) throw invalidField(`${where}.hosts`, `${host} has two verifiers`);
      hosts.add(host);
    }
  });
}

/**
 * A secret that was kept goes nowhere else than it went before: who changes where it is sent gives
 * it again. Errors: invalid_argument. `shown`: what stands for a kept secret.
 */
export function requireSecretsAnew(
  values: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, unknown>>,
  shown: string,
): void {
  const kept = new Map(verifiersOf(before).map((one) => [one.id, one.verifyUrl]));
  for (const { id, secret, verifyUrl } of verifiersOf(values)) {
    if (secret !== shown || kept.get(id) === undefined || kept.get(id) === verifyUrl) continue;
    throw invalidField(`values.${verifiersKey}[${id}].secret`, 'must be given with a new address');
  }
}

function hostList(value: unknown, at: string): void {
  const most = verifierLimits.hostsMax;
  if (!Array.isArray(value) || value.length === 0 || value.length > most) {
    throw invalidField(at, `must be a list of 1 to ${most} hosts, or "*" for all sites`);
  }
  value.forEach((host: unknown, index) => {
    const place = `${at}[${index}]`;
    if (host === everyHost) return;
    if (typeof host !== 'string' || normalizeHost(host, place) !== host) {
      throw invalidField(place, 'must be a host in lower case');
    }
  });
}

function optionalAddress(value: unknown, at: string): void {
  if (value === '') return;
  webAddress(value, at);
  // The host of a script stands in a policy, where ; and , have a meaning.
  if (/^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/.test(new URL(value as string).hostname)) return;
  throw invalidField(at, 'must have a plain host name');
}

function score(value: unknown, at: string): void {
  if (typeof value === 'number' && value >= 0 && value <= 1) return;
  throw invalidField(at, 'must be a number between 0 and 1');
}

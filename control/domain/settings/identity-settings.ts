/**
 * The settings of identity providers: their shape, what they may hold, what they are without, and
 * which parts are secret. Never signs anybody in.
 */

import { signInLimits } from '../../limits/sign-in-limits.ts';
import { acmeKey, acmeSecretField } from '../site/acme.ts';
import { invalidField } from '../errors.ts';
import {
  boolean,
  type Check,
  checkFields,
  type Fields,
  filled,
  hostName,
  oneOf,
  pattern,
  secretShown,
  text,
  texts,
  webAddress,
  whole,
} from '../setting-fields.ts';
import { siemSecretField, siemTargetsKey } from './siem-settings.ts';
import { requireSecretsAnew, verifierSecretField, verifiersKey } from '../site/bot-verifiers.ts';

/** Keys under which the settings are kept. */
export const identityKeys = {
  publicUrl: 'auth.public_url',
  passwordEnabled: 'auth.password_enabled',
  radius: 'auth.radius.config',
  oidc: 'auth.oidc.providers',
  saml: 'auth.saml.providers',
} as const;

/** How people of a provider become users. */
export interface AccountRules {
  /** Makes a user at the first sign-in; otherwise an administrator has to allow the provider. */
  readonly autoCreate: boolean;
  /** Roles of users that are made. */
  readonly defaultRoleIds: readonly string[];
  /** Role by value of the provider's group claim; with any, roles follow it at each sign-in. */
  readonly roleMappings: Readonly<Record<string, string>>;
}

/** RADIUS as the place where passwords are checked, or as second factor. */
export interface RadiusConfig extends AccountRules {
  readonly enabled: boolean;
  readonly use: 'password' | 'second_factor';
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  readonly secret: string;
  readonly timeoutMs: number;
  /** Times that each server is asked. */
  readonly attempts: number;
  readonly nasIdentifier: string;
  readonly prompt: string;
}

/** One OpenID provider. */
export interface OidcProvider extends AccountRules {
  readonly id: string;
  readonly label: string;
  readonly enabled: boolean;
  readonly issuer: string;
  readonly clientId: string;
  /** '' for a public client. */
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly usernameClaim: string;
  readonly groupsClaim: string;
}

/** One SAML identity provider. */
export interface SamlProvider extends AccountRules {
  readonly id: string;
  readonly label: string;
  readonly enabled: boolean;
  readonly idpIssuer: string;
  readonly entryPoint: string;
  /** PEM certificates that assertions may be signed with. */
  readonly certificates: readonly string[];
  /** Our entity id; '' for the address of our metadata. */
  readonly entityId: string;
  /** '' takes the NameID. */
  readonly usernameAttribute: string;
  readonly emailAttribute: string;
  readonly groupsAttribute: string;
  readonly clockSkewSeconds: number;
}

type Values = Readonly<Record<string, unknown>>;

const providerId = /^[a-z0-9][a-z0-9-]{0,31}$/;
const accountFields: Fields = {
  autoCreate: [false, boolean],
  defaultRoleIds: [[], texts(signInLimits.providerRolesMax, 128)],
  roleMappings: [{}, mapping],
};
const radiusFields: Fields = {
  enabled: [false, boolean],
  use: ['password', oneOf('password', 'second_factor')],
  servers: [[], servers],
  secret: ['', text(0, 256)],
  timeoutMs: [3000, whole(100, 10_000)],
  attempts: [2, whole(1, 5)],
  nasIdentifier: ['waf', text(1, 64)],
  prompt: ['Enter the code of your token', text(1, 200)],
  ...accountFields,
};
const oidcFields: Fields = {
  id: ['', pattern(providerId, 'must be 1 to 32 lower-case letters, digits or hyphens')],
  label: ['', text(1, 64)],
  enabled: [true, boolean],
  issuer: ['', webAddress],
  clientId: ['', text(1, 256)],
  clientSecret: ['', text(0, 512)],
  scopes: [['openid', 'profile', 'email'], texts(32, 128)],
  usernameClaim: ['preferred_username', text(1, 128)],
  groupsClaim: ['groups', text(1, 128)],
  ...accountFields,
};
const samlFields: Fields = {
  id: ['', pattern(providerId, 'must be 1 to 32 lower-case letters, digits or hyphens')],
  label: ['', text(1, 64)],
  enabled: [true, boolean],
  idpIssuer: ['', text(1, 1024)],
  entryPoint: ['', webAddress],
  certificates: [[], certificates],
  entityId: ['', text(0, 1024)],
  usernameAttribute: ['', text(0, 256)],
  emailAttribute: ['email', text(0, 256)],
  groupsAttribute: ['groups', text(1, 256)],
  clockSkewSeconds: [60, whole(0, 300)],
  ...accountFields,
};

/** The settings with their standard values and checks, as the list of settings takes them. */
export const identitySettings: readonly {
  readonly key: string;
  readonly standard: unknown;
  readonly check: Check;
}[] = [
  {
    key: identityKeys.publicUrl,
    standard: '',
    check: (value, at) => value === '' || webAddress(value, at),
  },
  { key: identityKeys.passwordEnabled, standard: true, check: boolean },
  { key: identityKeys.radius, standard: {}, check: checkRadius },
  { key: identityKeys.oidc, standard: [], check: checkProviders(oidcFields) },
  { key: identityKeys.saml, standard: [], check: checkProviders(samlFields) },
];

/** Base of the addresses that browsers come back to, no slash at the end; '' for none. */
export function publicUrlOf(values: Values): string {
  return textOf(values[identityKeys.publicUrl]).replace(/\/+$/, '');
}

/** Whether passwords kept here are accepted over the network. */
export function passwordEnabledOf(values: Values): boolean {
  return values[identityKeys.passwordEnabled] !== false;
}

/** RADIUS with what was left out filled in; null when it is off. */
export function radiusOf(values: Values): RadiusConfig | null {
  const config = filled(values[identityKeys.radius] ?? {}, radiusFields) as unknown as RadiusConfig;
  return config.enabled ? config : null;
}

/** Whether passkeys sign in: where passwords kept here do, and no RADIUS server is asked. */
export function passkeysAllowed(values: Values): boolean {
  return passwordEnabledOf(values) && radiusOf(values) === null;
}

/** OpenID providers that are on. */
export function oidcProvidersOf(values: Values): OidcProvider[] {
  return enabled<OidcProvider>(values[identityKeys.oidc], oidcFields);
}

/** SAML providers that are on. */
export function samlProvidersOf(values: Values): SamlProvider[] {
  return enabled<SamlProvider>(values[identityKeys.saml], samlFields);
}

/** Settings as they may be shown: each secret reads `configured`. */
export function hideIdentitySecrets(values: Values): Record<string, unknown> {
  return mapSecrets(values, () => secretShown);
}

/**
 * Settings to keep: a secret that reads `configured` is the one kept before. Errors:
 * invalid_argument where that would be sent to another address than before.
 */
export function keepIdentitySecrets(values: Values, before: Values): Record<string, unknown> {
  requireSecretsAnew(values, before, secretShown);
  return mapSecrets(values, (secret, key, id) =>
    secret === secretShown ? secretOf(before, key, id) : secret,
  );
}

/** Ids of all roles that the settings hand out. */
export function rolesHandedOut(values: Values): string[] {
  return [identityKeys.radius, identityKeys.oidc, identityKeys.saml]
    .flatMap((key) => [values[key] ?? []].flat())
    .flatMap((one) => {
      const { defaultRoleIds = [], roleMappings = {} } = one as Partial<AccountRules>;
      return [...defaultRoleIds, ...Object.values(roleMappings)];
    });
}

/** Settings with the roles that they hand out mapped, where they have the form of such settings. */
export function mapRolesHandedOut(
  values: Values,
  map: (role: string) => string,
): Record<string, unknown> {
  const mapped: Record<string, unknown> = { ...values };
  const mapText = (role: unknown): unknown => (typeof role === 'string' ? map(role) : role);
  const mapOne = (one: unknown): unknown => {
    if (typeof one !== 'object' || one === null) return one;
    const { defaultRoleIds, roleMappings, ...rest } = one as Record<string, unknown>;
    const isMap = typeof roleMappings === 'object' && roleMappings !== null;
    const pairs = isMap ? Object.entries(roleMappings) : [];
    return {
      ...rest,
      ...(defaultRoleIds === undefined ? {} : { defaultRoleIds: eachOf(defaultRoleIds, mapText) }),
      ...(roleMappings === undefined
        ? {}
        : {
            roleMappings: isMap
              ? Object.fromEntries(pairs.map(([group, role]) => [group, mapText(role)]))
              : roleMappings,
          }),
    };
  };
  for (const key of [identityKeys.radius, identityKeys.oidc, identityKeys.saml]) {
    const value = mapped[key];
    if (value !== undefined)
      mapped[key] = Array.isArray(value) ? eachOf(value, mapOne) : mapOne(value);
  }
  return mapped;
}

function eachOf(value: unknown, map: (one: unknown) => unknown): unknown {
  return Array.isArray(value) ? value.map(map) : value;
}

/** Keys and fields of secrets that read `configured` although nothing is stored. */
export function missingSecrets(values: Values, before: Values): string[] {
  const missing: string[] = [];
  mapSecrets(values, (secret, key, id) => {
    if (secret === secretShown && secretOf(before, key, id) === '') {
      missing.push(`${key}${id === '' ? '' : `[${id}]`}.${secretFields[key] ?? ''}`);
    }
    return secret;
  });
  return missing;
}

const secretFields: Readonly<Record<string, string>> = {
  [identityKeys.radius]: 'secret',
  [identityKeys.oidc]: 'clientSecret',
  [acmeKey]: acmeSecretField,
  [siemTargetsKey]: siemSecretField,
  [verifiersKey]: verifierSecretField,
};

function mapSecrets(
  values: Values,
  change: (secret: string, key: string, id: string) => string,
): Record<string, unknown> {
  const changed: Record<string, unknown> = { ...values };
  for (const [key, field] of Object.entries(secretFields)) {
    const mapOne = (one: Readonly<Record<string, unknown>>) => {
      const secret = one[field];
      if (typeof secret !== 'string' || secret === '') return one;
      return { ...one, [field]: change(secret, key, textOf(one['id'])) };
    };
    const value = changed[key];
    if (Array.isArray(value)) changed[key] = value.map(mapOne);
    else if (typeof value === 'object' && value !== null) changed[key] = mapOne({ ...value });
  }
  return changed;
}

function secretOf(values: Values, key: string, id: string): string {
  const list = [values[key] ?? []].flat() as Record<string, unknown>[];
  const found = list.find((one) => textOf(one['id']) === id);
  return textOf(found?.[secretFields[key] ?? '']);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function enabled<T extends { readonly enabled: boolean }>(value: unknown, fields: Fields): T[] {
  const list = Array.isArray(value) ? value : [];
  return list.map((one) => filled(one, fields) as unknown as T).filter((one) => one.enabled);
}

function checkRadius(value: unknown, at: string): void {
  checkFields(value, radiusFields, at);
  const config = filled(value, radiusFields) as unknown as RadiusConfig;
  if (!config.enabled) return;
  if (config.servers.length === 0) throw invalidField(`${at}.servers`, 'needs at least one');
  if (config.secret === '') throw invalidField(`${at}.secret`, 'is required');
}

function checkProviders(fields: Fields): Check {
  return (value, at) => {
    if (!Array.isArray(value) || value.length > signInLimits.identityProvidersMax) {
      throw invalidField(at, `must be a list of at most ${signInLimits.identityProvidersMax}`);
    }
    const ids = new Set<unknown>();
    value.forEach((one: unknown, index) => {
      const where = `${at}[${index}]`;
      checkFields(one, fields, where);
      for (const [name, [standard, check]] of Object.entries(fields)) {
        const given = (one as Record<string, unknown>)[name];
        if (given === undefined) check(standard, `${where}.${name}`);
      }
      const { id } = one as { id: string };
      if (ids.has(id)) throw invalidField(`${where}.id`, 'is used twice');
      ids.add(id);
    });
  };
}

function mapping(value: unknown, at: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidField(at, 'must be a JSON object of role ids by group');
  }
  const entries = Object.entries(value);
  if (entries.length > signInLimits.providerRolesMax) {
    throw invalidField(at, `has at most ${signInLimits.providerRolesMax} entries`);
  }
  for (const [, role] of entries) text(1, 128)(role, at);
}

function servers(value: unknown, at: string): void {
  if (!Array.isArray(value) || value.length > signInLimits.radiusServersMax) {
    throw invalidField(at, `must be a list of at most ${signInLimits.radiusServersMax}`);
  }
  value.forEach((one: unknown, index) => {
    const where = `${at}[${index}]`;
    checkFields(one, { host: ['', hostName], port: [1812, whole(1, 65_535)] }, where);
    const { host, port } = one as { host?: unknown; port?: unknown };
    if (host === undefined) throw invalidField(`${where}.host`, 'is required');
    if (port === undefined)
      throw invalidField(`${where}.port`, 'is required; the usual one is 1812');
  });
}

function certificates(value: unknown, at: string): void {
  texts(8, 16_384)(value, at);
  const list = value as string[];
  if (list.length === 0) throw invalidField(at, 'needs at least one certificate');
  list.forEach((pem, index) => {
    const armoured = /^-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----\s*$/;
    if (!armoured.test(pem)) throw invalidField(`${at}[${index}]`, 'must be one PEM certificate');
  });
}

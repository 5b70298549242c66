/**
 * Signs in at SAML identity providers: signed assertions only, each for one request of ours, one
 * audience, one address, one use. Never decides which user an identity is.
 */

import { randomBytes } from 'node:crypto';
import type { Profile, SamlConfig, SAML } from '@node-saml/node-saml';
import { signInLimits } from '../limits/sign-in-limits.ts';
import type { Clock } from '../../base/clock.ts';
import { refusal } from '../domain/errors.ts';
import type { SamlProvider } from '../domain/settings/identity-settings.ts';
import { checkBoundedXml } from './bounded-xml.ts';
import type { ExternalIdentity } from './external-accounts.ts';
import { Pending } from './pending.ts';

const loginMs = 10 * 60_000;
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/** Where the provider finds us. */
export interface SamlAddresses {
  readonly entityId: string;
  readonly acsUrl: string;
}

/** Sign-in at SAML identity providers. */
export interface SamlSignIn {
  /** Where to send the browser. `binding` is a secret that only this browser has. */
  begin(provider: SamlProvider, at: SamlAddresses, binding: string): Promise<string>;
  /**
   * Who a posted response speaks of, and the binding of the browser that began. Whatever the
   * outcome, the request is used up. Errors: unauthenticated.
   */
  accept(
    provider: SamlProvider,
    at: SamlAddresses,
    form: { readonly response: string; readonly relayState: string },
  ): Promise<{ readonly identity: ExternalIdentity; readonly binding: string }>;
  /** Our metadata, for the provider. */
  metadata(provider: SamlProvider, at: SamlAddresses): Promise<string>;
}

interface Login {
  readonly providerId: string;
  readonly requestId: string;
  readonly issuedAt: string;
  readonly binding: string;
}

/** Opens the service. Logins that wait live in memory. */
export function openSamlSignIn(clock: Clock): SamlSignIn {
  const logins = new Pending<Login>(clock, signInLimits.pendingLoginsMax, loginMs);
  return {
    begin: async (provider, at, binding) => {
      const requestId = `_${randomBytes(20).toString('hex')}`;
      const issuedAt = new Date(clock.nowMs()).toISOString();
      const login = { providerId: provider.id, requestId, issuedAt, binding };
      const saml = await serviceProvider(provider, at, login);
      return saml.getAuthorizeUrlAsync(logins.add(login).key, undefined, {});
    },
    accept: async (provider, at, { response, relayState }) => {
      const login = logins.take(relayState);
      if (login?.providerId !== provider.id) {
        throw refusal('unauthenticated', 'this sign-in has lapsed or was used before');
      }
      try {
        refuseOddXml(Buffer.from(response, 'base64').toString('utf8'));
        const saml = await serviceProvider(provider, at, login);
        const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: response });
        if (profile === null) throw new Error('no profile');
        checkAssertion(provider, at, login, profile);
        return { identity: toIdentity(provider, profile), binding: login.binding };
      } catch {
        throw refusal('unauthenticated', 'the identity provider did not confirm this sign-in');
      }
    },
    metadata: async (provider, at) =>
      (await serviceProvider(provider, at, null)).generateServiceProviderMetadata(null, null),
  };
}

/** The library, set up for one request: it knows no other, so no other response fits. */
async function serviceProvider(
  provider: SamlProvider,
  { entityId, acsUrl }: SamlAddresses,
  login: Login | null,
): Promise<SAML> {
  const { SAML: ServiceProvider, ValidateInResponseTo } = await import('@node-saml/node-saml');
  const known = (key: string): string | null =>
    login !== null && key === login.requestId ? login.issuedAt : null;
  const config: SamlConfig = {
    callbackUrl: acsUrl,
    entryPoint: provider.entryPoint,
    issuer: entityId,
    audience: entityId,
    idpCert: [...provider.certificates],
    idpIssuer: provider.idpIssuer,
    wantAssertionsSigned: true,
    // The whole response may be signed as well; the assertion must be.
    wantAuthnResponseSigned: false,
    acceptedClockSkewMs: provider.clockSkewSeconds * 1000,
    maxAssertionAgeMs: loginMs,
    requestIdExpirationPeriodMs: loginMs,
    validateInResponseTo: ValidateInResponseTo.always,
    generateUniqueId: () => login?.requestId ?? '_',
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    cacheProvider: {
      saveAsync: async (_key, value) => ({ value, createdAt: Date.now() }),
      getAsync: async (key) => known(key),
      removeAsync: async (key) => key,
    },
  };
  return new ServiceProvider(config);
}

/** Nothing that would take the library long, and no digest that can be forged. */
function refuseOddXml(xml: string): void {
  checkBoundedXml(xml);
  if (/xmldsig#(?:rsa-|dsa-|hmac-)?sha1|xmldsig-more#(?:rsa-)?md5/i.test(xml)) {
    throw new Error('weak digest');
  }
}

/** xml2js gives every element as a list, its attributes under `$` and its text under `_`. */
interface Element {
  readonly $?: Readonly<Record<string, string | undefined>>;
  readonly _?: string;
  readonly [child: string]: unknown;
}

/** What the library leaves open, checked on the signed bytes only. */
function checkAssertion(
  provider: SamlProvider,
  { acsUrl }: SamlAddresses,
  login: Login,
  profile: Profile,
): void {
  const signed = profile.getAssertion?.() as { readonly Assertion?: Element } | undefined;
  const assertion = signed?.Assertion;
  if (assertion === undefined) throw new Error('no assertion');
  const issuers = children(assertion, 'Issuer');
  if (issuers.length !== 1 || issuers[0]?._ !== provider.idpIssuer) throw new Error('issuer');
  const conditions = children(assertion, 'Conditions')[0];
  if (conditions?.$?.['NotOnOrAfter'] === undefined) throw new Error('endless conditions');
  const subjects = children(assertion, 'Subject');
  if (subjects.length !== 1) throw new Error('subject');
  const confirmed = children(subjects[0], 'SubjectConfirmation').some((one) => {
    const data = children(one, 'SubjectConfirmationData')[0]?.$;
    return (
      one.$?.['Method'] === bearer &&
      data?.['Recipient'] === acsUrl &&
      data['InResponseTo'] === login.requestId &&
      isFuture(data['NotOnOrAfter'], provider.clockSkewSeconds)
    );
  });
  if (!confirmed) throw new Error('confirmation');
  if (children(assertion, 'AuthnStatement').length === 0) throw new Error('no authentication');
  // The status stands outside the assertion: it can only make a good assertion worse.
  if (!(profile.getSamlResponseXml?.() ?? '').includes(success)) throw new Error('status');
}

function isFuture(time: string | undefined, skewSeconds: number): boolean {
  return time !== undefined && Date.parse(time) + skewSeconds * 1000 > Date.now();
}

function children(element: Element | undefined, name: string): Element[] {
  const found = element?.[name];
  if (!Array.isArray(found)) return [];
  return found.map((one: unknown) => (typeof one === 'string' ? { _: one } : (one as Element)));
}

function toIdentity(provider: SamlProvider, profile: Profile): ExternalIdentity {
  const attributes = (profile['attributes'] ?? {}) as Readonly<Record<string, unknown>>;
  const values = (name: string): string[] => {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    const list: unknown[] = Array.isArray(value) ? value : [value];
    return list.filter((one) => typeof one === 'string');
  };
  const { usernameAttribute, emailAttribute, groupsAttribute } = provider;
  const subject = profile.nameID ?? '';
  if (subject === '' || (profile.nameIDFormat ?? '').endsWith('nameid-format:transient')) {
    throw new Error('no lasting NameID');
  }
  return {
    provider: `saml:${provider.id}`,
    issuer: provider.idpIssuer,
    subject,
    username: usernameAttribute === '' ? subject : (values(usernameAttribute)[0] ?? ''),
    verifiedEmail: values(emailAttribute)[0] ?? '',
    displayName: values('displayName')[0] ?? '',
    groups: values(groupsAttribute).slice(0, signInLimits.providerGroupsMax),
  };
}

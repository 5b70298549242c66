/**
 * Signs in at OpenID providers: code flow with PKCE, state and nonce; issuer, audience and
 * signature of the ID token checked. Never decides which user an identity is.
 */

import { createHash } from 'node:crypto';
import type { Configuration, CustomFetch } from 'openid-client';
import { signInLimits } from '../limits/sign-in-limits.ts';
import type { Clock } from '../../base/clock.ts';
import { refusal } from '../domain/errors.ts';
import type { OidcProvider } from '../domain/settings/identity-settings.ts';
import type { ExternalIdentity } from './external-accounts.ts';
import { sameText } from './same-text.ts';
import { Pending } from './pending.ts';

const loginMs = 10 * 60_000;
const discoveryMs = 60 * 60_000;

/** Sign-in at OpenID providers. */
export interface OidcSignIn {
  /** Where to send the browser. `binding` is a secret that only this browser has. */
  begin(provider: OidcProvider, redirectUri: string, binding: string): Promise<string>;
  /** Who came back to `url`. Errors: unauthenticated, unavailable. */
  finish(provider: OidcProvider, url: URL, binding: string): Promise<ExternalIdentity>;
}

interface Login {
  readonly providerId: string;
  readonly binding: string;
  readonly redirectUri: string;
  readonly verifier: string;
  readonly nonce: string;
}

/** Opens the service. Logins that wait live in memory. */
export function openOidcSignIn(clock: Clock): OidcSignIn {
  const logins = new Pending<Login>(clock, signInLimits.pendingLoginsMax, loginMs);
  const discover = discovery(clock);
  return {
    begin: async (provider, redirectUri, binding) => {
      const config = await discover(provider);
      const oidc = await import('openid-client');
      const verifier = oidc.randomPKCECodeVerifier();
      const nonce = oidc.randomNonce();
      const login = { providerId: provider.id, binding, redirectUri, verifier, nonce };
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: [...new Set(['openid', ...provider.scopes])].join(' '),
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        nonce,
        state: logins.add(login).key,
      });
      return url.href;
    },
    finish: async (provider, url, binding) => {
      const state = url.searchParams.get('state') ?? '';
      const login = logins.take(state);
      const ours = login?.providerId === provider.id && sameText(login.binding, binding);
      if (login === undefined || !ours) {
        throw refusal('unauthenticated', 'this sign-in has lapsed or began in another browser');
      }
      return redeem(await discover(provider), provider, url, state, login);
    },
  };
}

async function redeem(
  config: Configuration,
  provider: OidcProvider,
  url: URL,
  state: string,
  login: Login,
): Promise<ExternalIdentity> {
  const oidc = await import('openid-client');
  const back = new URL(login.redirectUri);
  back.search = url.search;
  try {
    const tokens = await oidc.authorizationCodeGrant(config, back, {
      pkceCodeVerifier: login.verifier,
      expectedState: state,
      expectedNonce: login.nonce,
      idTokenExpected: true,
    });
    const idToken = tokens.claims();
    if (idToken === undefined) throw new Error('no ID token');
    const wanted = [
      provider.usernameClaim,
      provider.groupsClaim,
      'email',
      'email_verified',
      'name',
    ];
    const complete = wanted.every((name) => idToken[name] !== undefined);
    const more =
      complete || config.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await oidc.fetchUserInfo(config, tokens.access_token, idToken.sub);
    return toIdentity(provider, { ...more, ...idToken });
  } catch (error) {
    throw unreachable(error) ? silent() : refused();
  }
}

function toIdentity(
  provider: OidcProvider,
  claims: Readonly<Record<string, unknown>>,
): ExternalIdentity {
  const text = (name: string): string => {
    const value = claims[name];
    return typeof value === 'string' ? value : '';
  };
  const groups = claims[provider.groupsClaim];
  return {
    provider: `oidc:${provider.id}`,
    issuer: text('iss'),
    subject: text('sub'),
    username: text(provider.usernameClaim),
    verifiedEmail: claims['email_verified'] === true ? text('email') : '',
    displayName: text('name'),
    groups: (Array.isArray(groups) ? groups : [groups])
      .filter((one) => typeof one === 'string')
      .slice(0, signInLimits.providerGroupsMax),
  };
}

/** What providers say of themselves, kept for an hour. Errors: unavailable. */
function discovery(clock: Clock): (provider: OidcProvider) => Promise<Configuration> {
  const known = new Map<string, { readonly config: Configuration; readonly untilMs: number }>();
  return async (provider) => {
    const { issuer, clientId, clientSecret } = provider;
    const key = createHash('sha256')
      .update(JSON.stringify([issuer, clientId, clientSecret]))
      .digest('hex');
    const found = known.get(key);
    if (found !== undefined && found.untilMs > clock.nowMs()) return found.config;
    const config = await ask(provider);
    known.delete(key);
    known.set(key, { config, untilMs: clock.nowMs() + discoveryMs });
    if (known.size > signInLimits.identityProvidersMax) {
      known.delete(known.keys().next().value ?? '');
    }
    return config;
  };
}

async function ask({ issuer, clientId, clientSecret }: OidcProvider): Promise<Configuration> {
  const oidc = await import('openid-client');
  const url = new URL(issuer);
  const client = clientSecret === '' ? oidc.None() : oidc.ClientSecretBasic(clientSecret);
  // The settings take http for this machine only.
  const insecure = url.protocol === 'http:' ? [oidc.allowInsecureRequests] : [];
  try {
    return await oidc.discovery(url, clientId, {}, client, {
      execute: [...insecure, oidc.enableNonRepudiationChecks],
      timeout: signInLimits.oidcTimeoutMs / 1000,
      [oidc.customFetch]: boundedFetch,
    });
  } catch {
    throw silent();
  }
}

/** fetch whose answers are bounded. */
const boundedFetch: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > signInLimits.oidcAnswerBytesMax) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  const { status, headers } = response;
  const empty = status === 204 || status === 304;
  return new Response(empty ? null : Buffer.concat(chunks), { status, headers });
};

function unreachable(error: unknown): boolean {
  const name = error instanceof Error ? error.name : '';
  return name === 'TypeError' || name === 'TimeoutError';
}

function refused(): Error {
  return refusal('unauthenticated', 'the identity provider did not confirm this sign-in');
}

function silent(): Error {
  return refusal('unavailable', 'the identity provider does not answer as an OpenID provider');
}

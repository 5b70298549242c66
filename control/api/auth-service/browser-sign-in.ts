/**
 * The pages that browsers visit to sign in at OpenID and SAML providers:
 * `/auth/{oidc,saml}/{id}/...`. Ends with the refresh cookie and a redirect; hands out no token.
 */

import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { codeToHttpStatus, errorToJson } from '@connectrpc/connect/protocol-connect';
import { signInLimits } from '../../limits/sign-in-limits.ts';
import { AttemptLimit } from '../../auth/attempt-limit.ts';
import { resolveAccount, type ExternalIdentity } from '../../auth/external-accounts.ts';
import { openOidcSignIn } from '../../auth/oidc-sign-in.ts';
import { originKey } from '../../auth/origin-key.ts';
import { Pending } from '../../auth/pending.ts';
import { sameText } from '../../auth/same-text.ts';
import { openSamlSignIn } from '../../auth/saml-sign-in.ts';
import { refusal } from '../../domain/errors.ts';
import {
  oidcProvidersOf,
  publicUrlOf,
  samlProvidersOf,
  type AccountRules,
  type OidcProvider,
  type SamlProvider,
} from '../../domain/settings/identity-settings.ts';
import { settingsId, systemSettings } from '../../store/collections.ts';
import type { NodeRequest, NodeResponse } from '../listener/node-http.ts';
import type { Uses } from '../context.ts';
import { toConnectError } from '../errors.ts';
import { formatCookie } from './cookie.ts';

const bindingCookie = 'waf_login';
const bindingMs = 10 * 60_000;
const ticketMs = 60_000;

/** Answers a request to a sign-in page; false when the path is none. */
export type BrowserSignIn = (request: NodeRequest, response: NodeResponse) => boolean;

interface Visit {
  readonly request: NodeRequest;
  readonly url: URL;
  readonly publicUrl: string;
  readonly binding: string;
}

interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

interface Ticket {
  readonly identity: ExternalIdentity;
  readonly binding: string;
}

type Step = (visit: Visit, id: string) => Promise<Page>;

/** Opens the pages; what waits for a browser to come back lives in memory. */
export function openBrowserSignIn(
  parts: Uses<'store' | 'clock' | 'logger' | 'sessions' | 'signIn' | 'secureCookies'>,
): BrowserSignIn {
  const steps = { ...oidcSteps(parts), ...samlSteps(parts) };
  const limit = new AttemptLimit(parts.clock, signInLimits.signInVisitsPerMinute);
  return (request, response) => {
    const target = request.url ?? '';
    const match = /^\/auth\/(oidc|saml)\/([a-z0-9-]{1,32})\/([a-z]+)(?:\?|$)/.exec(target);
    const step = steps[`${request.method} ${match?.[1] ?? ''} ${match?.[3] ?? ''}`];
    if (match === null || step === undefined) return false;
    // Only now: not every target is a URL.
    const url = new URL(target, 'http://localhost');
    const publicUrl = publicUrlOf(settingsOf(parts));
    const binding = readBinding(request);
    const answer = async (): Promise<Page> => {
      if (publicUrl === '') throw noProvider();
      if (!limit.allow(originKey(request.socket.remoteAddress ?? ''))) throw tooMany();
      return step({ request, url, publicUrl, binding }, match[2] ?? '');
    };
    answer()
      .catch((thrown: unknown) => errorPage(parts, thrown))
      .then((page) => send(response, page))
      .catch(() => response.destroy());
    return true;
  };
}

function oidcSteps(
  parts: Uses<'store' | 'clock' | 'sessions' | 'signIn' | 'secureCookies'>,
): Record<string, Step> {
  const oidc = openOidcSignIn(parts.clock);
  const find = (id: string): OidcProvider =>
    known(oidcProvidersOf(settingsOf(parts)).find((one) => one.id === id));
  return {
    'GET oidc login': async (visit, id) => {
      const provider = find(id);
      const binding = visit.binding || newBinding();
      const redirectUri = `${visit.publicUrl}/auth/oidc/${id}/callback`;
      const url = await oidc.begin(provider, redirectUri, binding);
      return redirect(url, [bindingHeader(parts, binding)]);
    },
    'GET oidc callback': async (visit, id) => {
      const provider = find(id);
      const identity = await oidc.finish(provider, visit.url, visit.binding);
      return enter(parts, visit, provider, identity);
    },
  };
}

function samlSteps(
  parts: Uses<'store' | 'clock' | 'sessions' | 'signIn' | 'secureCookies'>,
): Record<string, Step> {
  const saml = openSamlSignIn(parts.clock);
  const tickets = new Pending<Ticket>(parts.clock, signInLimits.pendingLoginsMax, ticketMs);
  const limit = new AttemptLimit(parts.clock, signInLimits.samlResponsesPerMinute);
  const find = (id: string): SamlProvider =>
    known(samlProvidersOf(settingsOf(parts)).find((one) => one.id === id));
  return {
    'GET saml login': async (visit, id) => {
      const provider = find(id);
      const binding = visit.binding || newBinding();
      const url = await saml.begin(provider, samlAddresses(visit, provider), binding);
      return redirect(url, [bindingHeader(parts, binding)]);
    },
    // The provider's form comes from another site and so without cookies: the browser proves that
    // it is the one that began in the next step, to which it goes by itself.
    'POST saml acs': async (visit, id) => {
      const provider = find(id);
      if (!limit.allow(originKey(visit.request.socket.remoteAddress ?? ''))) throw tooMany();
      const form = await readForm(visit.request);
      const response = form.get('SAMLResponse') ?? '';
      const relayState = form.get('RelayState') ?? '';
      const at = samlAddresses(visit, provider);
      const ticket = await saml.accept(provider, at, { response, relayState });
      const { key } = tickets.add(ticket);
      return redirect(`${visit.publicUrl}/auth/saml/${id}/finish?ticket=${key}`, []);
    },
    'GET saml finish': async (visit, id) => {
      const provider = find(id);
      const ticket = tickets.take(visit.url.searchParams.get('ticket') ?? '');
      const ours = ticket?.identity.provider === `saml:${id}`;
      if (ticket === undefined || !ours || !sameText(ticket.binding, visit.binding)) {
        throw refusal('unauthenticated', 'this sign-in has lapsed or began in another browser');
      }
      return enter(parts, visit, provider, ticket.identity);
    },
    'GET saml metadata': async (visit, id) => {
      const provider = find(id);
      const body = await saml.metadata(provider, samlAddresses(visit, provider));
      return { status: 200, headers: { 'content-type': 'application/samlmetadata+xml' }, body };
    },
  };
}

/** Begins the session, or asks for the user's own second factor. */
async function enter(
  parts: Uses<'store' | 'clock' | 'sessions' | 'signIn' | 'secureCookies'>,
  { request, publicUrl }: Visit,
  rules: AccountRules,
  identity: ExternalIdentity,
): Promise<Page> {
  const { store, clock, secureCookies } = parts;
  const address = request.socket.remoteAddress ?? '';
  const proof = await resolveAccount(store, clock, rules, identity, address);
  const result = parts.signIn.vouched(proof, address);
  const spent = `${bindingCookie}=; Max-Age=0${bindingFlags(parts)}`;
  if (result.kind === 'challenge') {
    const { challenge, expiresAtMs, challengeKind } = result;
    const cookie = formatCookie('waf_challenge', challenge, expiresAtMs, secureCookies);
    return redirect(`${publicUrl}/?challenge=${challengeKind}`, [cookie, spent]);
  }
  const how = { address, method: identity.provider, remember: result.remember };
  const issued = await parts.sessions.begin(result.proof, how);
  const { refreshToken, refreshExpiresAtMs } = issued;
  const cookie = formatCookie('waf_refresh', refreshToken, refreshExpiresAtMs, secureCookies);
  return redirect(`${publicUrl}/`, [cookie, spent]);
}

function samlAddresses({ publicUrl }: Visit, { id, entityId }: SamlProvider) {
  const base = `${publicUrl}/auth/saml/${id}`;
  return { entityId: entityId || `${base}/metadata`, acsUrl: `${base}/acs` };
}

function settingsOf({ store }: Uses<'store'>): Readonly<Record<string, unknown>> {
  return store.get(systemSettings, settingsId)?.values ?? {};
}

function known<T>(provider: T | undefined): T {
  if (provider === undefined) throw noProvider();
  return provider;
}

function noProvider(): Error {
  return refusal('not_found', 'No identity provider with this id, or auth.public_url is not set.');
}

function tooMany(): Error {
  return refusal('resource_exhausted', 'too many sign-ins: wait a minute');
}

function newBinding(): string {
  return randomBytes(24).toString('base64url');
}

function readBinding(request: NodeRequest): string {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const found = /^waf_login=([\w-]{32})$/.exec(part.trim());
    if (found !== null) return found[1] ?? '';
  }
  return '';
}

function bindingHeader(parts: Uses<'clock' | 'secureCookies'>, binding: string): string {
  const expires = new Date(parts.clock.nowMs() + bindingMs).toUTCString();
  return `${bindingCookie}=${binding}; Expires=${expires}${bindingFlags(parts)}`;
}

/** Lax: it has to come along when the provider sends the browser back. */
function bindingFlags({ secureCookies }: Uses<'secureCookies'>): string {
  return `; Path=/auth; HttpOnly; SameSite=Lax${secureCookies ? '; Secure' : ''}`;
}

function redirect(location: string, cookies: readonly string[]): Page {
  const headers = { location, ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }) };
  return { status: 303, headers, body: '' };
}

function errorPage(parts: Uses<'logger'>, thrown: unknown): Page {
  const error = toConnectError(thrown, parts.logger, 'browser sign-in');
  return {
    status: codeToHttpStatus(error.code),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(errorToJson(error, undefined)),
  };
}

function send(response: NodeResponse, { status, headers, body }: Page): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
  }
  response.setHeader('cache-control', 'no-store');
  response.setHeader('referrer-policy', 'no-referrer');
  (response as ServerResponse).end(body);
}

async function readForm(request: NodeRequest): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > signInLimits.samlFormBytesMax) {
      throw refusal('resource_exhausted', 'the form is too large');
    }
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

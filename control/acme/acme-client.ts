/**
 * The protocol of certificate authorities (RFC 8555), with renewal information and `replaces` (RFC
 * 9773), external accounts and profiles. One client is one account at one authority. Signs with
 * ES256; a refused nonce is answered with the next one. Keeps nothing.
 */

import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { FlattenedSign } from 'jose';
import { AppError } from '../../base/errors.ts';
import { acmeLimits } from '../limits/acme-limits.ts';
import { callOut, type CallAnswer, type CallSettings } from './outgoing-call.ts';

/** An account at an authority. */
export interface AcmeAccount {
  readonly directoryUrl: string;
  /** PKCS #8 PEM, P-256. */
  readonly keyPem: string;
  /** '' until it is registered. */
  readonly accountUrl: string;
}

/** Binds an account to one that the operator has elsewhere (RFC 8555 section 7.3.4). */
export interface ExternalAccount {
  readonly keyId: string;
  /** base64url. */
  readonly hmacKey: string;
}

/** What is ordered. */
export interface OrderWish {
  readonly names: readonly string[];
  /** Renewal id of the certificate that this one replaces; null for none. */
  readonly replaces: string | null;
  /** Kind of certificate, in the authority's words; '' for its default. */
  readonly profile: string;
}

/** An order as the authority shows it. */
export interface Order {
  readonly url: string;
  readonly status: string;
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate: string;
}

/** A proof of one name that the authority asks for. */
export interface Authorization {
  readonly url: string;
  /** Without the wildcard's star. */
  readonly name: string;
  readonly wildcard: boolean;
  readonly status: string;
  readonly challenges: readonly Challenge[];
}

/** One way to prove a name. */
export interface Challenge {
  readonly type: string;
  readonly url: string;
  readonly token: string;
}

/** When the authority wants a certificate renewed, milliseconds since the epoch. */
export interface RenewalWindow {
  readonly startMs: number;
  readonly endMs: number;
  /** When to ask again, milliseconds from now. */
  readonly askAgainMs: number;
}

/** What an authority refused; its words may be shown. */
export class AcmeProblem extends AppError {
  /** The last word of the problem's type, for example `badNonce`. */
  readonly type: string;
  readonly status: number;
  /** Wait that the authority asks for, milliseconds; 0 for none. */
  readonly retryAfterMs: number;

  constructor(type: string, status: number, detail: string, retryAfterMs: number) {
    const clean = detail.replace(/[^\x20-\x7e]/g, ' ').slice(0, acmeLimits.problemCharactersMax);
    const message = `the authority refused it (${type}): ${clean}`;
    super('acme_problem', message, { source: 'upstream', retryable: true });
    this.type = type;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

type Json = Readonly<Record<string, unknown>>;

interface Answer {
  readonly json: Json;
  readonly text: string;
  readonly location: string;
  readonly retryAfterMs: number;
}

/** The client of one account; see the header. */
export class AcmeClient {
  accountUrl: string;
  private readonly account: AcmeAccount;
  private readonly settings: CallSettings;
  private readonly key: KeyObject;
  private directory: Json | null = null;
  private nonces: string[] = [];

  constructor(account: AcmeAccount, settings: CallSettings) {
    this.account = account;
    this.settings = settings;
    this.key = createPrivateKey(account.keyPem);
    this.accountUrl = account.accountUrl;
  }

  /** Registers the key, or finds its account. Errors: AcmeProblem. */
  async register(email: string, external: ExternalAccount | null): Promise<string> {
    const url = await this.resource('newAccount');
    const payload: Record<string, unknown> = { termsOfServiceAgreed: true };
    if (email !== '') payload['contact'] = [`mailto:${email}`];
    if (external !== null) {
      payload['externalAccountBinding'] = await this.bindExternal(url, external);
    } else if (this.meta()['externalAccountRequired'] === true) {
      throw new AcmeProblem('externalAccountRequired', 400, 'set acme.config eabKeyId', 0);
    }
    const { location } = await this.post(url, payload);
    this.accountUrl = location;
    return location;
  }

  /** Errors: AcmeProblem; after alreadyReplaced it orders again, replacing none. */
  async order({ names, replaces, profile }: OrderWish): Promise<Order> {
    const url = await this.resource('newOrder');
    const identifiers = names.map((value) => ({ type: 'dns', value }));
    const knowsRenewal = typeof this.directory?.['renewalInfo'] === 'string';
    const payload: Record<string, unknown> = { identifiers };
    if (profile !== '') payload['profile'] = profile;
    if (replaces !== null && knowsRenewal) payload['replaces'] = replaces;
    try {
      return orderOf(await this.post(url, payload));
    } catch (error) {
      const replaced = error instanceof AcmeProblem && error.type === 'alreadyReplaced';
      if (!replaced) throw error;
      const { replaces: _replaces, ...rest } = payload;
      return orderOf(await this.post(url, rest));
    }
  }

  async authorization(url: string): Promise<Authorization> {
    const { json } = await this.post(url, null);
    const identifier = objectOf(json['identifier']);
    const challenges = Array.isArray(json['challenges']) ? json['challenges'] : [];
    return {
      url,
      name: textOf(identifier['value']).toLowerCase(),
      wildcard: json['wildcard'] === true,
      status: textOf(json['status']),
      challenges: challenges.map((one: unknown) => {
        const { type, url: at, token } = objectOf(one);
        return { type: textOf(type), url: textOf(at), token: textOf(token) };
      }),
    };
  }

  /** What proves that a token is known to this account (RFC 8555 section 8.1). */
  keyAuthorization(token: string): string {
    return `${token}.${thumbprint(this.key)}`;
  }

  /** Tells the authority that a proof is in place. */
  async answerChallenge(url: string): Promise<void> {
    await this.post(url, {});
  }

  /** Waits until an authorization is decided. Errors: AcmeProblem with what the authority found. */
  async awaitAuthorization(url: string): Promise<void> {
    await this.poll(url, ({ json }) => {
      if (json['status'] === 'valid') return true;
      if (json['status'] === 'pending' || json['status'] === 'processing') return null;
      throw problemOf(failedChallenge(json), 403, 0);
    });
  }

  /** Hands in the request; resolves to the certificate with its chain, PEM. Errors: AcmeProblem. */
  async finish(order: Order, csr: Buffer): Promise<string> {
    await this.post(order.finalize, { csr: csr.toString('base64url') });
    const certificateUrl = await this.poll(order.url, ({ json }) => {
      if (json['status'] === 'valid') return textOf(json['certificate']);
      if (json['status'] === 'processing' || json['status'] === 'ready') return null;
      throw problemOf(objectOf(json['error']), 403, 0);
    });
    return (await this.post(certificateUrl, null)).text;
  }

  /** Null where the authority does not say. Errors: AcmeProblem, AppError acme_unreachable. */
  async renewalWindow(id: string): Promise<RenewalWindow | null> {
    await this.readDirectory();
    const base = textOf(this.directory?.['renewalInfo']);
    if (base === '') return null;
    const url = `${base.replace(/\/$/, '')}/${id}`;
    const answer = await callOut({ method: 'GET', url }, this.settings);
    if (answer.status !== 200) throw problemOf(parseJson(answer.text), answer.status, 0);
    const { start, end } = objectOf(parseJson(answer.text)['suggestedWindow']);
    const [startMs, endMs] = [Date.parse(textOf(start)), Date.parse(textOf(end))];
    if (!(startMs <= endMs)) return null;
    const { renewalAskMinMs, renewalAskMaxMs } = acmeLimits;
    const wait = retryAfter(answer) || renewalAskMaxMs;
    const askAgainMs = Math.min(Math.max(wait, renewalAskMinMs), renewalAskMaxMs);
    return { startMs, endMs, askAgainMs };
  }

  // ---- requests

  private async poll<T>(url: string, read: (answer: Answer) => T | null): Promise<T> {
    const deadline = performance.now() + acmeLimits.pollTimeoutMs;
    for (let waitMs: number = acmeLimits.pollMinMs; ; waitMs = Math.min(waitMs * 2, 10_000)) {
      const answer = await this.post(url, null);
      const result = read(answer);
      if (result !== null) return result;
      if (performance.now() > deadline) {
        throw new AcmeProblem('timeout', 0, 'the authority took too long to decide', 0);
      }
      const pause = Math.min(Math.max(waitMs, answer.retryAfterMs), acmeLimits.pollMaxMs);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  private meta(): Json {
    return objectOf(this.directory?.['meta']);
  }

  private async readDirectory(): Promise<Json> {
    if (this.directory !== null) return this.directory;
    const url = this.account.directoryUrl;
    const answer = await callOut({ method: 'GET', url }, this.settings);
    if (answer.status !== 200) throw problemOf(parseJson(answer.text), answer.status, 0);
    return (this.directory = parseJson(answer.text));
  }

  private async resource(name: string): Promise<string> {
    const url = textOf((await this.readDirectory())[name]);
    if (url === '') throw new AcmeProblem('directory', 0, `the directory has no ${name}`, 0);
    return url;
  }

  private async nonce(): Promise<string> {
    const known = this.nonces.pop();
    if (known !== undefined) return known;
    const answer = await callOut(
      { method: 'HEAD', url: await this.resource('newNonce') },
      this.settings,
    );
    return textOf(answer.headers['replay-nonce']);
  }

  /** A signed request; `payload` null asks for a resource as it is. Errors: AcmeProblem. */
  private async post(url: string, payload: object | null): Promise<Answer> {
    if (url === '') throw new AcmeProblem('malformed', 0, 'the authority left an address out', 0);
    for (let attempt = 1; ; attempt++) {
      const answer = await this.send(url, payload, await this.nonce());
      const nonce = textOf(answer.headers['replay-nonce']);
      if (nonce !== '' && this.nonces.length < acmeLimits.noncesMax) this.nonces.push(nonce);
      const retryAfterMs = retryAfter(answer);
      if (answer.status < 300) {
        const json = isJson(answer) ? parseJson(answer.text) : {};
        const location = textOf(answer.headers['location']);
        return { json, text: answer.text, location, retryAfterMs };
      }
      const problem = problemOf(parseJson(answer.text), answer.status, retryAfterMs);
      if (problem.type !== 'badNonce' || attempt >= acmeLimits.nonceAttemptsMax) throw problem;
    }
  }

  private async send(url: string, payload: object | null, nonce: string): Promise<CallAnswer> {
    const identity =
      this.accountUrl === '' ? { jwk: publicJwk(this.key) } : { kid: this.accountUrl };
    const text = payload === null ? '' : JSON.stringify(payload);
    const signed = await new FlattenedSign(new TextEncoder().encode(text))
      .setProtectedHeader({ alg: 'ES256', nonce, url, ...identity })
      .sign(this.key);
    return callOut(
      {
        method: 'POST',
        url,
        headers: { 'content-type': 'application/jose+json' },
        body: JSON.stringify(signed),
      },
      this.settings,
    );
  }

  private async bindExternal(url: string, { keyId, hmacKey }: ExternalAccount): Promise<object> {
    const payload = new TextEncoder().encode(JSON.stringify(publicJwk(this.key)));
    return new FlattenedSign(payload)
      .setProtectedHeader({ alg: 'HS256', kid: keyId, url })
      .sign(Buffer.from(hmacKey, 'base64url'));
  }
}

function publicJwk(key: KeyObject): { kty: string; crv: string; x: string; y: string } {
  const { kty = '', crv = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' });
  return { kty, crv, x, y };
}

/** RFC 7638: members in this order, nothing between. */
function thumbprint(key: KeyObject): string {
  const { kty, crv, x, y } = publicJwk(key);
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

function orderOf({ json, location }: Answer): Order {
  const authorizations = Array.isArray(json['authorizations']) ? json['authorizations'] : [];
  return {
    url: location,
    status: textOf(json['status']),
    authorizations: authorizations.map(textOf),
    finalize: textOf(json['finalize']),
    certificate: textOf(json['certificate']),
  };
}

function failedChallenge(authorization: Json): Json {
  const challenges = Array.isArray(authorization['challenges']) ? authorization['challenges'] : [];
  for (const one of challenges) {
    const { error } = objectOf(one);
    if (error !== undefined) return objectOf(error);
  }
  return { detail: `the proof of the name is ${textOf(authorization['status'])}` };
}

function problemOf(json: Json, status: number, retryAfterMs: number): AcmeProblem {
  const type = textOf(json['type']).split(':').at(-1) || 'unknown';
  const detail = textOf(json['detail']) || `it answered with status ${status}`;
  return new AcmeProblem(type, status, detail, retryAfterMs);
}

/** RFC 9110 section 10.2.3: seconds, or a date. */
function retryAfter({ headers }: CallAnswer): number {
  const text = textOf(headers['retry-after']);
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now());
}

function isJson({ headers }: CallAnswer): boolean {
  return textOf(headers['content-type']).includes('json');
}

function parseJson(text: string): Json {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    // An authority that answers no JSON has said nothing that could be shown.
    return {};
  }
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Asks a service of the operator's own whether a request may continue (auth_request of nginx). It
 * gets the head with GET, never the body. 2xx lets the request continue, its refusals go to the
 * client as they are, and whatever else happens lets nobody in. Redirects are not followed.
 */

import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { checkedAddress } from '../../base/checked-address.ts';
import { forwardAuthLimits } from '../../base/guard-limits.ts';
import { withinTime } from '../../base/time-limit.ts';
import { withoutSticky } from '../base/sticky-cookie.ts';
import type { ForwardAuthConfig } from '../contract/delivery.ts';
import type { GuardVerdict } from '../contract/guard.ts';
import type { Guard } from './guard.ts';
import { rulesOfPath } from './path-rules.ts';
import type { RequestView } from './request-view.ts';

const { answerBytesMax, asksMax, copiedBytesMax, idleMax, idleMs } = forwardAuthLimits;

/** Answers that refuse and go to the client; all others are failures of the service. */
const refusals = new Set([401, 403]);
const redirects = new Set([301, 302, 303, 307, 308]);
/** Fields of such an answer that go along. */
const relayedFields = ['www-authenticate', 'set-cookie'];

/** Of one connection, of the body, or what is said of the client anew. */
const notForwarded = new RegExp(
  '^(?:accept-encoding|connection|content-.*|expect|forwarded|host|keep-alive|proxy-.*|te|trailer|' +
    'transfer-encoding|upgrade|x-forwarded.*|x-original-.*|x-real-ip)$',
);
const carriedName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const notCarried = /[^\t\x20-\x7e\x80-\xff]/;

/** What the service is asked about one request. */
type Question = Readonly<Record<string, string>>;

/** A rule, and the connections to its service: those that are kept went where the rule allows. */
interface Service extends ForwardAuthConfig {
  readonly agent: HttpAgent;
}

/** The guard of one site. Questions of one request are asked one after another. */
export class ForwardAuth implements Guard {
  readonly name = 'auth';
  private readonly rules: readonly Service[];
  /** Fields that only services say, of all rules. */
  private readonly copied: ReadonlySet<string>;
  private readonly stickyName: string;
  private underWay = 0;

  /** `stickyName`: the cookie that keeps visitors with an address; '' for none. */
  constructor(rules: readonly ForwardAuthConfig[], stickyName = '') {
    this.rules = rules.map(withConnections);
    this.stickyName = stickyName;
    this.copied = new Set(rules.flatMap(({ copiedFields }) => copiedFields));
  }

  decide(view: RequestView): GuardVerdict | null {
    const later = this.asking(view);
    if (later === null) return null;
    if (view.trial) return { ...unavailable, ...{ action: 'monitor', reason: 'auth_not_asked' } };
    return { ...unavailable, later: later() };
  }

  describe(): string {
    return 'what the service of the path says';
  }

  /** Asks when it is called, when the view may serve another request; null for nobody. */
  asking(view: RequestView): (() => Promise<GuardVerdict>) | null {
    const rules = rulesOfPath(this.rules, view).filter(({ open }) => !open);
    if (rules.length === 0) return null;
    const question = this.questionOf(view);
    return () => this.ask(rules, question);
  }

  private questionOf(view: RequestView): Question {
    const { method, path, query, host, facts } = view;
    const headers: Record<string, string> = Object.create(null) as Record<string, string>;
    for (const [name, value] of view.allFields()) {
      const lower = name.toLowerCase();
      const known = lower.replaceAll('_', '-');
      if (notForwarded.test(known) || this.copied.has(known) || !carriedName.test(name)) continue;
      const before = headers[lower];
      const joint = lower === 'cookie' ? '; ' : ', ';
      headers[lower] = before === undefined ? value : before + joint + value;
    }
    this.hideSticky(headers);
    return {
      ...headers,
      'x-forwarded-method': method,
      'x-forwarded-proto': facts.scheme,
      'x-forwarded-host': host,
      'x-forwarded-uri': query === '' ? path : `${path}?${query}`,
      'x-forwarded-for': facts.clientIp,
    };
  }

  /** Which address of the origin a visitor stays with is nothing to the service. */
  private hideSticky(headers: Record<string, string>): void {
    const cookie = headers['cookie'];
    if (this.stickyName === '' || cookie === undefined) return;
    const others = withoutSticky(cookie, this.stickyName);
    if (others === '') delete headers['cookie'];
    else headers['cookie'] = others;
  }

  private async ask(rules: readonly Service[], question: Question): Promise<GuardVerdict> {
    if (this.underWay >= asksMax) return { ...unavailable, reason: 'auth_busy' };
    this.underWay++;
    try {
      let lines = '';
      for (const rule of rules) {
        const answer = await answerOf(rule, question);
        if (answer.status < 200 || answer.status > 299) return refusalOf(rule, answer);
        lines += copiedLines(rule, answer);
      }
      return lines.length > copiedBytesMax ? unavailable : granted(lines);
    } catch (error) {
      // Whatever failed, nobody is let in; the event says what it was.
      return { ...unavailable, detail: causeOf(error) };
    } finally {
      this.underWay--;
    }
  }
}

/** Why the service gave no answer, for the event: never a text of the service. */
function causeOf(error: unknown): string {
  const { code, name, message } = error as Partial<Record<'code' | 'name' | 'message', unknown>>;
  if (name === 'TimeoutError' || name === 'AbortError') return 'no answer in time';
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code)) return code;
  return error instanceof UnaskedError ? String(message) : 'the service could not be asked';
}

/** What keeps a question from being asked, or its answer from being taken; its text is ours. */
class UnaskedError extends Error {}

/** What a request gets while nobody vouches for it. */
const unavailable: GuardVerdict = {
  ...{ guard: 'auth', action: 'deny', reason: 'auth_unavailable', ruleId: '', detail: '' },
  ...{ status: 503, scenario: null },
};

function granted(originLines: string): GuardVerdict {
  return {
    ...unavailable,
    ...{ action: 'bypass', reason: 'auth_granted', status: 0 },
    originLines,
  };
}

interface ServiceAnswer {
  readonly status: number;
  /** Names in lower case and values, in order. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

function refusalOf({ pathPrefix }: ForwardAuthConfig, answer: ServiceAnswer): GuardVerdict {
  const { status, fields, body } = answer;
  const detail = `path ${pathPrefix || '/'}, status ${status}`;
  const location = valueOf(answer, 'location');
  const redirect = redirects.has(status) && location !== '';
  if (!redirect && !refusals.has(status)) return { ...unavailable, detail };
  const contentType = valueOf(answer, 'content-type') || 'text/plain; charset=utf-8';
  return {
    ...unavailable,
    ...{ action: redirect ? 'redirect' : 'deny', reason: 'auth_refused', status, detail },
    headers: fields.filter(([name]) => relayedFields.includes(name)),
    ...(redirect && { location }),
    ...((redirect || body.length > 0) && { page: { contentType, body } }),
  };
}

function copiedLines({ copiedFields }: ForwardAuthConfig, { fields }: ServiceAnswer): string {
  return fields
    .filter(([name]) => copiedFields.includes(name))
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

function valueOf({ fields }: ServiceAnswer, wanted: string): string {
  return fields.find(([name]) => name === wanted)?.[1] ?? '';
}

/** Idle connections end by themselves, also those of a configuration that has gone. */
function withConnections(rule: ForwardAuthConfig): Service {
  const options = { keepAlive: true, maxFreeSockets: idleMax, timeout: idleMs };
  const isTls = rule.url.startsWith('https:');
  return { ...rule, agent: isTls ? new HttpsAgent(options) : new HttpAgent(options) };
}

/** Errors: for a head that cannot be sent on, an address that is not allowed, a late answer. */
function answerOf(rule: Service, headers: Question): Promise<ServiceAnswer> {
  return withinTime(rule.timeoutMs, [], async (signal) => {
    const url = new URL(rule.url);
    if (Object.values(headers).some((value) => notCarried.test(value)))
      throw new UnaskedError('the head holds bytes that no field carries');
    const lookup = await checkedAddress(url.hostname, rule.allowedNetworks);
    if (typeof lookup === 'string')
      throw new UnaskedError(`the address of the service is ${lookup}`);
    signal.throwIfAborted();
    const options = { method: 'GET', lookup, signal, headers };
    const first = send(url, { ...options, agent: rule.agent });
    try {
      return await first.answer;
    } catch (error) {
      // The service closed a connection that was kept, as the question went out on it.
      if (!first.asked.reusedSocket || first.begun() || signal.aborted) throw error;
      return await send(url, { ...options, agent: false }).answer;
    }
  });
}

/** One question on its way. */
interface Asking {
  readonly asked: ClientRequest;
  readonly answer: Promise<ServiceAnswer>;
  /** Whether an answer has begun. */
  begun(): boolean;
}

function send(url: URL, options: RequestOptions): Asking {
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const asked = start(url, options);
  let begun = false;
  const answer = new Promise<ServiceAnswer>((resolve, reject) => {
    asked.on('error', reject);
    asked.on('response', (response) => {
      begun = true;
      readAnswer(response).then(resolve, reject);
    });
  });
  asked.end();
  return { asked, answer, begun: () => begun };
}

async function readAnswer(response: IncomingMessage): Promise<ServiceAnswer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > answerBytesMax) throw new UnaskedError('the answer is too long');
    pieces.push(piece);
  }
  const { rawHeaders, statusCode = 0 } = response;
  const fields: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const value = rawHeaders[i + 1]!;
    if (notCarried.test(value))
      throw new UnaskedError('the answer holds bytes that no field carries');
    fields.push([rawHeaders[i]!.toLowerCase(), value]);
  }
  return { status: statusCode, fields, body: Buffer.concat(pieces) };
}

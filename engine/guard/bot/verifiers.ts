/**
 * Asks services of others about visitors, for all sites of a thread. Each question is bounded in
 * time and bytes and goes to a public address, or to one that the operator allowed; the number of
 * questions under way is bounded. A service that fails in a row is left alone for a while. Nothing
 * of a secret or of what a visitor handed in is in what is reported.
 */

import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { checkedAddress } from '../../../base/checked-address.ts';
import { verifierLimits } from '../../../base/guard-limits.ts';
import { isLate, withinTime } from '../../../base/time-limit.ts';
import type { VerifierConfig } from '../../contract/bot.ts';
import { readVerdict, type VerifierAnswer } from './verifier-services.ts';

/** What is asked about one visitor. */
export interface VerifierQuestion {
  /** What the service gave the visitor. */
  readonly response: string;
  readonly clientIp: string;
  /** Of the site, as its configuration has them. */
  readonly hosts: readonly string[];
  readonly nowMs: number;
}

/** Hears of a service that is left alone for a while; at most one call a rest and service. */
export type VerifierFault = (fields: { readonly verifier: string; readonly why: string }) => void;

interface Failing {
  inARow: number;
  restsUntilMs: number;
}

/** See the header. */
export class Verifiers {
  private readonly onFault: VerifierFault;
  private readonly failing = new Map<string, Failing>();
  private underWay = 0;

  constructor(onFault: VerifierFault = () => undefined) {
    this.onFault = onFault;
  }

  /** False while a service is left alone. */
  isUp(config: VerifierConfig, nowMs: number): boolean {
    return nowMs >= (this.failing.get(nameOf(config))?.restsUntilMs ?? 0);
  }

  /** False while as many questions are under way as may be. */
  get isFree(): boolean {
    return this.underWay < verifierLimits.asksMax;
  }

  /** What the service says. Never rejects. Cost: one connection of its own. */
  async ask(config: VerifierConfig, question: VerifierQuestion): Promise<VerifierAnswer> {
    if (!this.isFree) return failed('too many visitors are being checked');
    this.underWay++;
    let answer: VerifierAnswer;
    try {
      const said = await post(config, formOf(config, question));
      answer = answerOf(config, said, question.hosts);
    } catch (error) {
      answer = failed(explain(error));
    } finally {
      this.underWay--;
    }
    this.note(config, answer, question.nowMs);
    return answer;
  }

  private note(config: VerifierConfig, { outcome, why }: VerifierAnswer, nowMs: number): void {
    const name = nameOf(config);
    const before = this.failing.get(name);
    if (outcome !== 'failed') {
      if (before !== undefined) this.failing.delete(name);
      return;
    }
    if (before === undefined && this.failing.size >= verifierLimits.rememberedMax) {
      this.failing.delete(this.failing.keys().next().value!);
    }
    const { failuresMax, restMs } = verifierLimits;
    const inARow = (before?.inARow ?? 0) + 1;
    const rests = inARow >= failuresMax && nowMs >= (before?.restsUntilMs ?? 0);
    const restsUntilMs = rests ? nowMs + restMs : (before?.restsUntilMs ?? 0);
    this.failing.set(name, { inARow, restsUntilMs });
    if (rests) this.onFault({ verifier: config.id, why });
  }
}

/** A failure of ours, or one that the service is to blame for. */
class AskError extends Error {}

/** What a visitor handed in may be answered with 400; that is no failure of the service. */
function answerOf(
  config: VerifierConfig,
  { status, text }: PostAnswer,
  hosts: readonly string[],
): VerifierAnswer {
  const answer = status === 200 || status === 400 ? readVerdict(config, text, hosts) : null;
  if (answer !== null && (status === 200 || answer.outcome === 'refused')) return answer;
  return failed(`it answered with status ${status}`);
}

function failed(why: string): VerifierAnswer {
  return { outcome: 'failed', why };
}

function nameOf({ id, verifyUrl }: VerifierConfig): string {
  return `${id} ${verifyUrl}`;
}

function formOf({ secret, siteKey, kind }: VerifierConfig, question: VerifierQuestion): Buffer {
  const { response, clientIp } = question;
  const form = new URLSearchParams({ secret, response, remoteip: clientIp });
  if (kind === 'hcaptcha') form.set('sitekey', siteKey);
  return Buffer.from(form.toString());
}

interface PostAnswer {
  readonly status: number;
  readonly text: string;
}

function post({ verifyUrl, allowedNetworks }: VerifierConfig, form: Buffer): Promise<PostAnswer> {
  return withinTime(verifierLimits.askMs, [], async (signal) => {
    const url = new URL(verifyUrl);
    const lookup = await checkedAddress(url.hostname, allowedNetworks);
    if (lookup === 'unresolved') throw new AskError('its name cannot be resolved');
    if (lookup === 'blocked') throw new AskError('its address is special and not allowed');
    if (signal.aborted) throw new AskError('it took too long');
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(form.length),
      accept: 'application/json',
      'user-agent': 'waf-verifier/1',
    };
    try {
      return await send(url, { method: 'POST', agent: false, lookup, signal, headers }, form);
    } catch (error) {
      throw isLate(signal) ? new AskError('it took too long') : error;
    }
  });
}

function send(url: URL, options: RequestOptions, form: Buffer): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const asked = start(url, options, (response) => {
      const pieces: Buffer[] = [];
      let size = 0;
      response.on('data', (piece: Buffer) => {
        size += piece.length;
        if (size <= verifierLimits.answerBytesMax) pieces.push(piece);
        else response.destroy(new AskError('its answer is too large'));
      });
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString('utf8');
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    asked.on('error', reject);
    asked.end(form);
  });
}

/** Our words for a failure of the network; nothing of what it holds. */
function explain(error: unknown): string {
  if (error instanceof AskError) return error.message;
  const { code = '' } = error as { readonly code?: string };
  if (/^(CERT_|ERR_TLS|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_SSL|EPROTO)/.test(code)) {
    return 'it has no valid certificate for its name';
  }
  return code === 'ECONNREFUSED' ? 'it refuses connections' : 'it could not be asked';
}

/** What a verifier gave a visitor, from a query; null for what none gives. */
export function readResponse(text: string): string | null {
  if (text.length > verifierLimits.responseCharsMax || !/^[\w.~%-]+$/.test(text)) return null;
  try {
    const decoded = decodeURIComponent(text);
    return /^[\x21-\x7e]+$/.test(decoded) ? decoded : null;
  } catch {
    return null;
  }
}

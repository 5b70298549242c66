/** How the product's own answers are put on the wire. */

import type { GuardVerdict } from '../../contract/guard.ts';
import type { ResponseScenario, ResponseSettings } from '../../contract/site.ts';
import type { ByteWriter } from '../../http/byte-writer.ts';
import type { SiteAnswer } from '../../guard/site-delivery.ts';
import { httpDate } from '../wire/http-date.ts';
import type { RequestState } from './request-state.ts';
import { renderPage, scenarioOf, statusText, type Page } from './responses.ts';

/** One answer of our own. */
export interface OwnAnswer {
  /** For a scenario: the rule's status; the operator's wording may replace 403. */
  readonly status: number;
  readonly scenario: ResponseScenario | null;
  /** Target of a redirect, as a byte string. */
  readonly location: string | null;
  /** The guard that answers: its own fields and page. */
  readonly guard: GuardVerdict | null;
  /** What the way of the request, or its site, answers: its own fields, text and wording. */
  readonly delivery: SiteAnswer | null;
  /** Value of Strict-Transport-Security; '' for none. */
  readonly strictTransport: string;
  /** Lines on rate limits, with their ends; '' for none. */
  readonly rateLines: string;
  /** A plain line instead of a page. */
  readonly plain: boolean;
  readonly keepAlive: boolean;
  readonly http10: boolean;
  readonly isHead: boolean;
  readonly requestId: string;
  readonly receivedAtMs: number;
  readonly acceptsHtml: boolean;
  readonly settings: ResponseSettings | undefined;
}

/** What an answer of our own says beyond its status. */
export type OwnWording = Pick<OwnAnswer, 'scenario' | 'location' | 'guard' | 'delivery'>;

/** An error without words of its own. */
export const plainError: OwnWording = {
  scenario: null,
  location: null,
  guard: null,
  delivery: null,
};

/**
 * Answers a request in place of an origin; says whether the connection may serve another. `keep`:
 * nothing of this request speaks against that.
 */
export function sendOwnAnswer(
  request: RequestState,
  status: number,
  { scenario, location, guard, delivery }: OwnWording,
  rateLines: string,
  keep: boolean,
): boolean {
  const { front, client, head, texts } = request;
  const keepAlive = keep && head.keepAlive && !front.draining;
  const sent = writeOwnAnswer(front.writer, {
    status,
    scenario,
    location,
    guard,
    delivery,
    strictTransport: request.strictTransport,
    rateLines,
    plain: request.outcome === 'unrouted',
    keepAlive,
    http10: head.version === 10,
    isHead: head.isHead,
    requestId: request.requestId,
    receivedAtMs: texts.receivedAtMs,
    acceptsHtml: texts.acceptsHtml,
    settings: request.site?.site.responses,
  });
  request.ownStatus = sent.status;
  request.ownBytes = sent.bodyBytes;
  const piece = front.writer.take();
  if (request.keepsAnswerHead) {
    request.sentHead = new Uint8Array(piece.subarray(0, piece.length - sent.bodyBytes));
  }
  client.send(piece);
  return keepAlive;
}

/** Writes head and body; says what was sent. */
export function writeOwnAnswer(
  writer: ByteWriter,
  answer: OwnAnswer,
): { status: number; bodyBytes: number } {
  const status = statusOf(answer);
  const page = pageOf(answer, status);
  writer.text(`HTTP/1.1 ${status} ${statusText(status).reason}\r\nContent-Type: `);
  writer.text(page.contentType);
  writer.text('\r\nContent-Length: ');
  writer.decimal(page.body.length);
  // RFC 9110 section 6.6.1.
  writer.text('\r\nDate: ');
  writer.text(httpDate(answer.receivedAtMs));
  writer.text('\r\nCache-Control: no-store\r\nX-Request-Id: ');
  writer.text(answer.requestId);
  if (answer.strictTransport !== '') {
    writer.text(`\r\nStrict-Transport-Security: ${answer.strictTransport}`);
  }
  if (answer.rateLines !== '') writer.text(`\r\n${answer.rateLines.slice(0, -2)}`);
  if (status === 405) writer.text('\r\nAllow: GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH');
  if (answer.location !== null) {
    writer.text('\r\nLocation: ');
    writer.text(answer.location.replace(/[^\x21-\x7e\x80-\xff]/g, ''));
  }
  if (answer.guard !== null) writeGuardFields(writer, answer.guard);
  const { lines = '' } = answer.delivery ?? {};
  if (lines !== '') writer.text(`\r\n${lines.slice(0, -2)}`);
  if (!answer.keepAlive) writer.text('\r\nConnection: close\r\n\r\n');
  else writer.text(answer.http10 ? '\r\nConnection: keep-alive\r\n\r\n' : '\r\n\r\n');
  // A client reads no body after 304; it would take ours for the next answer.
  if (answer.isHead || status === 304) return { status, bodyBytes: 0 };
  writer.bytes(page.body, 0, page.body.length);
  return { status, bodyBytes: page.body.length };
}

function writeGuardFields(writer: ByteWriter, { retryAfterS, headers = [] }: GuardVerdict): void {
  if (retryAfterS !== undefined) writer.text(`\r\nRetry-After: ${retryAfterS}`);
  for (const [name, value] of headers) writer.text(`\r\n${name}: ${printable(value)}`);
}

/** Without what would end a field. */
function printable(value: string): string {
  return value.replace(/[^\x20-\x7e\x80-\xff]/g, '');
}

/** A rule's own status stands; only its default 403 is replaced by the operator's choice. */
function statusOf(answer: OwnAnswer): number {
  if (answer.scenario === null) return answer.status;
  if (answer.status >= 300 && answer.status !== 403) return answer.status;
  return scenarioOf(answer.scenario, answer.settings).statusCode;
}

function pageOf(answer: OwnAnswer, status: number): Page {
  if (answer.guard?.page !== undefined) return answer.guard.page;
  if (answer.guard?.forProgram === true) return programPage(answer, status, answer.guard.reason);
  const { text = null, contentType = 'application/octet-stream' } = answer.delivery ?? {};
  if (text !== null) return { contentType, body: Buffer.from(text, 'latin1') };
  const { reason, kind, message } = statusText(status);
  if (answer.plain) {
    const body = Buffer.from(`${reason}\nRequest id: ${answer.requestId}\n`);
    return { contentType: 'text/plain; charset=utf-8', body };
  }
  const usual =
    answer.scenario === null
      ? { title: reason, message }
      : scenarioOf(answer.scenario, answer.settings);
  const { title, message: said } = answer.delivery ?? {};
  const wording = { title: title || usual.title, message: said || usual.message };
  return renderPage(
    {
      statusCode: status,
      kind: answer.scenario ?? kind,
      source: answer.scenario === null ? 'proxy' : 'waf',
      title: wording.title,
      message: wording.message,
      requestId: answer.requestId,
      receivedAtMs: answer.receivedAtMs,
    },
    answer.acceptsHtml,
    answer.settings,
  );
}

/** What programs read; an operator's wording counts, an operator's HTML does not. */
function programPage(answer: OwnAnswer, status: number, reason: string): Page {
  const { scenario, settings, requestId } = answer;
  const plain = statusText(status);
  const wording =
    scenario === null
      ? { title: plain.reason, message: plain.message }
      : scenarioOf(scenario, settings);
  const { title, message } = wording;
  const error = { status, kind: scenario ?? plain.kind, reason, title, message };
  const body = { error, requestId, time: new Date(answer.receivedAtMs).toISOString() };
  return { contentType: 'application/json', body: Buffer.from(`${JSON.stringify(body)}\n`) };
}

/**
 * The measurement of one exchange: the CPU time of reading its head, running every phase and making
 * its event, as the front does on its own thread. Never decides what is worth measuring.
 */

import type { BodySnapshot, ResponseSnapshot } from '../../engine/contract/message.ts';
import { hideInMatches } from '../../engine/front/facts/hide-secrets.ts';
import { SCAN } from '../../engine/http/head-scanner.ts';
import { RequestHeadParser } from '../../engine/http/request-head.ts';
import { ResponseHeadParser } from '../../engine/http/response-head.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import type { RenderedExchange } from './candidate.ts';

/** What one exchange cost. */
export interface Cost {
  readonly cpuMs: number;
  readonly bytes: number;
  /** Rules that matched and were recorded. */
  readonly matches: number;
  /** Phase that ended the request, or 0. */
  readonly endedIn: number;
  readonly failure: string;
}

const parser = new RequestHeadParser();

/** Runs an exchange once. Null when the head is one that the front refuses unread. */
export function measureOnce(engine: PolicyEngine, exchange: RenderedExchange): Cost | null {
  const { wire, response, responseLines = [] } = exchange;
  const before = process.cpuUsage();
  parser.reset(0);
  if (parser.execute(wire, wire.length) !== SCAN.DONE || parser.refusal !== null) return null;
  const head = { bytes: wire.subarray(0, parser.headEnd), spans: parser.copySpans() };
  const body = wire.subarray(parser.headEnd);
  const session = engine.open({ ...connection, head });
  let endedIn = 0;
  let failure = '';
  try {
    const snapshot = body.length === 0 ? null : { bytes: body, truncated: false };
    if (session.requestHead().action !== 'pass') endedIn = 1;
    else if (session.requestBody(snapshot).action !== 'pass') endedIn = 2;
    else if (response !== null) endedIn = runAnswer(session, response, responseLines);
  } catch (thrown) {
    failure = thrown instanceof Error ? thrown.message : String(thrown);
  }
  const record = session.finish();
  // What its event shows is made on the same thread.
  hideInMatches(record.matchedRules, record.secrets ?? []);
  const { user, system } = process.cpuUsage(before);
  return {
    cpuMs: (user + system) / 1000,
    bytes: wire.length + (response?.length ?? 0) + responseLines.join('  ').length,
    matches: record.matchedRules.length,
    endedIn,
    failure: failure === '' ? (record.failure ?? '') : failure,
  };
}

function runAnswer(
  session: ReturnType<PolicyEngine['open']>,
  body: Buffer,
  lines: readonly string[],
): number {
  if (session.responseHead(readAnswer(lines)).action !== 'pass') return 3;
  const snapshot: BodySnapshot = { bytes: body, truncated: false };
  return session.responseBody(snapshot).action === 'pass' ? 0 : 4;
}

const answerParser = new ResponseHeadParser();

function readAnswer(lines: readonly string[]): ResponseSnapshot {
  const text = ['HTTP/1.1 200 OK', 'Content-Type: text/html', ...lines, '', ''].join('\r\n');
  const bytes = Buffer.from(text, 'latin1');
  answerParser.begin(0, false);
  if (answerParser.execute(bytes, bytes.length) !== SCAN.DONE) {
    throw new Error('the parser refuses the answer');
  }
  return { status: 200, head: { bytes, spans: answerParser.copySpans() } };
}

const connection = {
  requestId: '00000000-0000-4000-8000-000000000000',
  receivedAtMs: Date.now(),
  siteId: 'worst',
  connection: {
    clientIp: '127.0.0.1',
    clientPort: 40_000,
    peerIp: '127.0.0.1',
    serverIp: '127.0.0.1',
    serverPort: 8080,
    scheme: 'http',
  },
} as const;

/**
 * The requests that micro benchmarks work on: the same bytes that the whole-proxy benchmark sends,
 * read into snapshots as the front reads them.
 */

import type {
  BodySnapshot,
  RequestSnapshot,
  ResponseSnapshot,
} from '../../engine/contract/message.ts';
import { SCAN } from '../../engine/http/head-scanner.ts';
import { RequestHeadParser } from '../../engine/http/request-head.ts';
import { ResponseHeadParser } from '../../engine/http/response-head.ts';
import { readWorkloads, type WireRequest } from '../e2e/workload.ts';

/** One request, parsed. */
export interface SampleRequest {
  readonly snapshot: RequestSnapshot;
  readonly body: BodySnapshot | null;
  readonly wire: Buffer;
  /** A blocking WAF answers 403. */
  readonly attack: boolean;
}

/** Requests of one shape, differing in their numbers. */
export interface SampleShape {
  readonly name: string;
  readonly title: string;
  readonly requests: readonly SampleRequest[];
}

/** The shapes of the workload folder; the attack mix gives its attacks. */
export function readShapes(folder: string): SampleShape[] {
  return readWorkloads(folder, 'www.example.com').map(({ name, title, requests }) => {
    const attacks = requests.filter(isAttack);
    const mixed = attacks.length > 0 && attacks.length < requests.length;
    return {
      name: mixed ? 'attack' : name,
      title: mixed ? 'attack' : title,
      requests: (mixed ? attacks : requests).map(parseSample),
    };
  });
}

function isAttack({ expect }: Pick<WireRequest, 'expect'>): boolean {
  return expect.waf !== expect.plain;
}

/** A request as the front reads it. Errors: one that the parser refuses. */
export function parseSample(request: Pick<WireRequest, 'bytes' | 'expect'>): SampleRequest {
  const parser = new RequestHeadParser();
  parser.reset(0);
  const { bytes } = request;
  if (parser.execute(bytes, bytes.length) !== SCAN.DONE || parser.refusal !== null) {
    throw new Error('a workload holds a request that the parser refuses');
  }
  const spans = parser.copySpans();
  const body = bytes.subarray(parser.headEnd);
  return {
    snapshot: {
      requestId: '00000000-0000-4000-8000-000000000000',
      receivedAtMs: Date.now(),
      siteId: 'bench',
      connection: {
        clientIp: '127.0.0.1',
        clientPort: 40_000,
        peerIp: '127.0.0.1',
        serverIp: '127.0.0.1',
        serverPort: 8080,
        scheme: 'http',
      },
      head: { bytes: bytes.subarray(0, parser.headEnd), spans },
    },
    body: body.length === 0 ? null : { bytes: body, truncated: false },
    wire: bytes,
    attack: isAttack(request),
  };
}

/** What the origin of the whole-proxy benchmark answers, without its body. */
export const responseWire = Buffer.from(
  'HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 04 May 2026 10:00:00 GMT\r\n' +
    'Content-Type: application/json\r\nContent-Length: 100\r\nConnection: keep-alive\r\n\r\n',
);

/** `responseWire` as rules get it. */
export function sampleResponse(): ResponseSnapshot {
  const parser = new ResponseHeadParser();
  parser.begin(0, false);
  if (parser.execute(responseWire, responseWire.length) !== SCAN.DONE) {
    throw new Error('the parser refuses a usual answer');
  }
  return { status: 200, head: { bytes: responseWire, spans: parser.copySpans() } };
}

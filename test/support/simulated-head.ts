/** A request's head as a simulation takes it, from the bytes that a client would send. */

import { RequestHeadParser } from '../../engine/http/request-head.ts';
import type { simulateRequest } from '../../engine/simulate/simulated-request.ts';

type Asked = Parameters<typeof simulateRequest>[1];

const connection = {
  clientIp: '127.0.0.1',
  clientPort: 1,
  peerIp: '127.0.0.1',
  serverIp: '127.0.0.1',
  serverPort: 80,
  scheme: 'http',
} as const;

/** Parses `bytes` up to the end of the head; the connection is a plain one on loopback. */
export function simulatedHead(
  bytes: Buffer,
  siteId: string,
): { readonly head: RequestHeadParser; readonly snapshot: Asked['snapshot'] } {
  const head = new RequestHeadParser();
  head.reset(0);
  head.execute(bytes, bytes.length);
  const spans = head.copySpans();
  const snapshot = { requestId: 'x', receivedAtMs: 0, siteId, connection };
  return { head, snapshot: { ...snapshot, head: { bytes, spans } } };
}

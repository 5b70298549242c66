/** A described request as the evidence that a node would have kept of it. */

import type { EvidenceRecord } from '../../engine/contract/evidence.ts';
import type { DescribedCase } from './described-case.ts';

/** Evidence of a request, whole; its title is its request id. */
export function evidenceOf(one: DescribedCase, siteId: string, atMs: number): EvidenceRecord {
  const lines = Object.entries(one.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const headers = new Uint8Array(Buffer.from(lines.join('')));
  return {
    id: `ev-${String(atMs).padStart(14, '0')}-${Buffer.from(String(atMs)).toString('hex')}`,
    ...{ requestId: one.title, siteId, clientIp: '127.0.0.1', httpVersion: one.protocol },
    ...{ receivedAtMs: atMs, completedAtMs: atMs, reason: 'access' },
    ...{ method: one.method, host: one.host, target: one.url },
    ...{ headers, headerBytes: headers.length },
    ...{ body: new Uint8Array(one.body), bodyBytes: one.body.length, lack: '' },
    answer: { status: 200, headers: new Uint8Array(), truncated: false },
  };
}

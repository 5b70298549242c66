/**
 * Owns who a request is from: the peer, unless a trust profile of the site finds another in the
 * headers. Without a profile and without an analysis it costs two comparisons.
 */

import type { ConnectionFacts } from '../contract/message.ts';
import { SPAN } from '../contract/message.ts';
import type { ClientIpFinding } from '../contract/trust.ts';
import { addressHeaders } from '../base/address-headers.ts';
import { accessLimits } from '../base/limits.ts';
import type { RequestHeadParser } from '../http/request-head.ts';
import type { ClientPort } from './client-port.ts';
import type { FrontContext } from './front-context.ts';
import type { Route } from './generation.ts';

/** Who a request is from, and what origins are told of that. */
export type Sender = Pick<ClientPort, 'facts' | 'forwardedLines'>;

/** The sender of the request whose head `head` holds. */
export function senderOf(
  front: FrontContext,
  route: Route | null,
  client: Sender & { readonly parser: RequestHeadParser },
  bytes: Buffer,
): Sender {
  if (route === null || (route.clientIp === null && front.senders.wanted.size === 0)) return client;
  const values = readFields(client.parser, bytes);
  const { id } = route.site;
  const { peerIp } = client.facts;
  if (front.senders.wanted.has(id)) {
    front.senders.addSample({ siteId: id, peer: peerIp, headers: sampleOf(values) });
  }
  if (route.clientIp === null) return client;
  const finding = route.clientIp.resolve(peerIp, (name) => values.get(name) ?? []);
  if (finding.spoofed) {
    front.senders.addSpoof(id, peerIp, finding.spoofedHeader, front.clock.nowMs());
  }
  return finding.sourceHeader === '' ? client : toSender(client.facts, finding);
}

function toSender(facts: ConnectionFacts, finding: ClientIpFinding): Sender {
  const proxies = Math.max(1, finding.verifiedNodeIds.length);
  const hops = [finding.ip, ...finding.hops.slice(-proxies)].join(', ');
  return {
    facts: { ...facts, clientIp: finding.ip },
    forwardedLines: `X-Forwarded-For: ${hops}\r\nX-Forwarded-Proto: ${facts.scheme}\r\n`,
  };
}

/** Values of every field by its name in lower case. */
function readFields(head: RequestHeadParser, bytes: Buffer): Map<string, string[]> {
  const { spans, fieldCount } = head;
  const values = new Map<string, string[]>();
  for (let i = 0; i < fieldCount; i++) {
    const at = SPAN.fields + 4 * i;
    const name = bytes.toString('latin1', spans[at]!, spans[at + 1]!).toLowerCase();
    const value = bytes.toString('latin1', spans[at + 2]!, spans[at + 3]!);
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return values;
}

function sampleOf(values: ReadonlyMap<string, readonly string[]>): Record<string, string> {
  const sample: Record<string, string> = {};
  for (const name of addressHeaders) {
    const sent = values.get(name);
    if (sent === undefined) continue;
    sample[name] = sent.join(', ').slice(0, accessLimits.sampleHeaderBytesMax);
  }
  return sample;
}

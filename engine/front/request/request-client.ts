/**
 * The client of a request: the peer, unless a trust profile of the site finds another in the
 * headers. Without a profile and without an analysis it costs two comparisons.
 */

import type { ConnectionFacts } from '../../contract/message.ts';
import { SPAN } from '../../contract/message.ts';
import type { ClientIpFinding, ClientSample } from '../../contract/trust.ts';
import { addressHeaders, productSignals } from '../../../base/address-headers.ts';
import { trustLimits } from '../../../base/guard-limits.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import { forwardedLines } from '../client-facts.ts';
import type { ClientPort } from '../client-port.ts';
import type { FrontContext } from '../front-context.ts';
import type { Route } from '../generation.ts';

/** Who a request is from, and the header lines that name it to origins. */
export type RequestClient = Pick<ClientPort, 'facts' | 'forwardedLines'> & {
  /** A trust profile proves all who sent it on; absent for no. */
  readonly proved?: boolean;
};

/** The client of the request whose head the parser read. */
export function requestClient(
  front: FrontContext,
  route: Route | null,
  connection: RequestClient & { readonly parser: RequestHeadParser },
  bytes: Buffer,
): RequestClient {
  if (route === null || (route.clientIp === null && front.clientWatch.wanted.size === 0))
    return connection;
  const values = readFields(connection.parser, bytes);
  const { id } = route.site;
  const { peerIp } = connection.facts;
  if (front.clientWatch.wanted.has(id)) {
    front.clientWatch.addSample({ siteId: id, peer: peerIp, ...sampleOf(values) });
  }
  if (route.clientIp === null) return connection;
  const finding = route.clientIp.resolve(peerIp, (name) => values.get(name) ?? []);
  if (finding.spoofed) {
    front.clientWatch.addSpoof(id, peerIp, finding.spoofedHeader, front.clock.nowMs());
  }
  const scheme = schemeOf(connection.facts, finding, values);
  const proved = isProved(finding);
  if (finding.sourceHeader === '' && scheme === connection.facts.scheme && !proved) {
    return connection;
  }
  return { ...clientOf({ ...connection.facts, scheme }, finding), proved };
}

/**
 * How the client spoke to the first proxy: only where all proxies on the way are proved, and one
 * of them says it in exactly one word.
 */
function schemeOf(
  { scheme }: ConnectionFacts,
  finding: ClientIpFinding,
  values: ReadonlyMap<string, readonly string[]>,
): ConnectionFacts['scheme'] {
  if (!isProved(finding)) return scheme;
  const said = values.get('x-forwarded-proto');
  if (said?.length !== 1) return scheme;
  const word = said[0]!.toLowerCase();
  return word === 'http' || word === 'https' ? word : scheme;
}

/** All proxies on the way are proved, and there is one at least. */
function isProved({ verifiedNodeIds, untrustedRule }: ClientIpFinding): boolean {
  return verifiedNodeIds.length > 0 && !untrustedRule;
}

function clientOf(facts: ConnectionFacts, finding: ClientIpFinding): RequestClient {
  if (finding.sourceHeader === '') return { facts, forwardedLines: forwardedLines(facts) };
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

function sampleOf(
  values: ReadonlyMap<string, readonly string[]>,
): Pick<ClientSample, 'headers' | 'products'> {
  const headers: Record<string, string> = {};
  for (const name of addressHeaders) {
    const sent = values.get(name);
    if (sent === undefined) continue;
    headers[name] = sent.join(', ').slice(0, trustLimits.sampleHeaderBytesMax);
  }
  return { headers, products: productSignals((name) => values.get(name)?.join(', ')) };
}

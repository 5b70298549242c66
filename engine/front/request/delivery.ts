/**
 * What the way a request came decides before anything looks at it: which certificate a name gets,
 * what is answered to requests that came over the wrong connection, and what a site answers itself.
 */

import type { CertificateState, TlsFacts } from '../../contract/tls.ts';
import type { CertificateChoice } from '../../tls/handshake.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import { TARGET_FORM } from '../../http/request-head.ts';
import type { ClientPort } from '../client-port.ts';
import type { FrontContext } from '../front-context.ts';
import type { Generation, Route } from '../generation.ts';
import type { SiteAnswer } from '../../guard/site-delivery.ts';
import type { RequestClient } from './request-client.ts';
import type { RequestState } from './request-state.ts';

/** An answer of ours in place of what the site would do. */
export type DeliveryAnswer = SiteAnswer;

/** The certificate for a server name; null when no site with TLS answers for it. */
export function certificateFor(
  generation: Generation,
  serverName: string,
): CertificateChoice | null {
  const { tls, delivery } = generation.find(serverName)?.site ?? {};
  if (tls === undefined || tls.certificate === null) return null;
  const { certificate, minVersion } = tls;
  return { certificate, minVersion, authorities: delivery?.clientCertificates ?? null };
}

/**
 * What a request gets in place of an origin's answer: because of how it came, or of its site; null
 * to serve it. What the site sets of the request and its answer is then noted.
 */
export function answerInstead(request: RequestState): DeliveryAnswer | null {
  const { front, client, requestClient, site, bytes, head } = request;
  const answer = deliveryAnswer(front, client, requestClient, site, bytes);
  const delivery = site?.delivery ?? null;
  if (answer !== null || delivery === null || head.refusal !== null) return answer;
  const view = request.view();
  const ofSite = delivery.answer(view);
  if (ofSite !== null) return ofSite;
  request.bodyBytesMax = delivery.bodyBytesMax(view, request.bodyBytesMax);
  const timeouts = delivery.timeouts(view);
  if (timeouts !== null) request.limitTimes(timeouts);
  request.answerFields = delivery.responseFields(view);
  request.compression = delivery.compression(view);
  request.rewrittenTarget = delivery.rewritten(view);
  return null;
}

/**
 * What a request gets because of how it came; null to serve it. A trusted proxy says how it came
 * there. Cost: two comparisons for a plain
 * request of a site without TLS.
 */
function deliveryAnswer(
  front: FrontContext,
  client: ClientPort,
  { facts }: RequestClient,
  route: Route | null,
  bytes: Buffer,
): DeliveryAnswer | null {
  // What is malformed is inspected and refused as elsewhere; nobody is redirected by it.
  if (client.parser.refusal !== null) return null;
  if (client.tls === null) {
    const token = front.acmeTokens.empty ? null : acmeAnswer(front, client.parser, bytes);
    if (token !== null) return token;
  } else if (route !== null && !fits(front.generation, client.tls, route)) return misdirected;
  const plain = facts.scheme === 'https' ? null : plainAnswer(front, client, route, bytes);
  return plain ?? certificateAnswer(client.tls, route);
}

/** What becomes of a request by the certificate that its client showed, or did not. */
function certificateAnswer(tls: TlsFacts | null, route: Route | null): DeliveryAnswer | null {
  const wanted = route?.site.delivery?.clientCertificates;
  if (wanted === undefined) return null;
  const state = tls?.shown?.state ?? 'none';
  if (state === 'valid' || (state === 'none' && wanted.optional)) return null;
  return { status: 403, reason: certificateReasons[state], location: null, text: null };
}

const certificateReasons: Readonly<Record<CertificateState, string | null>> = {
  none: 'client_certificate_missing',
  valid: null,
  invalid: 'client_certificate_invalid',
  revoked: 'client_certificate_revoked',
  unchecked: 'client_certificate_unchecked',
};

const misdirected: DeliveryAnswer = {
  status: 421,
  reason: 'misdirected',
  location: null,
  text: null,
};

/**
 * Whether a request may use the connection it came on (RFC 9110 section 7.4): that of its own site,
 * or of one with the same certificate, of a version that its site takes, and where the client was
 * asked for a certificate of the same authorities. What counts is what sites have now: a renewed
 * certificate does not end the connections of before.
 */
function fits(
  generation: Generation,
  { serverName, version, shown }: TlsFacts,
  { site }: Route,
): boolean {
  const { tls, delivery } = site;
  // Who was asked for another authority's certificate, or for none, showed nothing that counts.
  const wanted = delivery?.clientCertificates?.fingerprint;
  if (wanted !== undefined && wanted !== shown?.authorities) return false;
  if (tls === undefined || (tls.minVersion === 'TLSv1.3' && version !== 'TLSv1.3')) return false;
  const named = generation.find(serverName)?.site;
  if (named === site) return true;
  const fingerprint = tls.certificate?.fingerprint;
  return fingerprint !== undefined && named?.tls?.certificate?.fingerprint === fingerprint;
}

function acmeAnswer(
  front: FrontContext,
  head: RequestHeadParser,
  bytes: Buffer,
): DeliveryAnswer | null {
  const path = bytes.toString('latin1', head.pathStart, head.pathEnd).split('?', 1)[0]!;
  const text = front.acmeTokens.find(path);
  return text === null ? null : { status: 200, reason: null, location: null, text };
}

/** What plain HTTP gets from a TLS site; without a listener for TLS that is not ours to say. */
function plainAnswer(
  front: FrontContext,
  client: ClientPort,
  route: Route | null,
  bytes: Buffer,
): DeliveryAnswer | null {
  const tls = route?.site.tls;
  if (tls === undefined || tls.httpBehavior === 'both' || front.securePort === 0) return null;
  if (tls.httpBehavior === 'acme_only') {
    return { status: 404, reason: 'plain_http', location: null, text: null };
  }
  // A redirect to a name without a certificate leads nowhere.
  if (tls.certificate === null) {
    return { status: 503, reason: 'certificate_missing', location: null, text: null };
  }
  const location = secureUrl(front.securePort, client, bytes);
  return { status: 308, reason: null, location, text: null };
}

/** The same request over TLS: the host that was routed by, the target as it was sent. */
function secureUrl(port: number, client: ClientPort, bytes: Buffer): string {
  const { parser: head } = client;
  const target = bytes.toString('latin1', head.pathStart, head.pathEnd);
  const path = head.targetForm === TARGET_FORM.ASTERISK ? '/' : target;
  const rooted = path.startsWith('/') ? path : `/${path}`;
  const escaped = rooted.replace(/[^\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]/g, escapeByte);
  return `https://${client.host()}${port === 443 ? '' : `:${port}`}${escaped}`;
}

function escapeByte(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

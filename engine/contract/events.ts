/** What remains of every request when it ended, whatever the path; plain data. */

import type { EvidenceSource } from './evidence.ts';
import type { GuardNote } from './guard.ts';
import type { EventSelection } from './logging.ts';
import type { RequestTrace } from './request-trace.ts';
import type { TlsFacts } from './tls.ts';
import type { TransactionRecord } from './verdict.ts';

/** Why the front, not a rule or the origin, ended a request. */
export type RequestOutcome =
  /** The origin's answer went to the client in full. */
  | 'served'
  /** A rule's or a guard's verdict was enforced. */
  | 'blocked'
  /** The parser or a limit refused it; `refusal` says why. */
  | 'refused'
  /** No site answers for the host. */
  | 'unrouted'
  /** The client went away first. */
  | 'client_abort'
  /** The origin failed before or during its answer; `refusal` says how. */
  | 'origin_error'
  /** Inspection failed and the site's policy is `closed`. */
  | 'inspection_failed'
  /** A guard asked the client for a proof; `guards` says which. */
  | 'challenged';

/** One finished request. Texts from outside are byte strings, cut at the limits of the front. */
export interface RequestEvent {
  readonly requestId: string;
  /** Empty when no site was found. */
  readonly siteId: string;
  /** Milliseconds since the Unix epoch. */
  readonly receivedAtMs: number;
  /** From the first byte of the head to the last byte handed to the socket, microseconds. */
  readonly durationUs: number;
  /** From sending the request to the origin's head, microseconds; -1 when none came. */
  readonly originUs: number;
  readonly clientIp: string;
  readonly clientPort: number;
  readonly method: string;
  readonly host: string;
  /** The target as sent, query included. */
  readonly target: string;
  readonly httpVersion: string;
  /** Version, for example TLSv1.3, and JA4 of the client's handshake; absent without TLS. */
  readonly tls?: Pick<TlsFacts, 'version' | 'ja4'>;
  readonly userAgent: string;
  readonly referer?: string;
  /** Status sent to the client; 0 when none was. */
  readonly status: number;
  readonly outcome: RequestOutcome;
  /** True when a verdict of a rule or a guard was enforced. */
  readonly blocked: boolean;
  /** Stable code of a refusal or origin failure; null otherwise. */
  readonly refusal: string | null;
  /** Body bytes received from the client, framing removed. */
  readonly bytesIn: number;
  /** Body bytes sent to the client, framing not counted. */
  readonly bytesOut: number;
  /** `host:port` of the origin that was asked last; null when none was. */
  readonly endpoint: string | null;
  /** Upstream that the path belongs to; absent or '' where the request did not come so far. */
  readonly upstreamId?: string;
  /** Path route that was taken; absent or '' for none. */
  readonly routeId?: string;
  readonly transaction: TransactionRecord | null;
  /** What guards decided, in order; absent for nothing. */
  readonly guards?: readonly GuardNote[];
  /** What the log policy keeps of it; absent for nothing but what every policy keeps. */
  readonly selection?: EventSelection;
  /** Its place in a trace; absent where its spans are not sent. */
  readonly trace?: RequestTrace;
}

/**
 * Takes finished requests with the policy that inspected them ('' for none); must not throw and
 * must not block.
 */
export type RequestDone = (event: RequestEvent, policyId: string, evidence: EvidenceSource) => void;

/** What all connections of one front thread share; holds no behavior of its own. */

import type { Clock } from '../../base/clock.ts';
import type { Deadlines } from '../base/deadlines.ts';
import type { RequestDone } from '../contract/events.ts';
import type { ClientTimes } from '../contract/request-times.ts';
import type { ClientCounts } from '../detect/learning/client-counts.ts';
import type { RequestView } from '../guard/request-view.ts';
import type { SecureContexts } from '../tls/secure-contexts.ts';
import type { HandshakeFailure } from '../tls/handshake.ts';
import type { OverloadController } from '../overload/controller.ts';
import type { AcmeTokens } from './acme-tokens.ts';
import type { CaptureRoom } from './facts/body-capture.ts';
import type { ByteWriter } from '../http/byte-writer.ts';
import type { HeadLimits } from '../http/head-scanner.ts';
import type { Generation } from './generation.ts';
import type { HeldBudget } from './wire/held-budget.ts';
import type { RequestIds } from './request-id.ts';
import type { ClientWatch } from './facts/client-watch.ts';
import type { ClientRefusal } from './facts/counters.ts';
import type { FloodWatch } from './facts/flood-watch.ts';
import type { SpareReaders } from './wire/spare-readers.ts';
import type { Tracer } from './facts/tracer.ts';

/** Bounds and waits that may differ per front; defaults in `frontLimits` and `httpLimits`. */
export interface FrontSettings extends HeadLimits, ClientTimes {
  readonly connectionsMax: number;
  readonly requestBodyBytesMax: number;
  readonly heldBytesMax: number;
  readonly handshakeTimeoutMs: number;
  readonly proxyHeaderTimeoutMs: number;
  readonly headTimeoutMs: number;
  readonly halfCloseGraceMs: number;
  readonly lingerTimeoutMs: number;
  readonly sweepIntervalMs: number;
  readonly drainTimeoutMs: number;
  readonly drainIdleMs: number;
  /** Whether HTTP/2 is offered to clients with TLS. */
  readonly http2: boolean;
}

/** Shared state of one front thread. */
export interface FrontContext {
  readonly clock: Clock;
  readonly settings: FrontSettings;
  readonly deadlines: Deadlines;
  readonly writer: ByteWriter;
  /** For listeners that read each request on its own. */
  readonly readers: SpareReaders;
  readonly ids: RequestIds;
  readonly held: HeldBudget;
  /** Which requests are inspected while the thread is overloaded. */
  readonly overload: OverloadController;
  readonly onRequestDone: RequestDone;
  /** A message of a WebSocket was inspected. */
  readonly onMessageDone: RequestDone;
  /** A request or message could not be reported; it ends like any other. */
  readonly onEventFault: (thrown: unknown) => void;
  /** A client was closed when it was accepted. */
  readonly onClientRefused: (why: ClientRefusal) => void;
  /** Who was ended for what it did. */
  readonly floods: FloodWatch;
  readonly clientWatch: ClientWatch;
  /** Clients that show signs of attacks in values, for sites that learn. */
  readonly clientCounts: ClientCounts;
  /** Copies of bodies for evidence; null where nobody takes them. */
  readonly captures: CaptureRoom | null;
  /** Puts requests into traces; null where nobody asks for any. */
  readonly tracer: Tracer | null;
  /** What guards read of the request that they are asked about. */
  readonly view: RequestView;
  /** What TLS connections are made with. */
  readonly tls: SecureContexts;
  /** A TLS handshake ended. */
  readonly onHandshake: (outcome: HandshakeFailure | 'complete') => void;
  /** A client was closed because its PROXY header was missing, malformed or late. */
  readonly onProxyHeaderRefused: () => void;
  /** Answers to certificate authorities that prove names over plain HTTP. */
  readonly acmeTokens: AcmeTokens;
  /** Port that redirects to TLS name; 0 while no listener for TLS is open. */
  securePort: number;
  /** What new requests run on. */
  generation: Generation;
  /** True once draining: every answer closes its connection. */
  draining: boolean;
}

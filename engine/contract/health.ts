/** What is known of origin addresses: by probes, and by the requests to them; plain data. */

/** What is known of one address. */
export interface AddressHealth {
  readonly upstreamId: string;
  /** Scheme, host and port, the default port left out. */
  readonly url: string;
  /** `host:port`, as pools are named. */
  readonly name: string;
  readonly status: 'unknown' | 'healthy' | 'unhealthy';
  /** When it was asked last and when the status changed, milliseconds; 0 for never. */
  readonly probedAtMs: number;
  readonly changedAtMs: number;
  /** Why it is unhealthy, for people; '' otherwise. */
  readonly error: string;
}

/** What one thread noticed of an address since its note before. */
export interface OriginNote {
  readonly upstreamId: string;
  readonly scheme: 'http' | 'https';
  /** `host:port`, as pools are named. */
  readonly name: string;
  /** Requests and connections that failed. */
  readonly failed: number;
  readonly answered: boolean;
  /** Code of the last failure; '' where there was none. */
  readonly failure: string;
}

/** What one probe of an address found. */
export interface ProbeFinding {
  readonly healthy: boolean;
  /** Stable code of what is wrong; '' otherwise. */
  readonly code: string;
  /** What is wrong, for people; '' otherwise. */
  readonly error: string;
}

/** What one probe of a pool found at one of its addresses. */
export interface ProbedAddress extends ProbeFinding {
  /** `host:port`. */
  readonly address: string;
}

/** The addresses of one generation that are known, and the generation that they are of. */
export interface HealthReport {
  readonly revision: string;
  /** SHA-256 of the bundle, in hex. */
  readonly sha256: string;
  readonly addresses: readonly AddressHealth[];
}

/** The first page of an origin. */
export interface FirstPage {
  readonly status: number;
  /** Of the cookies that it sets. */
  readonly cookieNames: readonly string[];
  /** The beginning of its body. */
  readonly text: string;
}

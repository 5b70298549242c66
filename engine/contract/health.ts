/** Owns what is known of an origin address that is probed; plain data. */

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
}

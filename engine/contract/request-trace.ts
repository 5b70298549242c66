/** What is known of a request's place in a trace when it has ended; plain data. */

/** A request whose spans are sent. Ids are hexadecimal digits in lower case. */
export interface RequestTrace {
  /** 32 digits. */
  readonly traceId: string;
  /** Our span: 16 digits. */
  readonly spanId: string;
  /** The client's span; '' where the trace begins here. */
  readonly parentId: string;
  /** `tracestate` as it went to the origin; byte string. */
  readonly state: string;
  /** First byte of the request, microseconds since the Unix epoch. */
  readonly startUs: number;
  /** The request to the origin; null where none was asked. */
  readonly origin: OriginSpan | null;
}

/** The request to an origin, all its attempts together. */
export interface OriginSpan {
  readonly spanId: string;
  /** Begin and end, microseconds after `startUs`. */
  readonly fromUs: number;
  readonly untilUs: number;
  /** Status that the origin answered with; 0 for none. */
  readonly status: number;
  readonly scheme: 'http' | 'https';
  /** Bytes of the path that were taken off. */
  readonly skip: number;
  /** Attempts beyond the first. */
  readonly resends: number;
}

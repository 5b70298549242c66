/** The reasons for which a message is refused, their statuses, and what may still be done. */

/** Why a message is refused, and how. */
export interface Refusal {
  /** Status of the answer; 0: close without one. Responses from origins become 502 whatever. */
  readonly status: number;
  /** Stable code for events and metrics. */
  readonly reason: string;
  /**
   * True when the head is delimited and framed without doubt, so that the rules may see it before
   * the refusal is sent; such a message is never forwarded.
   */
  readonly inspectFirst: boolean;
}

function hard(reason: string, status = 400): Refusal {
  return Object.freeze({ status, reason, inspectFirst: false });
}

function soft(reason: string, status = 400): Refusal {
  return Object.freeze({ status, reason, inspectFirst: true });
}

/** Every refusal there is. Refused messages end their connection. */
export const REFUSAL = {
  bareLf: hard('bare_lf'),
  bareCr: hard('bare_cr'),
  nul: hard('nul'),
  emptyLine: hard('empty_start_line'),
  fieldName: hard('field_name'),
  spaceBeforeColon: hard('space_before_colon'),
  obsFold: hard('obs_fold'),
  headTooLarge: hard('head_too_large', 431),
  tooManyFields: hard('too_many_fields', 431),
  targetTooLong: hard('target_too_long', 414),
  contentLength: hard('content_length'),
  contentLengthTwice: hard('content_length_twice'),
  lengthAndEncoding: hard('content_length_and_transfer_encoding'),
  transferEncoding: hard('transfer_encoding'),
  encodingInHttp10: hard('transfer_encoding_in_http10'),
  connectionTokens: hard('connection_tokens'),
  statusLine: hard('status_line'),
  chunkSize: hard('chunk_size'),
  chunkExtension: hard('chunk_extension'),
  /** More framing than content. */
  chunkOverhead: hard('chunk_overhead'),
  chunkEnd: hard('chunk_end'),
  trailer: hard('trailer'),
  bodyTooLarge: hard('body_too_large', 413),
  method: soft('method'),
  requestLine: soft('request_line'),
  target: soft('target'),
  userinfo: soft('userinfo'),
  fieldValue: soft('field_value'),
  hostMissing: soft('host_missing'),
  hostTwice: soft('host_twice'),
  hostInvalid: soft('host_invalid'),
  hostMismatch: soft('host_mismatch'),
  version: soft('version'),
  versionUnsupported: soft('version_unsupported', 505),
  /**
   * No version at all: an HTTP/0.9 client, which would take a status line for content. CRS's tests
   * (920430-5) ask for a rule's record and no answer.
   */
  versionMissing: soft('version_missing', 0),
  /** Which of them an origin goes by, and whether it joins them, nobody knows. */
  contentTypeTwice: soft('content_type_twice'),
  /** RFC 9110 section 7.6.1: what says how content is read is no business of this hop alone. */
  connectionNamesContent: soft('connection_names_content'),
  /** RFC 9110 section 10.1.1: an expectation that we do not know of cannot be met. */
  expectation: soft('expectation', 417),
  /** It would show a page's scripts what they may not read, and what we add for origins. */
  traceMethod: soft('trace_method', 405),
  /** Of the site's path routes, one is meant as sent and another once escapes are resolved. */
  pathAmbiguous: soft('path_ambiguous'),
  connectMethod: soft('connect_method'),
  upgrade: soft('upgrade', 501),
  websocket: soft('websocket'),
} as const;

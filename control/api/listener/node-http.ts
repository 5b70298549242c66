/** The types of requests and responses, whichever HTTP version they came in. Plain types. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/** A request of either version of HTTP. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;
/** A response of either version of HTTP. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

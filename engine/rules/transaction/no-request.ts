/** What planning and idle transactions have in place of a request. */

import type { RequestSnapshot } from '../../contract/message.ts';

/** Stands in for a request where there is none; nothing that is decided then reads it. */
export const noRequest: RequestSnapshot = {
  requestId: '',
  receivedAtMs: 0,
  siteId: '',
  connection: {
    clientIp: '0.0.0.0',
    clientPort: 0,
    peerIp: '0.0.0.0',
    serverIp: '0.0.0.0',
    serverPort: 0,
    scheme: 'http',
  },
  head: { bytes: new Uint8Array(0), spans: new Int32Array(9) },
};

/** Makes views of requests for tests of guards. */

import { RequestHeadParser } from '../../engine/http/request-head.ts';
import { RequestView } from '../../engine/guard/request-view.ts';

/** When the requests of tests come, milliseconds since the Unix epoch. */
export const viewStartMs = 1_790_000_000_000;

/** A request as tests write it. */
export interface Asked {
  readonly target?: string;
  readonly method?: string;
  readonly fields?: readonly string[];
  readonly ip?: string;
  readonly scheme?: 'http' | 'https';
  readonly afterMs?: number;
  readonly trial?: boolean;
}

/** Its view. */
export function viewOf({ target = '/', method = 'GET', fields = [], ...rest }: Asked): RequestView {
  const text = [`${method} ${target} HTTP/1.1`, 'Host: a.example', ...fields, '', ''].join('\r\n');
  const bytes = Buffer.from(text, 'latin1');
  const parser = new RequestHeadParser();
  parser.reset(0);
  parser.execute(bytes, bytes.length);
  const clientIp = rest.ip ?? '192.0.2.1';
  const ports = { clientPort: 1, serverPort: 80, scheme: rest.scheme ?? 'http' } as const;
  const facts = { ...ports, clientIp, peerIp: clientIp, serverIp: '192.0.2.3' };
  const view = new RequestView().begin(parser, bytes, facts);
  view.nowMs = viewStartMs + (rest.afterMs ?? 0);
  view.trial = rest.trial ?? false;
  return view;
}

/**
 * Renewal information (RFC 9773) in front of pebble, whose Debian version has none: the directory
 * names it, the first certificate that is asked for is due at once, others in sixty days.
 * Everything else is pebble's.
 */

import https from 'node:https';
import type { Pebble } from './pebble.ts';
import { makeTestCertificate } from './test-certificates.ts';

/** The authority with renewal information. */
export interface RenewalAuthority {
  readonly directoryUrl: string;
  /** Ids of certificates that were asked for, in order, each once. */
  readonly asked: readonly string[];
  /** What each order said that it replaces; null for nothing. */
  readonly replaced: readonly (string | null)[];
  stop(): void;
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

const dayMs = 86_400_000;

/** Starts it on a free port. */
export async function startRenewalAuthority(pebble: Pebble): Promise<RenewalAuthority> {
  const asked: string[] = [];
  const replaced: (string | null)[] = [];
  const leaf = await makeTestCertificate({ names: ['127.0.0.1'], issuer: pebble.authority });
  const pebbleUrl = new URL(pebble.directoryUrl);
  const server = https.createServer({ key: leaf.key, cert: leaf.cert }, (request, response) => {
    const { method = '', url = '/', headers } = request;
    const host = headers.host ?? '';
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const answer = async (): Promise<Answer> => {
        if (url.startsWith('/ari/')) return json(windowOf(url.slice('/ari/'.length), asked));
        const passed = await pass(
          { port: pebbleUrl.port, method, path: url, headers, body },
          pebble,
        );
        // An order with a refused nonce is sent again.
        if (url === '/order-plz' && passed.status === 201) replaced.push(replacedBy(body));
        if (url !== pebbleUrl.pathname) return passed;
        const directory = JSON.parse(passed.text) as object;
        return json({ ...directory, renewalInfo: `https://${host}/ari` });
      };
      void answer().then(({ status, headers: fields, text }) => {
        response.writeHead(status, fields as Record<string, string>);
        response.end(text);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const directoryUrl = `https://127.0.0.1:${port}${pebbleUrl.pathname}`;
  return { directoryUrl, asked, replaced, stop: () => void server.close() };
}

function json(value: object): Answer {
  const headers = { 'content-type': 'application/json', 'retry-after': '3600' };
  return { status: 200, headers, text: JSON.stringify(value) };
}

function windowOf(id: string, asked: string[]): object {
  if (!asked.includes(id)) asked.push(id);
  const startMs = Date.now() + (asked[0] === id ? -2 * dayMs : 60 * dayMs);
  const [start, end] = [startMs, startMs + dayMs].map((ms) => new Date(ms).toISOString());
  return { suggestedWindow: { start, end } };
}

/** What the signed body of an order names. */
function replacedBy(body: string): string | null {
  const { payload } = JSON.parse(body) as { payload: string };
  const order = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { replaces?: string };
  return order.replaces ?? null;
}

/** Asks pebble the same, under the host that the client named: its URLs begin with it. */
function pass(
  call: { port: string; method: string; path: string; headers: object; body: string },
  { authority }: Pebble,
): Promise<Answer> {
  const { port, method, path, headers, body } = call;
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers: { ...headers } };
    const sent = https.request({ ...options, ca: authority.cert, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => {
        const { statusCode: status = 0, headers: fields } = response;
        resolve({ status, headers: fields, text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

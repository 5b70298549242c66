/** How a described request becomes the bytes that a client would send. */

import { canonicalHttpVersion } from '../../../base/http-version.ts';
import { invalidField } from '../errors.ts';

/** A request as people describe it. */
export interface DescribedRequest {
  readonly method: string;
  /** Absolute URL, or a target that begins with a slash. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly protocol: string;
  readonly clientIp: string;
  readonly peerIp: string;
  /** Host where the URL names none; localhost without. */
  readonly host?: string;
}

/** The bytes and addresses of a request. */
export interface WireRequest {
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  readonly clientIp: string;
  readonly peerIp: string;
}

const protocols = ['HTTP/1.0', 'HTTP/1.1', 'HTTP/2'];
/**
 * Clients of requests that name none, in the order in which they are tried: addresses of
 * documentation (RFC 5737, 3849), which lists of operators hold in examples.
 */
export const standInClients: readonly string[] = [
  '203.0.113.10',
  '198.51.100.10',
  '192.0.2.10',
  '2001:db8::10',
];
const headersMax = 200;
const urlBytesMax = 16_384;
const controls = /[\0\r\n]/;

/** Makes the request. Errors: invalid_argument naming the field. */
export function makeTestRequest(described: DescribedRequest): WireRequest {
  const method = described.method === '' ? 'GET' : described.method;
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/.test(method)) {
    throw invalidField('method', 'must be an HTTP method');
  }
  const protocol = canonicalHttpVersion(described.protocol.toUpperCase()) || 'HTTP/1.1';
  if (!protocols.includes(protocol)) {
    throw invalidField('protocol', `must be one of ${protocols.join(', ')}`);
  }
  const { target, host } = splitUrl(described.url, described.host ?? 'localhost');
  const headers = Object.entries(described.headers);
  if (headers.length > headersMax)
    throw invalidField('headers', `has at most ${headersMax} entries`);
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  // A request of HTTP/2 is a head of this form to the rules, with the name that CRS knows.
  const lines = [`${method} ${target} ${protocol === 'HTTP/2' ? 'HTTP/2.0' : protocol}`];
  if (!names.has('host')) lines.push(`Host: ${host}`);
  for (const [name, value] of headers) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(name) || controls.test(value)) {
      throw invalidField('headers', 'holds a name or value that HTTP cannot carry');
    }
    // What is stated about framing stays where it is; the length is the body's own.
    const isLength = name.toLowerCase() === 'content-length';
    lines.push(`${name}: ${isLength ? described.body.length : value}`);
  }
  const framed = names.has('content-length') || names.has('transfer-encoding');
  if (described.body.length > 0 && !framed) lines.push(`Content-Length: ${described.body.length}`);
  const clientIp = described.clientIp === '' ? standInClients[0]! : described.clientIp;
  return {
    head: new TextEncoder().encode(`${lines.join('\r\n')}\r\n\r\n`),
    body: described.body,
    clientIp,
    peerIp: described.peerIp === '' ? clientIp : described.peerIp,
  };
}

function splitUrl(url: string, standard: string): { target: string; host: string } {
  if (url === '') throw invalidField('url', 'is required, for example /?q=1');
  if (url.length > urlBytesMax || controls.test(url) || url.includes(' ')) {
    throw invalidField('url', 'must have no spaces or control characters and at most 16 KiB');
  }
  if (url.startsWith('/')) return { target: url, host: standard };
  const found = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(url);
  if (found === null) throw invalidField('url', 'must be absolute or begin with a slash');
  const rest = found[2] ?? '';
  return { target: rest.startsWith('/') ? rest : `/${rest}`, host: found[1] ?? '' };
}

/** Sends one request of the chain's table in one way, on a connection of its own. */

import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import zlib from 'node:zlib';
import { domain, type ChainRequest, type Way } from './chain-row.ts';
import { messageOverHttp1, messageOverHttp2 } from './chain-websocket.ts';

/** Where to send it, and as what. */
export interface Target {
  readonly port: number;
  readonly securePort: number;
  readonly host: string;
  /** Name in the TLS handshake. */
  readonly serverName: string;
  readonly requestId: string;
  /** What the client shows over TLS. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
}

/** What came back; status 0 when the connection ended without an answer. */
export interface ChainAnswer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What every client sends. */
const usual = { 'user-agent': 'chain', accept: '*/*' };
/** The network of balancers: the engine takes PROXY headers from it. */
export const balancers = '127.0.3.0/24';
const addresses: Readonly<Record<Way, number>> = { h1: 11, h1s: 12, h2: 14, h2s: 13 };

/** True where the request opens a WebSocket. */
export function isMessage({ message, frames }: ChainRequest): boolean {
  return message !== undefined || frames !== undefined;
}

/** Sends it; resolves when the answer is whole or the connection ended. */
export function sendChain(way: Way, request: ChainRequest, target: Target): Promise<ChainAnswer> {
  const network = request.proxy === undefined ? '127.0.1' : '127.0.3';
  const localAddress = `${network}.${request.from ?? addresses[way]}`;
  const secure = way === 'h1s' || way === 'h2s';
  const send = way === 'h2' || way === 'h2s' ? sendHttp2 : sendHttp1;
  return send(secure, request, target, localAddress);
}

/** Opens the connection; a balancer speaks first. */
function connect(
  secure: boolean,
  { proxy = '' }: ChainRequest,
  { port, securePort, serverName, certificate }: Target,
  localAddress: string,
  ALPNProtocols: string[],
): net.Socket {
  const at = { host: '127.0.0.1', localAddress, port: secure ? securePort : port };
  const socket = net.connect(at);
  if (proxy !== '') socket.write(Buffer.from(proxy, 'latin1'));
  if (!secure) return socket;
  const options = { servername: serverName, rejectUnauthorized: false, ALPNProtocols };
  socket.on('error', () => undefined);
  return tls.connect({ ...options, ...certificate, socket });
}

function fieldsOf(request: ChainRequest, { requestId }: Target): Record<string, string> {
  return { ...usual, 'x-request-id': requestId, ...request.headers };
}

function wireOf(request: ChainRequest, target: Target): string {
  const { method = 'GET', path = '/', body = '', chunked = false } = request;
  if (request.raw !== undefined) return request.raw.replaceAll('$id', target.requestId);
  const fields = fieldsOf(request, target);
  const length = Buffer.byteLength(body, 'latin1');
  if (chunked) fields['transfer-encoding'] = 'chunked';
  else if (request.body !== undefined) fields['content-length'] = String(length);
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const close = fields['connection'] === undefined ? 'Connection: close\r\n' : '';
  const head = `${method} ${path} HTTP/1.1\r\nHost: ${target.host}\r\n${close}`;
  const content = chunked ? `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  return `${head}${lines.join('')}\r\n${content}`;
}

function sendHttp1(
  secure: boolean,
  request: ChainRequest,
  target: Target,
  localAddress: string,
): Promise<ChainAnswer> {
  return new Promise((resolve) => {
    const socket = connect(secure, request, target, localAddress, []);
    const ready = secure ? 'secureConnect' : 'connect';
    if (isMessage(request)) {
      const { host } = target;
      const opened = messageOverHttp1(socket, ready, request, host, fieldsOf(request, target));
      return void opened.then((answer) => resolve({ ...answer, fields: {} }));
    }
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(readAnswer(text)));
    socket.once(ready, () => socket.write(Buffer.from(wireOf(request, target), 'latin1')));
  });
}

function readAnswer(text: string): ChainAnswer {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return { status: 0, fields: {}, body: '' };
  const [first = '', ...lines] = text.slice(0, headEnd).split('\r\n');
  const fields = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(first.slice(9, 12)),
    fields: joined(fields),
    body: decoded(joined(fields), text.slice(headEnd + 4)),
  };
}

/** RFC 9110 section 5.3: values of equal names in one. */
function joined(fields: readonly (readonly [string, string])[]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, value] of fields) {
    all[name] = all[name] === undefined ? value : `${all[name]}, ${value}`;
  }
  return all;
}

/** The content without coding; a coded body that came over HTTP/1.1 is framed in chunks. */
function decoded(fields: Readonly<Record<string, string>>, body: string): string {
  const coding = fields['content-encoding'] ?? '';
  if (body === '' || (coding !== 'br' && coding !== 'gzip')) return body;
  const bytes = fields['transfer-encoding'] === 'chunked' ? unchunked(body) : body;
  const decode = coding === 'br' ? zlib.brotliDecompressSync : zlib.gunzipSync;
  return decode(Buffer.from(bytes, 'latin1')).toString('latin1');
}

function unchunked(body: string): string {
  let content = '';
  for (let at = 0; ;) {
    const lineEnd = body.indexOf('\r\n', at);
    const length = Number.parseInt(body.slice(at, lineEnd), 16);
    if (!(length > 0)) return content;
    content += body.slice(lineEnd + 2, lineEnd + 2 + length);
    at = lineEnd + 2 + length + 2;
  }
}

function sendHttp2(
  secure: boolean,
  request: ChainRequest,
  target: Target,
  localAddress: string,
): Promise<ChainAnswer> {
  return new Promise((resolve) => {
    const { host } = target;
    const session = http2.connect(`${secure ? 'https' : 'http'}://${host}`, {
      createConnection: () => connect(secure, request, target, localAddress, ['h2']),
    });
    if (isMessage(request)) {
      const fields = { ':authority': host, ...fieldsOf(request, target) };
      const opened = messageOverHttp2(session, request, fields);
      return void opened.then((answer) => resolve({ ...answer, fields: {} }));
    }
    let answer: ChainAnswer = { status: 0, fields: {}, body: '' };
    session.on('error', () => undefined);
    session.on('close', () => resolve(answer));
    const ask = (): void => {
      const stream = openStream(session, request, target);
      stream.on('response', (got) => {
        const plain = Object.entries(got).map(([name, value]) => [name, String(value)] as const);
        answer = { ...answer, status: got[':status'] ?? 0, fields: Object.fromEntries(plain) };
      });
      stream.on('data', (bytes: Buffer) => {
        answer = { ...answer, body: answer.body + bytes.toString('latin1') };
      });
      stream.on('error', () => undefined);
      stream.on('close', () => {
        answer = { ...answer, body: decoded(answer.fields, answer.body) };
        session.close();
      });
    };
    if (request.after === undefined) return ask();
    const first = session.request({ ...usual, ':authority': `${request.after}.${domain}` });
    first.on('error', () => undefined);
    first.on('close', ask);
    first.resume();
  });
}

/** Begins the request, and sends its body. */
function openStream(
  session: http2.ClientHttp2Session,
  request: ChainRequest,
  target: Target,
): http2.ClientHttp2Stream {
  const { method = 'GET', path = '/', body } = request;
  const fields: http2.OutgoingHttpHeaders = {
    ...{ ':method': method, ':path': path, ':authority': target.host },
    ...fieldsOf(request, target),
  };
  // RFC 9113 section 8.2.3: as browsers send them.
  if (typeof fields['cookie'] === 'string') fields['cookie'] = fields['cookie'].split('; ');
  const length = Buffer.byteLength(body ?? '', 'latin1');
  if (body !== undefined && request.chunked !== true) fields['content-length'] = String(length);
  const stream = session.request(fields, { endStream: body === undefined });
  if (body !== undefined) stream.end(Buffer.from(body, 'latin1'));
  return stream;
}

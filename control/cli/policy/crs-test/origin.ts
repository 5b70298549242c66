/**
 * The origin of the proxy under test: any request gets 200 without a body, POST /reflect
 * gets the answer that its JSON body describes. Reads HTTP/1 leniently: methods and versions that
 * a strict server refuses belong to the tests.
 */

import { createServer, type Server, type Socket } from 'node:net';
import { commandLineLimits } from '../../../limits/command-limits.ts';
import { recordOf, textOrNull } from './case.ts';

/** A running origin. */
export interface ReflectingOrigin {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on loopback on any free port. */
export async function startOrigin(): Promise<ReflectingOrigin> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setNoDelay(true);
    serve(socket);
  });
  const port = await listen(server);
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

function serve(socket: Socket): void {
  let pending = '';
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    if (pending.length > commandLineLimits.originRequestBytesMax) socket.destroy();
    for (let message = takeRequest(pending); message !== null; message = takeRequest(pending)) {
      pending = pending.slice(message.length);
      socket.write(answerTo(message), 'latin1');
    }
  });
}

interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** Characters of `pending` that it took. */
  readonly length: number;
}

/** The first complete request in `text` (one char a byte), or null. */
function takeRequest(text: string): ReceivedRequest | null {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const lines = text.slice(0, headEnd).split('\r\n');
  const [method = '', path = ''] = (lines[0] ?? '').split(' ');
  const field = (name: string): string | undefined =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  const start = headEnd + 4;
  if (/chunked/i.test(field('transfer-encoding') ?? '')) {
    const chunks = takeChunks(text, start);
    return chunks === null ? null : { method, path, body: chunks.body, length: chunks.end };
  }
  const end = start + Number(field('content-length') ?? 0);
  return text.length < end ? null : { method, path, body: text.slice(start, end), length: end };
}

function takeChunks(text: string, start: number): { body: string; end: number } | null {
  let body = '';
  for (let at = start; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (!(size > 0)) {
      const trailerEnd = text.indexOf('\r\n', lineEnd + 2);
      return trailerEnd < 0 ? null : { body, end: trailerEnd + 2 };
    }
    const next = lineEnd + 2 + size + 2;
    if (text.length < next) return null;
    body += text.slice(lineEnd + 2, next - 2);
    at = next;
  }
}

/** One answer as latin1 text. */
function answerTo({ method, path, body }: ReceivedRequest): string {
  const reflect = method === 'POST' && /^\/reflect(\?|$)/.test(path);
  const wanted = reflect ? readReflection(body) : { status: 200, headers: [], body: '' };
  const headers = [...wanted.headers];
  if (wanted.body !== '' && !headers.some(([name]) => /^content-type$/i.test(name))) {
    const html = /^\s*<(!doctype|html|head|body|script|title|h1|div|table|a |p|br)/i;
    const type = html.test(wanted.body) ? 'text/html' : 'text/plain';
    headers.push(['Content-Type', `${type}; charset=utf-8`]);
  }
  const lines = [
    `HTTP/1.1 ${wanted.status} Reflected`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${wanted.body.length}`,
  ];
  return lines.join('\r\n') + '\r\n\r\n' + (method === 'HEAD' ? '' : wanted.body);
}

interface Reflection {
  readonly status: number;
  readonly headers: [string, string][];
  /** Bytes, one char each. */
  readonly body: string;
}

function readReflection(body: string): Reflection {
  let wish: Readonly<Record<string, unknown>>;
  try {
    wish = recordOf(JSON.parse(Buffer.from(body, 'latin1').toString('utf8')));
  } catch {
    return { status: 400, headers: [], body: '' };
  }
  const status = Number(wish['status'] ?? 200);
  const encoded = textOrNull(wish['encodedBody']);
  const bytes =
    encoded === null
      ? Buffer.from(textOrNull(wish['body']) ?? '', 'utf8')
      : Buffer.from(encoded, 'base64');
  return {
    status: status >= 200 && status <= 599 ? status : 200,
    headers: Object.entries(recordOf(wish['headers']))
      .filter(([name]) => !/^(content-length|transfer-encoding|connection)$/i.test(name))
      .map(([name, value]) => [name, String(value).replace(/[\r\n]/g, ' ')]),
    body: bytes.toString('latin1'),
  };
}

/** Opens a WebSocket of the chain's table, sends one message over it, and reads what comes back. */

import type http2 from 'node:http2';
import type net from 'node:net';
import { frame } from '../../engine/front/fixtures/websocket-frames-fixture.ts';
import type { ChainRequest } from './chain-row.ts';

/** What came of it: the status of the opening, and all bytes after it. */
export interface MessageAnswer {
  readonly status: number;
  readonly body: string;
}

const fields = {
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** The frames of a row: a text message, or frames as they stand on the wire. */
function wireOf({ message = '', frames }: ChainRequest): Buffer {
  return frames === undefined ? frame({ payload: message }) : Buffer.from(frames, 'latin1');
}

/** Over HTTP/1.1; resolves when the connection ended. */
export function messageOverHttp1(
  socket: net.Socket,
  ready: string,
  request: ChainRequest,
  host: string,
  headers: Readonly<Record<string, string>>,
): Promise<MessageAnswer> {
  return new Promise((resolve) => {
    let text = '';
    let sent = false;
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      if (sent || !text.includes('\r\n\r\n')) return;
      sent = true;
      // What is refused stays HTTP: a frame would be the beginning of another request.
      if (text.startsWith('HTTP/1.1 101 ')) socket.write(wireOf(request));
      else socket.end();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      const body = text.slice(text.indexOf('\r\n\r\n') + 4);
      resolve({ status: Number(text.slice(9, 12)), body });
    });
    const lines = Object.entries({ ...fields, ...headers }).map(
      ([name, of]) => `${name}: ${of}\r\n`,
    );
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    const head = `GET ${request.path ?? '/'} HTTP/1.1\r\nHost: ${host}\r\n${upgrade}`;
    socket.once(ready, () => socket.write(`${head}${lines.join('')}\r\n`));
  });
}

/** Over HTTP/2 (RFC 8441); resolves when the stream ended. */
export function messageOverHttp2(
  session: http2.ClientHttp2Session,
  request: ChainRequest,
  headers: http2.OutgoingHttpHeaders,
): Promise<MessageAnswer> {
  return new Promise((resolve) => {
    let [status, body] = [0, ''];
    session.on('error', () => undefined);
    session.on('close', () => resolve({ status, body }));
    session.once('remoteSettings', () => {
      const asked = { ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'http' };
      const stream = session.request(
        { ...headers, ...asked, ':path': request.path ?? '/', 'sec-websocket-version': '13' },
        { endStream: false },
      );
      stream.on('response', (got) => {
        status = got[':status'] ?? 0;
        if (status === 200) stream.write(wireOf(request));
        else stream.end();
      });
      stream.on('data', (bytes: Buffer) => (body += bytes.toString('latin1')));
      stream.on('error', () => undefined);
      stream.on('end', () => stream.end());
      stream.on('close', () => session.close());
    });
  });
}

/** What tests of WebSocket share: an origin that opens some, and the proof that it owes. */

import { createHash } from 'node:crypto';
import type net from 'node:net';
import { rawOrigin, type Closing } from './fixture.ts';

/** RFC 6455 section 1.3. */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

/** The answer that opens a WebSocket; `lines` are further fields, each with its end. */
export function switching(key: string, accept = acceptOf(key), lines = ''): string {
  return (
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    `${lines}Sec-WebSocket-Accept: ${accept}\r\n\r\n`
  );
}

/** What an origin saw. */
export interface WebsocketOrigin {
  readonly port: number;
  readonly heads: string[];
  readonly sockets: net.Socket[];
}

/** Answers each head by its key; what comes after one that opened a WebSocket is sent back. */
export async function websocketOrigin(
  closing: Closing,
  answer: (key: string) => string,
): Promise<WebsocketOrigin> {
  const heads: string[] = [];
  const sockets: net.Socket[] = [];
  const port = await rawOrigin(closing, (socket) => {
    sockets.push(socket);
    let text = '';
    let open = false;
    socket.on('data', (bytes) => {
      if (open) return void socket.write(bytes);
      text += bytes.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      heads.push(text.slice(0, end));
      const said = answer(/sec-websocket-key: (.*)/i.exec(text)?.[1] ?? '');
      open = said.startsWith('HTTP/1.1 101');
      socket.write(said + (open ? text.slice(end + 4) : ''));
      text = '';
    });
  });
  return { port, heads, sockets };
}

/** What tests of HTTP/2 by frames share: frames, fields, and a client that sends them. */

import tls from 'node:tls';
import type { Closing } from './fixture.ts';

/** The site of these tests. */
export const host = 'shop.example';
/** Frame types of RFC 9113 section 6. */
export const FRAME = {
  ...{ DATA: 0, HEADERS: 1, PRIORITY: 2, RST_STREAM: 3, SETTINGS: 4, PUSH_PROMISE: 5, PING: 6 },
  ...{ GOAWAY: 7, WINDOW_UPDATE: 8, CONTINUATION: 9 },
} as const;
/** Flags of frames. */
export const END_STREAM = 1;
/** The block ends here. */
export const END_HEADERS = 4;
/** A head that is a whole request. */
export const WHOLE = END_STREAM | END_HEADERS;

/** Bytes as hexadecimal digits, with blanks between. */
export const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
/** Bytes of no meaning. */
export const zeros = (length: number): Buffer => Buffer.alloc(length);
/** A number of four bytes. */
export const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** One frame. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = zeros(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A literal field without indexing, its name spelt out. */
export function field(name: string, value: string): Buffer {
  const text = (one: string): Buffer => {
    const bytes = Buffer.from(one, 'latin1');
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  };
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** A head of fields, in order. */
export const head = (...fields: readonly (readonly [string, string])[]): Buffer =>
  Buffer.concat(fields.map(([name, value]) => field(name, value)));

/** The usual fields of a request, and heads made of them. */
export const method = [':method', 'GET'] as const;
/** Its scheme. */
export const scheme = [':scheme', 'https'] as const;
/** Its path. */
export const path = [':path', '/'] as const;
/** Its host. */
export const authority = [':authority', host] as const;
/** A GET of the site. */
export const get = head(method, scheme, path, authority);
/** A POST to it. */
export const post = head([':method', 'POST'], scheme, path, authority);
/** HEADERS of a stream. */
export const request = (stream: number, block: Buffer, flags = WHOLE): Buffer =>
  frame(FRAME.HEADERS, flags, stream, block);

/** A client that has sent its preface and its settings. */
export async function connectFrames(closing: Closing, port: number): Promise<tls.TLSSocket> {
  const options = { servername: host, rejectUnauthorized: false, ALPNProtocols: ['h2'] };
  const socket = tls.connect({ ...options, host: '127.0.0.1', port });
  closing.add(() => void socket.destroy());
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(FRAME.SETTINGS, 0, 0));
  return socket;
}

/** Proves that several listeners share a port, and what errors look like. */
import { createServer, connect } from 'node:net';
import type { Server } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { listenReusePort } from './listen.ts';

async function serve(fd: number): Promise<Server> {
  const server = createServer((socket) => socket.end('hi'));
  server.listen({ fd });
  await once(server, 'listening');
  return server;
}

test('two sockets listen on one port and both serve', async () => {
  const first = listenReusePort('127.0.0.1', 0);
  const second = listenReusePort('127.0.0.1', first.port);
  expect(second.port).toBe(first.port);
  const servers = [await serve(first.fd), await serve(second.fd)];
  const socket = connect(first.port, '127.0.0.1');
  const [data] = (await once(socket, 'data')) as [Buffer];
  expect(data.toString()).toBe('hi');
  socket.destroy();
  for (const server of servers) server.close();
});

test('a port that another socket holds alone is EADDRINUSE', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const wanted = expect.objectContaining({ code: 'EADDRINUSE' }) as Error;
  expect(() => listenReusePort('127.0.0.1', port)).toThrow(wanted);
  server.close();
});

test('takes numeric addresses only', () => {
  const wanted = expect.objectContaining({ code: 'EINVAL' }) as Error;
  expect(() => listenReusePort('localhost', 0)).toThrow(wanted);
  expect(() => listenReusePort('127.0.0.1', 70_000)).toThrow(TypeError);
});

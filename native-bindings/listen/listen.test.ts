/** Proves that sockets share a port, outlive who accepts from them, and what errors look like. */
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { bindReusePort, listenReusePort, shareListening } from './listen.ts';

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

/** What a client meets: the code of its error, or the first bytes it gets. */
async function meet(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    socket.on('data', (bytes) => {
      socket.destroy();
      resolve(bytes.toString());
    });
  });
}

test('a bound socket refuses clients until it listens', async () => {
  const bound = bindReusePort('127.0.0.1', 0);
  expect(await meet(bound.port)).toBe('ECONNREFUSED');
  const server = await serve(shareListening(bound.fd));
  expect(await meet(bound.port)).toBe('hi');
  server.close();
  await once(server, 'close');
  closeSync(bound.fd);
  expect(await meet(bound.port)).toBe('ECONNREFUSED');
});

test('clients wait while nobody accepts, as long as somebody holds the socket', async () => {
  const bound = bindReusePort('127.0.0.1', 0);
  const first = await serve(shareListening(bound.fd));
  expect(await meet(bound.port)).toBe('hi');
  first.close();
  await once(first, 'close');
  const waiting = meet(bound.port);
  const second = await serve(shareListening(bound.fd));
  expect(await waiting).toBe('hi');
  closeSync(bound.fd);
  second.close();
});

test('a descriptor that is no socket is refused', () => {
  const wanted = expect.objectContaining({ code: 'EBADF' }) as Error;
  expect(() => shareListening(99_999)).toThrow(wanted);
  expect(() => shareListening(undefined as unknown as number)).toThrow(TypeError);
});

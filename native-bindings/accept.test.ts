/** Proves that every client is handed over, once, and that accepting survives what goes wrong. */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { connect, Socket } from 'node:net';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import { eventually } from '../test/support/eventually.ts';
import { acceptClients } from './accept.ts';
import { listenReusePort } from './listen/listen.ts';

const addonPaths = ['native', 'listen'].map((name) => resolve(`build/Release/waf_${name}.node`));

test('hands over every client, and none after it was stopped', async () => {
  const { fd, port } = listenReusePort('127.0.0.1', 0);
  const taken: number[] = [];
  const stop = acceptClients(fd, (client) => {
    taken.push(client);
    new Socket({ fd: client, readable: true, writable: true }).end('hi');
  });
  const clients = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'));
  const texts = await Promise.all(
    clients.map(async (client) => String((await once(client, 'data'))[0])),
  );
  expect(texts).toEqual(clients.map(() => 'hi'));
  expect(new Set(taken).size).toBe(taken.length);
  stop();
  stop();
  // The thread that accepts closes the socket when it hears of the stop, and takes nobody before.
  await eventually(async () => (await codeOfConnecting(port)) === 'ECONNREFUSED');
  expect(taken.length).toBe(100);
});

/** Why a connection fails; '' where there is one. */
function codeOfConnecting(port: number): Promise<string> {
  return new Promise((done) => {
    const client = connect(port, '127.0.0.1');
    client.on('error', ({ code = '' }: NodeJS.ErrnoException) => done(code));
    client.on('connect', () => {
      client.destroy();
      done('');
    });
  });
}

test('wrong arguments and descriptors are refused', () => {
  expect(() => acceptClients('1' as unknown as number, () => undefined)).toThrow(TypeError);
  expect(() => acceptClients(99_999, () => undefined)).toThrow();
});

test('a thread that accepts can be stopped from outside, again and again', async () => {
  const program = `
    const { workerData, parentPort } = require('node:worker_threads');
    const [addon, sockets] = workerData.map((path) => require(path));
    const { fd: bound, port } = sockets.bindReusePort('127.0.0.1', 0);
    const fd = sockets.shareListening(bound);
    require('node:fs').closeSync(bound);
    const owned = new Int32Array(1);
    addon.acceptClients(fd, owned, (client) => {
      owned[0] = client;
      parentPort.postMessage({ client });
    });
    parentPort.postMessage({ port });`;
  for (let i = 0; i < 5; i++) {
    const worker = new Worker(program, { eval: true, workerData: addonPaths });
    const [{ port }] = (await once(worker, 'message')) as [{ port: number }];
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    const [{ client }] = (await once(worker, 'message')) as [{ client: number }];
    expect(await worker.terminate()).toBe(1);
    closeSync(client);
    socket.destroy();
    const late = connect(port, '127.0.0.1');
    const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  }
});

test('short of descriptors it waits, and continues when there are some', async () => {
  const program = `
    const [addon, sockets] = process.argv.slice(1).map((path) => require(path));
    const { closeSync } = require('node:fs');
    const { fd: bound, port } = sockets.bindReusePort('127.0.0.1', 0);
    const fd = sockets.shareListening(bound);
    const owned = new Int32Array(1);
    const clients = [];
    let taken = 0;
    addon.acceptClients(fd, owned, (client) => {
      owned[0] = client;
      clients.push(client);
      process.stdout.write('taken ' + ++taken + '\\n');
    });
    process.stdin.on('data', () => clients.splice(0).forEach((client) => closeSync(client)));
    process.stdout.write('port ' + port + '\\n');`;
  const child = spawn('sh', [
    '-c',
    'ulimit -n 40; exec "$0" -e "$@"',
    process.execPath,
    program,
    ...addonPaths,
  ]);
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const port = await eventually(() => Number(/port (\d+)/.exec(said)?.[1] ?? 0) || null);
  const sockets = Array.from({ length: 60 }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => undefined);
  const taken = (): number => said.split('taken').length - 1;
  await eventually(() => taken() > 5);
  // Longer than one pause: it tried again, and there were still none.
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(taken()).toBeLessThan(40);
  while (taken() < sockets.length) {
    const before = taken();
    child.stdin.write('close');
    await eventually(() => taken() > before);
  }
  expect(taken()).toBe(sockets.length);
  for (const socket of sockets) socket.destroy();
  child.kill();
  await once(child, 'exit');
});

test('what its callback throws is reported, and later clients are handed over', async () => {
  const { fd, port } = listenReusePort('127.0.0.1', 0);
  const told: (() => void)[] = [];
  const later = vi.spyOn(globalThis, 'setImmediate').mockImplementation(((work: () => void) => {
    told.push(work);
  }) as typeof setImmediate);
  let clients = 0;
  const stop = acceptClients(fd, (client) => {
    if (clients++ === 0) {
      closeSync(client);
      throw new Error('a mistake');
    }
    closeSync(client);
  });
  for (let i = 0; i < 2; i++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'close');
  }
  later.mockRestore();
  stop();
  expect(clients).toBe(2);
  expect(told).toHaveLength(1);
  expect(told[0]).toThrow('a mistake');
});

/**
 * The table of WebSockets whose clients send thousands of messages in a few KB: what they cost a
 * front thread, and how long another client of that thread waits meanwhile. The front runs on the
 * main thread; its clients and its origin on one of their own.
 */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { deflateRawSync } from 'node:zlib';
import { buildJudgedPolicy } from '../detect/policy.ts';
import { createFront } from '../../engine/front/threads/front.ts';
import { formatNumber, markdownTable } from '../report/table.ts';

const messages = 9_000;
const template = 'Standard';
/** How long the other client asks before a case begins. */
const baselineMs = 1_000;
const caseMsMax = 60_000;

/** A masked frame of a client; the mask is zero, so that the payload stands as it is. */
function frame(payload: Uint8Array, opcode: number, final = true, compressed = false): Buffer {
  const first = (final ? 0x80 : 0) | (compressed ? 0x40 : 0) | opcode;
  return Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

const text = (at: number): Buffer => Buffer.from(String(at % 10));
const repeated = (make: (at: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: messages }, (_, at) => make(at)));

/** What a client sends, and whether it offers compression. */
const cases: Readonly<Record<string, () => Buffer>> = {
  'one-byte texts': () => repeated((at) => frame(text(at), 1)),
  'compressed texts': () =>
    repeated((at) =>
      frame(deflateRawSync(text(at), { finishFlush: 2 }).subarray(0, -4), 1, true, true),
    ),
  'fragments of one text': () =>
    repeated((at) => frame(text(at), at === 0 ? 1 : 0, at === messages - 1)),
  'texts of two fragments': () =>
    repeated((at) => Buffer.concat([frame(text(at), 1, false), frame(text(at), 0)])),
  'binary messages': () => repeated((at) => frame(text(at), 2)),
  'Socket.IO events': () => repeated((at) => frame(Buffer.from(`42["m","${at % 10}"]`), 1)),
  pings: () => repeated((at) => frame(text(at), 9)),
  'empty texts': () => repeated(() => frame(Buffer.alloc(0), 1)),
};

interface Measured {
  readonly name: string;
  readonly kilobytes: number;
  readonly tookMs: number;
  readonly ended: string;
  readonly before: number;
  readonly during: number;
  readonly worst: number;
}

/** The table. Cost: some seconds a case. */
export async function tableOfSockets(cacheFolder: string, crs4: string): Promise<string> {
  const { engine } = buildJudgedPolicy({ template, ruleset: 'crs4', crs4, cacheFolder });
  const clients = new Worker(fileURLToPath(import.meta.url));
  const [originPort] = (await once(clients, 'message')) as [number];
  const front = createFront({
    routes: {
      revision: '1',
      sites: [
        {
          ...{ id: 's', name: 's', hosts: ['*'], websocketMessages: 'block' },
          upstream: {
            ...{ id: 'u', scheme: 'http' },
            endpoints: [{ host: '127.0.0.1', port: originPort, weight: 1 }],
          },
          waf: { enabled: true, mode: 'blocking', failPolicy: 'closed' },
        },
      ],
    },
    inspectorOf: () => engine,
    onRequestDone: () => undefined,
    onMessageDone: () => undefined,
  });
  const port = await front.listen({ host: '127.0.0.1', port: 0 });
  const rows: string[][] = [];
  for (const name of Object.keys(cases)) {
    const used = performance.eventLoopUtilization();
    clients.postMessage({ name, port });
    const [{ before, during, worst, ...one }] = (await once(clients, 'message')) as [Measured];
    const { active } = performance.eventLoopUtilization(used);
    const times = [one.tookMs, active, before, during, worst].map(formatNumber);
    rows.push([name, formatNumber(one.kilobytes), ...times, one.ended]);
  }
  await clients.terminate();
  await front.close();
  engine.retire();
  const heads = [
    '9,000 of',
    'KB',
    'took ms',
    'thread busy ms',
    'p99 before',
    'p99',
    'worst',
    'end',
  ];
  const note = `${template} on CRS 4 by score, blocking; another client asks without a pause.`;
  return `# WebSockets\n\n${note}\n\n${markdownTable(heads, rows)}\n`;
}

// ---- the clients and the origin

/** Bytes that the origin got of the open WebSocket, and whether it is closed. */
const received = { bytes: 0, closed: false };

function startOrigin(): Promise<number> {
  const server = net.createServer((socket) => {
    let open = false;
    socket.on('error', () => socket.destroy());
    socket.on('close', () => (received.closed ||= open));
    socket.on('data', (bytes) => {
      if (open) received.bytes += bytes.length;
      const head = bytes.toString('latin1');
      const key = /sec-websocket-key: (\S+)/i.exec(head)?.[1];
      if (open) return;
      open = key !== undefined;
      socket.write(key === undefined ? plain : upgrade(key, head));
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as net.AddressInfo).port));
  });
}

const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

function upgrade(key: string, head: string): string {
  const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
  const accept = createHash('sha1')
    .update(key + guid)
    .digest('base64');
  const offered = /sec-websocket-extensions: .*permessage-deflate/i.test(head);
  const lines = offered ? 'Sec-WebSocket-Extensions: permessage-deflate\r\n' : '';
  const fields = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}`;
  return `HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n${lines}\r\n`;
}

/** Asks one after the other until `done`; the times of all requests. */
async function ask(port: number, done: () => boolean): Promise<number[]> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  const times: number[] = [];
  while (!done()) {
    const began = performance.now();
    socket.write('GET /?a=b HTTP/1.1\r\nHost: a\r\nUser-Agent: x\r\nAccept: */*\r\n\r\n');
    await once(socket, 'data');
    times.push(performance.now() - began);
  }
  socket.destroy();
  return times.toSorted((one, other) => one - other);
}

const p99 = (times: readonly number[]): number => times[Math.ceil(times.length * 0.99) - 1] ?? 0;

async function measure(name: string, port: number): Promise<Measured> {
  const bytes = cases[name]!();
  const baselineEnd = performance.now() + baselineMs;
  const before = p99(await ask(port, () => performance.now() > baselineEnd));
  Object.assign(received, { bytes: 0, closed: false });
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => socket.destroy());
  const key = 'dGhlIHNhbXBsZSBub25jZQ==';
  const deflate = name.startsWith('compressed')
    ? 'Sec-WebSocket-Extensions: permessage-deflate\r\n'
    : '';
  socket.write(
    'GET /chat HTTP/1.1\r\nHost: a\r\nUser-Agent: x\r\nAccept: */*\r\nConnection: Upgrade\r\n' +
      `Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n` +
      `${deflate}\r\n`,
  );
  await once(socket, 'data');
  const began = performance.now();
  socket.write(bytes);
  let took = 0;
  const times = await ask(port, () => {
    took = performance.now() - began;
    return received.bytes >= bytes.length || received.closed || took > caseMsMax;
  });
  const whole = received.bytes >= bytes.length;
  socket.destroy();
  const ended = whole ? 'forwarded' : received.closed ? `closed at ${received.bytes}` : 'timed out';
  const kilobytes = bytes.length / 1_024;
  return { name, kilobytes, tookMs: took, ended, before, during: p99(times), worst: times.at(-1)! };
}

async function runClients(): Promise<void> {
  parentPort!.postMessage(await startOrigin());
  parentPort!.on('message', ({ name, port }: { name: string; port: number }) => {
    void measure(name, port).then((found) => parentPort!.postMessage(found));
  });
}

if (!isMainThread) await runClients();

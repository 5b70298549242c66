/**
 * Clients that mean harm or are slow; a process of hostile-clients.mjs. Its word is JSON: the kind,
 * how many connections it has, and where they go. Sends how many were opened and closed, once a
 * second.
 */

import { join } from 'node:path';
import net from 'node:net';
import tls from 'node:tls';

const { build, kind, connections, port, securePort } = JSON.parse(process.argv[2]);
const { authority, FRAME, frame, get, head, hex, host, method, post, request, scheme, u32, zeros } =
  await import(join(build, 'engine', 'front', 'fixtures', 'http2-fixture.js'));

/** One loopback address has fewer ports than connections that may be asked for. */
const connectionsPerAddress = 20_000;
const openedAtOnce = 200;
const dripEveryMs = 2_000;
const floodEveryMs = 2;
/** A client that was cut off comes back after this time. */
const reconnectMs = 100;
const endHeaders = 4;
/** Floods come from elsewhere than the requests that are measured. */
const floodAddress = '127.0.0.9';

const many = (count, one) => Buffer.concat(Array.from({ length: count }, (_, at) => one(at)));
const streamOf = (round, at, perRound) => 2 * (perRound * round + at) + 1;
/** A field of the dynamic table, then named 4,000 times: 8 KB that mean 16 MB. */
const bomb = Buffer.concat([
  hex('4001787fa11e'),
  Buffer.alloc(4_000, 97),
  Buffer.alloc(4_000, 190),
]);
const { CONTINUATION, DATA, HEADERS, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE } = FRAME;

/** What a slow client says first, and then a byte of at a time; null: nothing more, ever. */
const slow = {
  idle: { first: '', drip: null },
  'slow-head': { first: `GET / HTTP/1.1\r\nHost: ${host}\r\nX-A: `, drip: 'x' },
  'slow-body': {
    first: `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100000\r\n\r\n`,
    drip: 'x',
  },
  'slow-read': { first: `GET /large HTTP/1.1\r\nHost: ${host}\r\n\r\n`, drip: null, deaf: true },
  'slow-handshake': { first: hex('1603010200'), drip: '\u0001', secure: true },
};

/** What a flood sends in its rounds. */
const floods = {
  'rapid-reset': (round) =>
    many(20, (at) => {
      const id = streamOf(round, at, 20);
      return Buffer.concat([request(id, get), frame(RST_STREAM, 0, id, u32(8))]);
    }),
  'made-you-reset': (round) =>
    many(20, (at) => {
      const id = streamOf(round, at, 20);
      const overflow = frame(WINDOW_UPDATE, 0, id, u32(0x7fffffff));
      return Buffer.concat([request(id, post, endHeaders), overflow]);
    }),
  continuation: (round) =>
    round === 0
      ? request(1, get, 1)
      : many(10, () => frame(CONTINUATION, 0, 1, Buffer.concat([hex('0001787f8101'), zeros(256)]))),
  'empty-continuation': (round) =>
    round === 0 ? request(1, get, 1) : many(100, () => frame(CONTINUATION, 0, 1)),
  'hpack-bomb': (round) => frame(HEADERS, 5, 2 * round + 1, Buffer.concat([get, bomb])),
  'window-stall': (round) =>
    round === 0
      ? Buffer.concat([
          frame(SETTINGS, 0, 0, hex('000400000000')),
          many(50, (at) =>
            request(2 * at + 1, head(method, scheme, [':path', '/large'], authority)),
          ),
        ])
      : zeros(0),
  'empty-data': (round) =>
    round === 0 ? request(1, post, endHeaders) : many(100, () => frame(DATA, 0, 1)),
  settings: () => many(100, () => frame(SETTINGS, 0, 0, hex('00040000ffff'))),
  ping: () => many(100, () => frame(PING, 0, 0, zeros(8))),
};

const counts = { opened: 0, closed: 0, failed: 0, sentBytes: 0 };
const open = new Set();

function keep(socket) {
  counts.opened++;
  open.add(socket);
  socket.once('close', () => {
    counts.closed++;
    open.delete(socket);
  });
}

function send(socket, bytes) {
  // What the proxy does not take is not piled up here.
  if (bytes.length === 0 || socket.destroyed || socket.writableLength > 1_048_576) return false;
  socket.write(bytes);
  counts.sentBytes += bytes.length;
  return true;
}

function openSlow(at, { first, deaf, secure }) {
  return new Promise((resolve) => {
    const localAddress = `127.0.0.${2 + Math.floor(at / connectionsPerAddress)}`;
    const to = { host: '127.0.0.1', port: secure ? securePort : port, localAddress };
    const socket = net.connect(to);
    socket.on('error', () => resolve());
    socket.once('close', () => resolve());
    socket.once('connect', () => {
      keep(socket);
      if (deaf) socket.pause();
      else socket.resume();
      send(socket, Buffer.from(first));
      resolve();
    });
  });
}

async function runSlow(shape) {
  for (let at = 0; at < connections; at += openedAtOnce) {
    const some = Math.min(openedAtOnce, connections - at);
    await Promise.all(Array.from({ length: some }, (_, one) => openSlow(at + one, shape)));
  }
  counts.failed = connections - counts.opened;
  if (shape.drip === null) return;
  setInterval(() => {
    for (const socket of open) send(socket, Buffer.from(shape.drip));
  }, dripEveryMs);
}

function flood(next) {
  const options = { servername: host, rejectUnauthorized: false, ALPNProtocols: ['h2'] };
  const from = { host: '127.0.0.1', localAddress: floodAddress };
  const socket = tls.connect({ ...options, ...from, port: securePort });
  let timer = null;
  socket.on('error', () => undefined);
  socket.once('secureConnect', () => {
    keep(socket);
    socket.resume();
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(frame(SETTINGS, 0, 0));
    let round = 0;
    timer = setInterval(() => {
      if (send(socket, next(round)) || round === 0) round++;
    }, floodEveryMs);
  });
  socket.once('close', () => {
    clearInterval(timer);
    setTimeout(() => flood(next), reconnectMs);
  });
}

if (kind in slow) await runSlow(slow[kind]);
else if (kind in floods) for (let at = 0; at < connections; at++) flood(floods[kind]);
else throw new Error(`no such kind: ${kind}`);
process.send({ ...counts, ready: true });
setInterval(() => process.send(counts), 1_000);

/** Attacks on HTTP/2 as frames: each is bounded, and others are served beside it. */

import http2 from 'node:http2';
import tls from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { clientIpRule } from '../../../test/support/client-ip-rule.ts';
import { floodLimits } from '../../../base/delivery-limits.ts';
import { parseNetwork } from '../../../base/ip-address.ts';
import type { SiteConfig } from '../../contract/site.ts';
import type { TrustConfig } from '../../contract/trust.ts';
import { Closing, httpOrigin, rawOrigin } from '../fixtures/fixture.ts';
import { createFront } from '../threads/front.ts';
import {
  authority,
  connectFrames,
  END_HEADERS,
  END_STREAM,
  field,
  FRAME,
  frame,
  get,
  head,
  hex,
  host,
  method,
  post,
  request,
  scheme,
  u32,
  zeros,
} from '../fixtures/http2-fixture.ts';
import { secureSite, startSecureFront, type SecureRunning } from '../fixtures/secure-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const answerBytes = 400_000;
const large = head(method, scheme, [':path', '/large'], authority);
let front: SecureRunning;
/** Requests that wait at the origin. */
let open = { requests: 0 };
/** Requests that reached the origin. */
let asked = 0;

beforeEach(async () => {
  // Each test has its own: answers of the one before may close later.
  const counted = { requests: 0 };
  open = counted;
  asked = 0;
  const port = await httpOrigin(closing, (received, response) => {
    received.resume();
    asked++;
    counted.requests++;
    response.on('close', () => counted.requests--);
    if (received.url === '/quick') response.end('quick');
    else if (received.url === '/large') response.end(Buffer.alloc(answerBytes));
    else received.on('end', () => response.end('ok'));
  });
  const settings = { sendProgressTimeoutMs: 200, bodyProgressTimeoutMs: 200 };
  front = await startSecureFront(closing, [secureSite(port, host)], settings);
});

/** One request of somebody else. */
function quick(): Promise<number> {
  const client = http2.connect(`https://127.0.0.1:${front.securePort}`, {
    servername: host,
    rejectUnauthorized: false,
  });
  closing.add(() => client.destroy());
  const stream = client.request({ ':path': '/quick', ':authority': host });
  stream.resume();
  return new Promise((resolve, reject) => {
    stream.on('response', (fields) => resolve(fields[':status'] ?? 0));
    stream.on('error', reject);
  });
}

/** Sends what `next` makes until the connection is closed, or `rounds` are over. */
async function flood(
  socket: tls.TLSSocket,
  rounds: number,
  next: (round: number) => Buffer,
): Promise<number> {
  socket.resume();
  for (let round = 0; round < rounds; round++) {
    if (socket.destroyed || !socket.writable) return round;
    socket.write(next(round));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return rounds;
}

const many = (count: number, one: (at: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, at) => one(at)));
const { CONTINUATION, DATA, RST_STREAM, SETTINGS, WINDOW_UPDATE, HEADERS } = FRAME;
/** A field of the dynamic table, then named 4,000 times: 8 KB that mean 16 MB. */
const bomb = Buffer.concat([
  hex('40 01 78 7f a1 1e'),
  Buffer.alloc(4_000, 0x61),
  Buffer.alloc(4_000, 0xbe),
]);

test.each<[string, number, (round: number) => Buffer]>([
  [
    'resets at once (CVE-2023-44487)',
    400,
    (round) =>
      many(20, (at) => {
        const stream = 2 * (20 * round + at) + 1;
        return Buffer.concat([request(stream, get), frame(RST_STREAM, 0, stream, u32(8))]);
      }),
  ],
  [
    'makes the proxy reset (CVE-2025-8671)',
    400,
    (round) =>
      many(20, (at) => {
        const stream = 2 * (20 * round + at) + 1;
        const overflow = frame(WINDOW_UPDATE, 0, stream, u32(0x7fffffff));
        return Buffer.concat([request(stream, post, END_HEADERS), overflow]);
      }),
  ],
  [
    'continues a head without end',
    4_000,
    (round) =>
      round === 0
        ? request(1, get, END_STREAM)
        : many(10, () =>
            frame(CONTINUATION, 0, 1, Buffer.concat([hex('00 01 78 7f 81 01'), zeros(256)])),
          ),
  ],
  [
    'continues a head with nothing',
    400,
    (round) =>
      round === 0 ? request(1, get, END_STREAM) : many(100, () => frame(CONTINUATION, 0, 1)),
  ],
  [
    'compresses megabytes into a head',
    50,
    (round) => frame(HEADERS, 5, 2 * round + 1, Buffer.concat([get, bomb])),
  ],
  [
    'sends empty DATA',
    400,
    (round) => (round === 0 ? request(1, post, END_HEADERS) : many(100, () => frame(DATA, 0, 1))),
  ],
  ['sends settings', 400, () => many(100, () => frame(SETTINGS, 0, 0, hex('0004 0000ffff')))],
  ['sends pings', 400, () => many(100, () => frame(FRAME.PING, 0, 0, zeros(8)))],
])('a client that %s is cut off, and others are served', async (_, rounds, next) => {
  const socket = await connectFrames(closing, front.securePort);
  const [sent, status] = await Promise.all([flood(socket, rounds, next), quick()]);
  expect(status).toBe(200);
  expect(sent).toBeLessThan(rounds);
  expect(await eventually(() => front.front.connections <= 1)).toBe(true);
  expect(await eventually(() => open.requests === 0)).toBe(true);
  expect(await quick()).toBe(200);
});

const pairs: readonly (readonly [string, (stream: number) => Buffer])[] = [
  [
    'given up by its client',
    (stream) => Buffer.concat([request(stream, get), frame(RST_STREAM, 0, stream, u32(8))]),
  ],
  [
    'reset for a window that overflows',
    (stream) =>
      Buffer.concat([
        request(stream, post, END_HEADERS),
        frame(WINDOW_UPDATE, 0, stream, u32(0x7fffffff)),
      ]),
  ],
  [
    'reset for content of another length',
    (stream) =>
      Buffer.concat([
        request(stream, Buffer.concat([post, field('content-length', '5')]), END_HEADERS),
        frame(DATA, END_STREAM, stream, zeros(1)),
      ]),
  ],
];

test.each(pairs)('a request %s in the same read never begins, and is recorded', async (_, pair) => {
  const socket = await connectFrames(closing, front.securePort);
  socket.resume();
  socket.write(many(20, (at) => pair(2 * at + 1)));
  const events = await front.eventsReach(20);
  expect(events).toHaveLength(20);
  for (const event of events) {
    expect(event).toMatchObject({ outcome: 'client_abort', siteId: host, host, target: '/' });
    expect(event).toMatchObject({ status: 0, endpoint: null, transaction: null });
  }
  expect(asked).toBe(0);
  // Twenty are what a browser gives up when its user goes elsewhere: the connection stays.
  socket.write(request(41, get));
  expect((await front.eventsReach(21))[20]).toMatchObject({ outcome: 'served', status: 200 });
});

test('a client whose answers are whole may give up others as well', async () => {
  const socket = await connectFrames(closing, front.securePort);
  socket.resume();
  // Far more than a client may give up that uses nothing.
  const rounds = 250;
  for (let round = 0; round < rounds; round++) {
    const first = 2 * (4 * round) + 1;
    const ended = front.events.length + 4;
    const answered = many(3, (at) => request(first + 2 * at, get));
    socket.write(Buffer.concat([answered, pairs[0]![1](first + 6)]));
    await front.eventsReach(ended);
  }
  const count = (outcome: string): number =>
    front.events.filter((event) => event.outcome === outcome).length;
  expect([count('served'), count('client_abort')]).toEqual([3 * rounds, rounds]);
});

/** A front whose connection from 127.0.0.1 was cut off after `first`, and who may connect now. */
async function afterFlood(site: Partial<SiteConfig>, first: Buffer) {
  const refusals: string[] = [];
  let requests = 0;
  const origin = await httpOrigin(closing, (_, response) => response.end('ok'));
  const watched = createFront({
    routes: { revision: 'r', sites: [{ ...secureSite(origin, host), ...site }] },
    inspectorOf: () => null,
    onRequestDone: () => void requests++,
    onClientRefused: (why) => refusals.push(why),
  });
  closing.add(() => watched.close());
  const securePort = await watched.listen({ host: '127.0.0.1', port: 0, secure: true });
  const socket = await connectFrames(closing, securePort);
  socket.write(first);
  expect(await eventually(() => requests === 1)).toBe(true);
  await flood(socket, 400, () => many(100, () => frame(FRAME.PING, 0, 0, zeros(8))));
  expect(await eventually(() => watched.connections === 0)).toBe(true);
  const connects = (localAddress: string): Promise<boolean> =>
    new Promise((resolve) => {
      const to = { host: '127.0.0.1', port: securePort, localAddress };
      const options = { ...to, servername: host, rejectUnauthorized: false };
      const again = tls.connect({ ...options, ALPNProtocols: ['h2'] });
      closing.add(() => void again.destroy());
      again.once('secureConnect', () => resolve(true));
      again.once('error', () => resolve(false));
      again.once('close', () => resolve(false));
    });
  return { connects, refusals };
}

test('a client that was cut off connects a few times more, then only others do', async () => {
  const { connects, refusals } = await afterFlood({}, request(1, get));
  let tries = 0;
  while (await connects('127.0.0.1')) expect(++tries).toBeLessThan(1_000);
  expect(tries).toBeGreaterThanOrEqual(floodLimits.connectionsMax);
  expect(refusals).toEqual(['reconnect_limit']);
  expect(await connects('127.0.0.2')).toBe(true);
});

test('a proxy that a trust profile proves connects as before: it brings others, too', async () => {
  const trust: TrustConfig = {
    nodes: [{ id: 'lb', ranges: [parseNetwork('127.0.0.1') ?? ''], xffMode: '' }],
    edges: [
      { from: 'internet', to: 'lb' },
      { from: 'lb', to: 'waf' },
    ],
    rules: [clientIpRule()],
  };
  const forwarded = Buffer.concat([get, field('x-forwarded-for', '203.0.113.9')]);
  const { connects, refusals } = await afterFlood({ trust }, request(1, forwarded));
  for (let at = 0; at < 3 * floodLimits.connectionsMax; at++) {
    expect(await connects('127.0.0.1')).toBe(true);
  }
  expect(refusals).toEqual([]);
});

test('more requests at a time than are allowed are refused one by one', async () => {
  const socket = await connectFrames(closing, front.securePort);
  const refused = new Set<number>();
  let bytes = Buffer.alloc(0);
  socket.on('data', (part: Buffer) => {
    bytes = Buffer.concat([bytes, part]);
    for (;;) {
      const length = bytes.length < 9 ? Infinity : 9 + bytes.readUIntBE(0, 3);
      if (bytes.length < length) return;
      if (bytes[3] === RST_STREAM && bytes.readUInt32BE(9) === 7)
        refused.add(bytes.readUInt32BE(5));
      bytes = bytes.subarray(length);
    }
  });
  // Bodies that do not come keep their streams open.
  socket.write(many(103, (at) => request(2 * at + 1, post, END_HEADERS)));
  await expect.poll(() => [...refused]).toEqual([201, 203, 205]);
  expect(await quick()).toBe(200);
});

test('a client that takes nothing of its answers is given up, with what they hold', async () => {
  const socket = await connectFrames(closing, front.securePort);
  socket.resume();
  // A window of nothing for every stream.
  socket.write(frame(SETTINGS, 0, 0, hex('0004 00000000')));
  socket.write(many(50, (at) => request(2 * at + 1, large)));
  await expect.poll(() => front.events.length).toBeGreaterThanOrEqual(50);
  expect(front.events.every(({ outcome }) => outcome === 'client_abort')).toBe(true);
  expect(await eventually(() => open.requests === 0)).toBe(true);
  expect(await quick()).toBe(200);
});

/** A front whose origin answers nothing, and how much its clients may have waiting. */
async function startSilent(heldBytesMax: number): Promise<SecureRunning> {
  const port = await rawOrigin(closing, (socket) => socket.pause());
  return startSecureFront(closing, [secureSite(port, host)], { heldBytesMax });
}

test('heads that a few bytes mean count as held', async () => {
  const silent = await startSilent(200_000);
  const socket = await connectFrames(closing, silent.securePort);
  socket.resume();
  // A field of 4,000 bytes enters the table, and is named fourteen times.
  const add = bomb.subarray(0, 4_006);
  const named = Buffer.alloc(14, 0xbe);
  const heads = many(10, (at) =>
    request(2 * at + 1, Buffer.concat([get, at === 0 ? add : zeros(0), named])),
  );
  socket.write(heads);
  const events = await silent.eventsReach(1);
  await expect.poll(() => events.length).toBeGreaterThanOrEqual(6);
  expect(events).toHaveLength(events.filter(({ refusal }) => refusal === 'memory').length);
  expect(events.every(({ outcome, status }) => outcome === 'refused' && status === 503)).toBe(true);
  expect(silent.front.heldShare).toBeGreaterThan(0.4);
  socket.destroy();
  expect(await eventually(() => events.length === 10)).toBe(true);
  expect(silent.front.heldShare).toBe(0);
});

test('a request whose content has no room is answered, and ends', async () => {
  const silent = await startSilent(10_000);
  const socket = await connectFrames(closing, silent.securePort);
  let answer = Buffer.alloc(0);
  socket.on('data', (part: Buffer) => (answer = Buffer.concat([answer, part])));
  const content = many(2, () => frame(DATA, 0, 1, zeros(16_000)));
  socket.write(Buffer.concat([request(1, post, END_HEADERS), content]));
  const [event] = await silent.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'refused', refusal: 'memory', status: 503 });
  expect(await eventually(() => answer.includes('service'))).toBe(true);
});

/** Types, flags and first words of the frames of a stream, in their order. */
function framesOf(bytes: Buffer, stream: number): number[][] {
  const found: number[][] = [];
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    const payload = bytes.subarray(at + 9, at + 9 + bytes.readUIntBE(at, 3));
    if (bytes.readUInt32BE(at + 5) !== stream || bytes[at + 3] === WINDOW_UPDATE) continue;
    found.push([
      bytes[at + 3]!,
      bytes[at + 4]!,
      payload.length === 4 ? payload.readUInt32BE() : -1,
    ]);
  }
  return found;
}

test('an answer before the end of the content is whole, then the rest is given up', async () => {
  const socket = await connectFrames(closing, front.securePort);
  let bytes = Buffer.alloc(0);
  socket.on('data', (part: Buffer) => (bytes = Buffer.concat([bytes, part])));
  const unrouted = head([':method', 'POST'], scheme, [':path', '/'], [':authority', 'other.test']);
  socket.write(
    Buffer.concat([request(1, unrouted, END_HEADERS), frame(DATA, 0, 1, zeros(16_000))]),
  );
  await eventually(() => framesOf(bytes, 1).some(([type]) => type === RST_STREAM));
  // RFC 9113 section 8.1: a complete response, then RST_STREAM with NO_ERROR.
  expect(framesOf(bytes, 1)).toEqual([
    [HEADERS, END_HEADERS, -1],
    [DATA, END_STREAM, -1],
    [RST_STREAM, 0, 0],
  ]);
  expect(await quick()).toBe(200);
});
